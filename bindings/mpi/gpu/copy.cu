#include <algorithm>

#include "mpi/gpu/copy.hpp"

namespace tca::interposer::gpu {

namespace {

constexpr unsigned threads = 256, most_blocks = 264;

__device__ std::uint64_t quotient(std::uint64_t number, std::uint64_t by) {
  if (((number | by) >> 32) != 0) return number / by;
  return static_cast<std::uint32_t>(number) / static_cast<std::uint32_t>(by);
}

__device__ std::byte* place(const Places& places, std::uint64_t at) {
  if (places.pieces == 0) return places.base + at;
  const std::uint64_t element = quotient(at, places.size), within = at - element * places.size;
  std::uint32_t which = 0;
  while (which + 1 < places.pieces && places.piece[which + 1].begin <= within) ++which;
  const Piece& piece = places.piece[which];
  const std::uint64_t inside = within - piece.begin, number = quotient(inside, piece.bytes);
  return places.base + static_cast<std::int64_t>(element) * places.extent + piece.offset +
         static_cast<std::int64_t>(number) * piece.pitch +
         static_cast<std::int64_t>(inside - number * piece.bytes);
}

template <class Unit>
__global__ void __launch_bounds__(threads)
    copy_elements(const __grid_constant__ Places from, std::uint64_t from_at,
                  const __grid_constant__ Places to, std::uint64_t to_at, std::uint64_t bytes,
                  Signal signal) {
  const std::uint64_t step = std::uint64_t{gridDim.x} * threads * sizeof(Unit);
  for (std::uint64_t at = (std::uint64_t{blockIdx.x} * threads + threadIdx.x) * sizeof(Unit); at < bytes;
       at += step)
    *reinterpret_cast<Unit*>(place(to, to_at + at)) =
        *reinterpret_cast<const Unit*>(place(from, from_at + at));
  // Every thread's stores are there for all of the system before the host hears of them.
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x != 0) return;
  if (gridDim.x > 1) {
    if (atomicAdd(signal.blocks, 1u) != gridDim.x - 1) return;
    *signal.blocks = 0;
    __threadfence_system();
  }
  *signal.done = signal.ticket;
}

constexpr unsigned attendants = 128;
constexpr long long patience = 60'000;  // cycles, some 35 us

template <class Unit>
__device__ void copy_row(std::byte* to, const std::byte* from, std::uint32_t bytes) {
  for (std::uint32_t unit = threadIdx.x; unit < bytes / sizeof(Unit); unit += attendants)
    reinterpret_cast<Unit*>(to)[unit] = reinterpret_cast<const volatile Unit*>(from)[unit];
}

__global__ void __launch_bounds__(attendants)
    attend(const Question* question, Answer* answer, std::uint32_t done, std::uint32_t number) {
  __shared__ std::uint32_t asked, bytes;
  __shared__ std::byte* to;
  __shared__ const std::byte* from;
  for (;;) {
    if (threadIdx.x == 0) {
      const long long begin = clock64();
      do asked = question->asked;
      while (asked == done && clock64() - begin < patience);
      // What was asked is read after that it was.
      __threadfence_system();
      bytes = question->bytes;
      to = question->to;
      from = question->from;
    }
    __syncthreads();
    if (asked == done) break;
    done = asked;
    const std::uint64_t all =
        reinterpret_cast<std::uint64_t>(to) | reinterpret_cast<std::uint64_t>(from) | bytes;
    if (all % 8 == 0)
      copy_row<std::uint64_t>(to, from, bytes);
    else if (all % 4 == 0)
      copy_row<std::uint32_t>(to, from, bytes);
    else
      copy_row<std::uint8_t>(to, from, bytes);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) answer->done = done;
  }
  if (threadIdx.x != 0) return;
  __threadfence_system();
  answer->gone = number;
}

// All of whose low bits are those of what a unit has to divide.
std::uint64_t bits(const Places& places, std::uint64_t at) {
  std::uint64_t all = reinterpret_cast<std::uint64_t>(places.base) | at;
  if (places.pieces == 0) return all;
  all |= static_cast<std::uint64_t>(places.extent) | places.size;
  for (std::uint32_t each = 0; each < places.pieces; ++each) {
    const Piece& piece = places.piece[each];
    all |= static_cast<std::uint64_t>(piece.offset) | piece.bytes | piece.begin;
    if (piece.count > 1) all |= static_cast<std::uint64_t>(piece.pitch);
  }
  return all;
}

template <class Unit>
cudaError_t launch(const Places& from, std::uint64_t from_at, const Places& to, std::uint64_t to_at,
                   std::uint64_t bytes, const Signal& signal, cudaStream_t stream) {
  const std::uint64_t units = bytes / sizeof(Unit);
  const auto blocks =
      static_cast<unsigned>(std::min<std::uint64_t>((units + threads - 1) / threads, most_blocks));
  copy_elements<Unit><<<std::max(blocks, 1u), threads, 0, stream>>>(from, from_at, to, to_at, bytes, signal);
  return cudaGetLastError();
}

}  // namespace

cudaError_t launch_copy(const Places& from, std::uint64_t from_at, const Places& to, std::uint64_t to_at,
                        std::uint64_t bytes, const Signal& signal, cudaStream_t stream) {
  const std::uint64_t all = bits(from, from_at) | bits(to, to_at) | bytes;
  const auto is_divided_by = [&](std::uint64_t unit) { return all % unit == 0; };
  if (is_divided_by(16)) return launch<uint4>(from, from_at, to, to_at, bytes, signal, stream);
  if (is_divided_by(8)) return launch<std::uint64_t>(from, from_at, to, to_at, bytes, signal, stream);
  if (is_divided_by(4)) return launch<std::uint32_t>(from, from_at, to, to_at, bytes, signal, stream);
  if (is_divided_by(2)) return launch<std::uint16_t>(from, from_at, to, to_at, bytes, signal, stream);
  return launch<std::uint8_t>(from, from_at, to, to_at, bytes, signal, stream);
}

cudaError_t launch_attendant(const Question* question, Answer* answer, std::uint32_t done,
                             std::uint32_t number, cudaStream_t stream) {
  attend<<<1, attendants, 0, stream>>>(question, answer, done, number);
  return cudaGetLastError();
}

}  // namespace tca::interposer::gpu
