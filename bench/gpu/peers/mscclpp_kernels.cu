#include <algorithm>

#include "gpu/kernels/touch.cuh"
#include "gpu/peers/mscclpp_kernels.hpp"

namespace tca::bench::gpu::msccl {

namespace {

// A packet carries 8 bytes of data in 16 bytes.
constexpr std::size_t packet_bytes = sizeof(mscclpp::LL16Packet), packet_data = sizeof(double);

// The words of a packet's data, all written and read by the thread that sends and receives the packet.
constexpr unsigned packet_words = packet_data / sizeof(std::uint32_t);

// A thread sends and receives the same packets, so no barrier is needed between steps, and the answer to a
// packet shows that it has been read. Rank 1 answers with the values of the next step.
__global__ void packets_kernel(Message m, int rank, std::uint32_t first, int steps) {
  Channel& channel = m.channels[0];
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const Part mine{0, m.bytes, thread, threads, packet_words};
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    if (rank == 1) {
      channel.unpackPackets(0, 0, m.bytes, thread, threads, step);
      read_piece(m.touched.arrived[0], m.touched.rows, mine);
    }
    write_piece(m.touched.sent[0], m.touched.rows, step - (rank == 1 ? 0 : 1), mine);
    channel.putPackets(0, m.sent, m.bytes, thread, threads, step);
    if (rank == 0) {
      channel.unpackPackets(0, 0, m.bytes, thread, threads, step);
      read_piece(m.touched.arrived[0], m.touched.rows, mine);
    }
  }
}

__device__ void await(Channel& channel) {
  if (threadIdx.x == 0) channel.wait(-1);
  __syncthreads();
}

__global__ void puts_kernel(Message m, int rank, std::uint32_t first, int steps) {
  Channel& channel = m.channels[blockIdx.x];
  const std::size_t share = (m.bytes / gridDim.x + packet_bytes - 1) / packet_bytes * packet_bytes;
  const std::size_t begin = min(m.bytes, blockIdx.x * share);
  const std::size_t end = blockIdx.x + 1 == gridDim.x ? m.bytes : min(m.bytes, begin + share);
  const Part mine = Part::of_block(begin, end);
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    if (rank == 1) {
      await(channel);
      read_piece(m.touched.arrived[0], m.touched.rows, mine);
    }
    write_piece(m.touched.sent[0], m.touched.rows, step - (rank == 1 ? 0 : 1), mine);
    __syncthreads();
    channel.put(begin, m.sent + begin, end - begin, threadIdx.x, blockDim.x);
    __syncthreads();
    if (threadIdx.x == 0) channel.signal();
    if (rank == 0) {
      await(channel);
      read_piece(m.touched.arrived[0], m.touched.rows, mine);
    }
  }
}

__device__ std::size_t offset(FaceRuns face, unsigned element) {
  return element / face.run * face.pitch + element % face.run;
}

// A thread unpacks what it receives itself and packs what it sends itself. Buffers alternate between steps: a
// rank that sends in step n + 1 has unpacked step n, so a rank that has received that may send step n + 2.
__global__ void packed_kernel(Exchange e, std::uint32_t first, int steps) {
  const unsigned side = blockIdx.x / e.parts, part = blockIdx.x % e.parts,
                 elements = e.face.rows * e.face.run;
  const auto begin = static_cast<unsigned>(std::uint64_t{elements} * part / e.parts);
  const auto end = static_cast<unsigned>(std::uint64_t{elements} * (part + 1) / e.parts);
  const std::size_t bytes = (end - begin) * sizeof(double);
  Channel& channel = e.channels[side];
  const Part mine{begin * sizeof(double), end * sizeof(double), threadIdx.x, blockDim.x, packet_words};
  const std::size_t sent = side * elements + begin, received = (2 + side) * elements + begin;
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    write_piece(e.touched.sent[side], e.touched.rows, step - 1, mine);
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x)
      e.packed[sent + i - begin] = e.cube[e.edge[side] + offset(e.face, i)];
    // This rank's low edge is a neighbour's high ghost.
    const std::size_t here = ((step % 2 * 2 + side) * elements + begin) * packet_bytes;
    const std::size_t there = ((step % 2 * 2 + 1 - side) * elements + begin) * packet_bytes;
    channel.putPackets(there, sent * packet_data, bytes, threadIdx.x, blockDim.x, step);
    channel.unpackPackets(here, received * packet_data, bytes, threadIdx.x, blockDim.x, step);
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x)
      e.cube[e.ghost[side] + offset(e.face, i)] = e.packed[received + i - begin];
    read_piece(e.touched.arrived[side], e.touched.rows, mine);
  }
}

// Every rank sends to every other and adds up in the order of ranks. Buffers alternate as above.
__global__ void sums_kernel(Sum s, std::uint32_t first, int steps) {
  for (int i = 0; i < steps; ++i) {
    const std::uint32_t step = first + static_cast<std::uint32_t>(i);
    const std::size_t from = i % 2 * s.count, to = s.count - from;
    const auto slot = [&](int rank) { return (step % 2 * s.ranks + rank) * s.count; };
    for (int other = 0; other < s.ranks; ++other) {
      if (other == s.rank) continue;
      s.channels[other].putPackets(slot(s.rank) * packet_bytes, from * packet_data, s.count * packet_data,
                                   threadIdx.x, blockDim.x, step);
    }
    for (std::size_t k = threadIdx.x; k < s.count; k += blockDim.x) {
      double sum = 0;
      for (int other = 0; other < s.ranks; ++other) {
        if (other == s.rank) {
          sum += s.values[from + k];
          continue;
        }
        const uint2 data = s.channels[other].unpackPacket(slot(other) + k, step);
        sum += __hiloint2double(static_cast<int>(data.y), static_cast<int>(data.x));
      }
      s.values[to + k] = sum;
    }
  }
}

}  // namespace

void ping_pong_by_packets(const Message& message, int rank, std::uint32_t first, int steps,
                          cudaStream_t stream) {
  packets_kernel<<<message.blocks, message.threads, 0, stream>>>(message, rank, first, steps);
}

void ping_pong_by_puts(const Message& message, int rank, std::uint32_t first, int steps,
                       cudaStream_t stream) {
  puts_kernel<<<message.blocks, message.threads, 0, stream>>>(message, rank, first, steps);
}

void exchanges(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream) {
  packed_kernel<<<2 * exchange.parts, exchange.threads, 0, stream>>>(exchange, first, steps);
}

void sums(const Sum& sum, std::uint32_t first, int steps, cudaStream_t stream) {
  const auto threads = static_cast<unsigned>(std::clamp<std::size_t>(sum.count, 32, 1024));
  sums_kernel<<<1, threads, 0, stream>>>(sum, first, steps);
}

}  // namespace tca::bench::gpu::msccl
