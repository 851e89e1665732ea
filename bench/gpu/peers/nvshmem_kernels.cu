#include <nvshmem.h>
#include <nvshmemx.h>

#include <algorithm>
#include <cstring>

#include "gpu/kernels/touch.cuh"
#include "gpu/peers/nvshmem_calls.hpp"

namespace tca::bench::gpu::nvshmem {

namespace {

__device__ void await(std::uint64_t* signal, std::uint64_t step) {
  if (threadIdx.x == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, step);
  __syncthreads();
}

// The value itself is the message.
__global__ void p_kernel(std::uint64_t* flag, int rank, std::uint64_t first, int steps) {
  for (std::uint64_t step = first; step < first + steps; ++step) {
    if (rank == 1) nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, step);
    nvshmem_uint64_p(flag, step, 1 - rank);
    if (rank == 0) nvshmem_uint64_wait_until(flag, NVSHMEM_CMP_GE, step);
  }
}

__global__ void ping_pong_kernel(Message m, int rank, std::uint64_t first, int steps) {
  // Parts begin where 16-byte stores are possible.
  constexpr std::size_t line = 16;
  const std::size_t share = (m.bytes / m.parts + line - 1) / line * line;
  const std::size_t begin = min(m.bytes, blockIdx.x * share);
  const std::size_t end = blockIdx.x + 1 == m.parts ? m.bytes : min(m.bytes, begin + share);
  std::uint64_t* signal = m.signals + blockIdx.x;
  const Part mine = Part::of_block(begin, end);
  const Rows& rows = m.touched.rows;
  for (std::uint64_t step = first; step < first + steps; ++step) {
    if (rank == 1) {
      await(signal, step);
      read_piece(m.touched.arrived[0], rows, mine);
    }
    // Rank 1 answers with the values of the next step.
    write_piece(m.touched.sent[0], rows, static_cast<std::uint32_t>(step) - (rank == 1 ? 0 : 1), mine);
    __syncthreads();
    nvshmemx_putmem_signal_nbi_block(m.in + begin, m.out + begin, end - begin, signal, step,
                                     NVSHMEM_SIGNAL_SET, 1 - rank);
    if (rank == 0) {
      await(signal, step);
      read_piece(m.touched.arrived[0], rows, mine);
    }
  }
}

// One block's share of a face, in elements or in rows.
struct Share {
  unsigned begin, end;
  __device__ Share(unsigned items, unsigned part, unsigned parts)
      : begin(static_cast<unsigned>(std::uint64_t{items} * part / parts)),
        end(static_cast<unsigned>(std::uint64_t{items} * (part + 1) / parts)) {}
};

// The bytes of some elements or rows of a face, as its block shares them.
__device__ Part bytes_of(const Share& share, std::size_t bytes_each) {
  return Part::of_block(share.begin * bytes_each, share.end * bytes_each);
}

__device__ std::size_t offset(FaceRuns face, unsigned element) {
  return element / face.run * face.pitch + element % face.run;
}

// Buffers alternate between steps. A rank that sends in step n + 1 has unpacked step n, so a rank that has
// received that may send step n + 2.
__global__ void packed_kernel(Exchange e, std::uint64_t first, int steps) {
  const unsigned side = blockIdx.x / e.parts, part = blockIdx.x % e.parts,
                 elements = e.face.rows * e.face.run;
  const Share mine(elements, part, e.parts);
  const Part bytes = bytes_of(mine, sizeof(double));
  // This rank's low edge is a neighbour's high ghost.
  std::uint64_t* there = e.signals + (1 - side) * e.parts + part;
  for (std::uint64_t step = first; step < first + steps; ++step) {
    double* sent = e.packed + (step % 2 * 4 + side) * elements;
    double* received = e.packed + (step % 2 * 4 + 2 + side) * elements;
    double* received_there = e.packed + (step % 2 * 4 + 2 + 1 - side) * elements;
    write_piece(e.touched.sent[side], e.touched.rows, static_cast<std::uint32_t>(step) - 1, bytes);
    __syncthreads();
    for (unsigned i = mine.begin + threadIdx.x; i < mine.end; i += blockDim.x)
      sent[i] = e.cube[e.edge[side] + offset(e.face, i)];
    __syncthreads();
    nvshmemx_putmem_signal_nbi_block(received_there + mine.begin, sent + mine.begin,
                                     (mine.end - mine.begin) * sizeof(double), there, step,
                                     NVSHMEM_SIGNAL_SET, e.neighbour[side]);
    await(e.signals + side * e.parts + part, step);
    for (unsigned i = mine.begin + threadIdx.x; i < mine.end; i += blockDim.x)
      e.cube[e.ghost[side] + offset(e.face, i)] = received[i];
    __syncthreads();
    read_piece(e.touched.arrived[side], e.touched.rows, bytes);
  }
}

// Puts straight into the neighbour's ghost: a contiguous share by the whole block, rows by one warp each.
__global__ void in_place_kernel(Exchange e, std::uint64_t first, int steps) {
  constexpr unsigned warp = 32;
  const unsigned side = blockIdx.x / e.parts, part = blockIdx.x % e.parts;
  const double* from = e.cube + e.edge[side];
  double* to = e.cube + e.ghost[1 - side];
  std::uint64_t* there = e.signals + (1 - side) * e.parts + part;
  const bool in_a_run = e.face.rows == 1;
  const Share mine(in_a_run ? e.face.run : e.face.rows, part, e.parts);
  const Part bytes = bytes_of(mine, sizeof(double) * (in_a_run ? 1 : e.face.run));
  for (std::uint64_t step = first; step < first + steps; ++step) {
    write_piece(e.touched.sent[side], e.touched.rows, static_cast<std::uint32_t>(step) - 1, bytes);
    __syncthreads();
    if (in_a_run) {
      nvshmemx_putmem_signal_nbi_block(to + mine.begin, from + mine.begin,
                                       (mine.end - mine.begin) * sizeof(double), there, step,
                                       NVSHMEM_SIGNAL_SET, e.neighbour[side]);
    } else {
      for (unsigned row = mine.begin + threadIdx.x / warp; row < mine.end; row += blockDim.x / warp)
        nvshmemx_putmem_nbi_warp(to + row * e.face.pitch, from + row * e.face.pitch,
                                 e.face.run * sizeof(double), e.neighbour[side]);
      __syncthreads();
      if (threadIdx.x == 0) {
        nvshmem_fence();
        nvshmemx_signal_op(there, step, NVSHMEM_SIGNAL_SET, e.neighbour[side]);
      }
    }
    await(e.signals + side * e.parts + part, step);
    read_piece(e.touched.arrived[side], e.touched.rows, bytes);
  }
}

__global__ void sums_kernel(double* a, double* b, std::size_t count, int steps) {
  for (int i = 0; i < steps; ++i) {
    nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, i % 2 == 0 ? b : a, i % 2 == 0 ? a : b, count);
    __syncthreads();
  }
}

}  // namespace

Id make_id() {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  nvshmemx_get_uniqueid(&id);
  Id plain{};
  static_assert(sizeof id <= sizeof plain);
  std::memcpy(&plain, &id, sizeof id);
  return plain;
}

bool join(int rank, int size, const Id& of_rank_0) {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  std::memcpy(&id, &of_rank_0, sizeof id);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(rank, size, &id, &attributes);
  return nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) == 0 && nvshmem_my_pe() == rank;
}

void leave() { nvshmem_finalize(); }

std::string version() {
  int major = 0, minor = 0, patch = 0;
  nvshmemx_vendor_get_version_info(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void* allocate(std::size_t bytes) { return nvshmem_calloc(bytes, 1); }
void release(void* memory) { nvshmem_free(memory); }

void ping_pong_by_p(std::uint64_t* flag, int rank, std::uint64_t first, int steps, cudaStream_t stream) {
  p_kernel<<<1, 1, 0, stream>>>(flag, rank, first, steps);
}

void ping_pong(const Message& message, int rank, std::uint64_t first, int steps, cudaStream_t stream) {
  ping_pong_kernel<<<message.parts, message.threads, 0, stream>>>(message, rank, first, steps);
}

void exchanges(const Exchange& exchange, std::uint64_t first, int steps, cudaStream_t stream) {
  const auto kernel = exchange.packed == nullptr ? in_place_kernel : packed_kernel;
  kernel<<<2 * exchange.parts, exchange.threads, 0, stream>>>(exchange, first, steps);
}

void sums(double* const (&values)[2], std::size_t count, int steps, cudaStream_t stream) {
  // Up to 512 threads, or 128 for a single value, if the kernel's registers leave room for as many.
  int threads = count == 1 ? 128 : 512;
  cudaFuncAttributes kernel{};
  if (cudaFuncGetAttributes(&kernel, sums_kernel) == cudaSuccess)
    threads = std::min(threads, kernel.maxThreadsPerBlock / 32 * 32);
  sums_kernel<<<1, threads, 0, stream>>>(values[0], values[1], count, steps);
}

}  // namespace tca::bench::gpu::nvshmem
