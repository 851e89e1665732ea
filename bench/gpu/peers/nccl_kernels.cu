#include "gpu/kernels/touch.cuh"
#include "gpu/peers/nccl_kernels.hpp"

namespace tca::bench::gpu::nccl {

namespace {

using Block = ncclCoopCta;
using Packets = ncclLLA2ASession<Block>;
using Barrier = ncclLsaBarrierSession<Block>;
using Word = std::uint64_t;  // what a packet carries

constexpr auto both_ways = cuda::memory_order_acq_rel;

// The words that are written and read by the thread that sends and receives the packet.
constexpr unsigned packet_words = packet_data / sizeof(std::uint32_t);

// One block's share of some items.
struct Share {
  std::size_t begin, end, most;
  __device__ Share(std::size_t items, unsigned part, unsigned parts)
      : begin(items * part / parts), end(items * (part + 1) / parts), most((items + parts - 1) / parts) {}
  __device__ std::size_t mine() const { return begin + threadIdx.x; }
};

__device__ Part packets_of(const Share& share) {
  return {share.begin * packet_data, share.end * packet_data, threadIdx.x, blockDim.x, packet_words};
}

// A thread sends and receives the same packets; whatever it receives it has read, and stores in place. Rank 1 answers with the values of the next step.
__global__ void packets_kernel(const __grid_constant__ Message m, std::uint32_t first, int steps) {
  const Share share(m.bytes / packet_data, blockIdx.x, gridDim.x);
  Packets session(Block(), m.device.comm, m.pair, m.device.slots, blockIdx.x, static_cast<int>(share.most));
  const Part mine = packets_of(share);
  const int rank = m.pair.rank;
  const auto receive = [&] {
    for (std::size_t i = share.mine(); i < share.end; i += blockDim.x)
      reinterpret_cast<Word*>(m.in)[i] = session.recv<Word>(static_cast<int>(i - share.begin));
  };
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    if (rank == 1) receive();
    write_piece(m.touched.sent[0], m.touched.rows, step - (rank == 1 ? 0 : 1), mine);
    for (std::size_t i = share.mine(); i < share.end; i += blockDim.x)
      session.send(1 - rank, static_cast<int>(i - share.begin), reinterpret_cast<const Word*>(m.out)[i]);
    if (rank == 0) receive();
    session.endEpoch(Block());
  }
}

// Copies by all threads of a block, 16 bytes at a time; what is left over is words of 8.
__device__ void copy_lines(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::size_t lines = bytes / sizeof(uint4);
  for (std::size_t i = threadIdx.x; i < lines; i += blockDim.x)
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  for (std::size_t i = lines * 2 + threadIdx.x; i < bytes / sizeof(Word); i += blockDim.x)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
}

__global__ void stores_kernel(const __grid_constant__ Message m, std::uint32_t first, int steps) {
  const Share lines(m.bytes < sizeof(uint4) ? 1 : m.bytes / sizeof(uint4), blockIdx.x, gridDim.x);
  const std::size_t begin = lines.begin * sizeof(uint4),
                    end = blockIdx.x + 1 == gridDim.x ? m.bytes : lines.end * sizeof(uint4);
  Barrier barrier(Block(), m.device.comm, m.pair, m.device.barriers, blockIdx.x);
  const Part mine = Part::of_block(begin, end);
  const int rank = m.pair.rank;
  auto* there = static_cast<std::byte*>(ncclGetPeerPointer(m.window, begin, m.pair, 1 - rank));
  const auto receive = [&] {
    barrier.sync(Block(), both_ways);
    read_piece(m.touched.arrived[0], m.touched.rows, mine);
  };
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    if (rank == 1) receive();
    write_piece(m.touched.sent[0], m.touched.rows, step - (rank == 1 ? 0 : 1), mine);
    __syncthreads();
    copy_lines(there, m.out + begin, end - begin);
    barrier.sync(Block(), both_ways);
    if (rank == 0) receive();
  }
}

__device__ std::size_t offset(FaceRuns face, std::size_t element) {
  return element / face.run * face.pitch + element % face.run;
}

// A block is for one side. A thread packs what it sends itself and unpacks what it receives itself.
__global__ void faces_by_packets_kernel(const __grid_constant__ Exchange e, std::uint32_t first, int steps) {
  const unsigned side = blockIdx.x / e.parts, part = blockIdx.x % e.parts;
  const Share share(std::size_t{e.face.rows} * e.face.run, part, e.parts);
  Packets session(Block(), e.device.comm, e.pair[side], e.device.slots,
                  static_cast<unsigned>(e.pair_number[side]) * e.parts + part, static_cast<int>(share.most));
  const Part mine = packets_of(share);
  const int other = 1 - e.pair[side].rank;
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    write_piece(e.touched.sent[side], e.touched.rows, step - 1, mine);
    for (std::size_t i = share.mine(); i < share.end; i += blockDim.x)
      session.send(other, static_cast<int>(i - share.begin), e.cube[e.edge[side] + offset(e.face, i)]);
    for (std::size_t i = share.mine(); i < share.end; i += blockDim.x)
      e.cube[e.ghost[side] + offset(e.face, i)] = session.recv<double>(static_cast<int>(i - share.begin));
    read_piece(e.touched.arrived[side], e.touched.rows, mine);
    session.endEpoch(Block());
  }
}

// A block stores its part of both faces. Ghosts alternate, so that one barrier a step suffices: who has passed it may store into
// the ghosts that were read before it.
template <class T>
__global__ void faces_by_stores_kernel(const __grid_constant__ Exchange e, std::uint32_t first, int steps) {
  constexpr std::size_t width = sizeof(T) / sizeof(double);
  const Share share(std::size_t{e.face.rows} * e.face.run / width, blockIdx.x, gridDim.x);
  const Part mine = Part::of_block(share.begin * sizeof(T), share.end * sizeof(T));
  Barrier barrier(Block(), e.device.comm, ncclTeamTagLsa(), blockIdx.x);
  double* there[2];
  for (int side = 0; side < 2; ++side)
    there[side] = static_cast<double*>(ncclGetLsaPointer(e.window, 0, e.neighbour[side]));
  for (std::uint32_t step = first; step < first + static_cast<std::uint32_t>(steps); ++step) {
    const std::size_t shift = step % 2 * e.odd;
    for (int side = 0; side < 2; ++side) write_piece(e.touched.sent[side], e.touched.rows, step - 1, mine);
    __syncthreads();
    for (std::size_t i = share.mine(); i < share.end; i += blockDim.x) {
      const std::size_t at = offset(e.face, i * width);
      for (int side = 0; side < 2; ++side)
        // This rank's low edge is a neighbour's high ghost.
        *reinterpret_cast<T*>(there[side] + e.ghost[1 - side] + shift + at) =
            *reinterpret_cast<const T*>(e.cube + e.edge[side] + at);
    }
    barrier.sync(Block(), both_ways);
    for (int side = 0; side < 2; ++side) {
      Piece arrived = e.touched.arrived[side];
      arrived.at += shift * sizeof(double);
      read_piece(arrived, e.touched.rows, mine);
    }
  }
}

// Every rank sends its value to all, which add up in the order of ranks.
template <class Coop>
__global__ void sums_kernel(const __grid_constant__ Device device, double* values, int count, int steps) {
  const ncclTeam team = ncclTeamLsa(device.comm);
  ncclLLA2ASession<Coop> session(Coop(), device.comm, team, device.slots, 0, team.nRanks * count);
  const int mine = static_cast<int>(threadIdx.x);
  const auto same = [](double value) { return value; };
  const auto add = [](double a, double b) { return a + b; };
  double value = mine < count ? values[mine] : 0;
  for (int i = 0; i < steps; ++i) {
    if (mine < count) {
      session.bcast(team.rank * count + mine, value);
      value = session.template recvReduce<8, double>(mine, team.nRanks, count, same, add);
    }
    session.endEpoch(Coop());
  }
  if (mine < count) values[mine] = value;
}

__global__ void all_to_all_by_packets_kernel(const __grid_constant__ AllToAll a) {
  const ncclTeam team = ncclTeamLsa(a.device.comm);
  const std::size_t words = a.bytes / packet_data;
  const Share share(words, blockIdx.x, gridDim.x);
  const std::size_t each = share.end - share.begin, all = each * static_cast<std::size_t>(team.nRanks);
  const auto slot = [&](std::size_t rank, std::size_t i) { return static_cast<int>(rank * share.most + i); };
  Packets session(Block(), a.device.comm, team, a.device.slots, blockIdx.x,
                  slot(static_cast<std::size_t>(team.nRanks), 0));
  for (std::size_t k = threadIdx.x; k < all; k += blockDim.x) {
    const std::size_t rank = k / each, i = k % each;
    session.send(static_cast<int>(rank), slot(static_cast<std::size_t>(team.rank), i),
                 reinterpret_cast<const Word*>(a.from)[rank * words + share.begin + i]);
  }
  for (std::size_t k = threadIdx.x; k < all; k += blockDim.x) {
    const std::size_t rank = k / each, i = k % each;
    reinterpret_cast<Word*>(a.to)[rank * words + share.begin + i] = session.recv<Word>(slot(rank, i));
  }
  session.endEpoch(Block());
}

// Whoever stores has seen at the first barrier that all kernels before on the target's stream are done.
__global__ void all_to_all_by_stores_kernel(const __grid_constant__ AllToAll a) {
  const ncclTeam team = ncclTeamLsa(a.device.comm);
  const Share lines(a.bytes / sizeof(uint4), blockIdx.x, gridDim.x);
  const std::size_t begin = lines.begin * sizeof(uint4), bytes = (lines.end - lines.begin) * sizeof(uint4);
  Barrier barrier(Block(), a.device.comm, ncclTeamTagLsa(), blockIdx.x);
  barrier.sync(Block(), cuda::memory_order_relaxed);
  for (int i = 0; i < team.nRanks; ++i) {
    const int rank = (team.rank + i) % team.nRanks;
    const std::size_t here = static_cast<std::size_t>(team.rank) * a.bytes + begin;
    copy_lines(static_cast<std::byte*>(ncclGetLsaPointer(a.window, here, rank)),
               a.from + static_cast<std::size_t>(rank) * a.bytes + begin, bytes);
  }
  barrier.sync(Block(), both_ways);
}

}  // namespace

void ping_pong_by_packets(const Message& message, std::uint32_t first, int steps, cudaStream_t stream) {
  packets_kernel<<<message.blocks, message.threads, 0, stream>>>(message, first, steps);
}

void ping_pong_by_stores(const Message& message, std::uint32_t first, int steps, cudaStream_t stream) {
  stores_kernel<<<message.blocks, message.threads, 0, stream>>>(message, first, steps);
}

void exchanges_by_packets(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream) {
  faces_by_packets_kernel<<<2 * exchange.parts, exchange.threads, 0, stream>>>(exchange, first, steps);
}

void exchanges_by_stores(const Exchange& exchange, std::uint32_t first, int steps, cudaStream_t stream) {
  const bool in_pairs =
      exchange.face.run % 2 == 0 && exchange.face.pitch % 2 == 0 && exchange.edge[0] % 2 == 0;
  const auto kernel = in_pairs ? faces_by_stores_kernel<double2> : faces_by_stores_kernel<double>;
  kernel<<<exchange.parts, exchange.threads, 0, stream>>>(exchange, first, steps);
}

void sums(const Device& device, double* values, unsigned count, int steps, cudaStream_t stream) {
  constexpr unsigned warp = 32;
  const unsigned threads = (count + warp - 1) / warp * warp;
  const auto kernel = threads == warp ? sums_kernel<ncclCoopWarp> : sums_kernel<Block>;
  kernel<<<1, threads, 0, stream>>>(device, values, static_cast<int>(count), steps);
}

void all_to_all_by_packets(const AllToAll& all, cudaStream_t stream) {
  all_to_all_by_packets_kernel<<<all.blocks, all.threads, 0, stream>>>(all);
}

void all_to_all_by_stores(const AllToAll& all, cudaStream_t stream) {
  all_to_all_by_stores_kernel<<<all.blocks, all.threads, 0, stream>>>(all);
}

}  // namespace tca::bench::gpu::nccl
