#include <algorithm>

#include "gpu/kernels/touch.cuh"

namespace tca::bench::gpu {

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::size_t bytes) {
  constexpr std::size_t bytes_a_block = 4 * threads, most_blocks = 1024;
  return static_cast<unsigned>(
      std::clamp<std::size_t>((bytes + bytes_a_block - 1) / bytes_a_block, 1, most_blocks));
}

__global__ void write(Touched touched, const std::uint32_t* step) { write_pieces(touched, *step); }

__global__ void read(Touched touched, std::uint32_t* step) {
  read_pieces(touched);
  if (blockIdx.x == 0 && threadIdx.x == 0) ++*step;
}

template <class T>
__global__ void fill(T* to, std::size_t count, const std::uint32_t* step, std::uint64_t turns,
                     unsigned rank) {
  const std::uint64_t fills = (std::uint64_t{*step} + 1) % turns;
  const T value = static_cast<T>(sizeof(T) == 1 ? 37 * fills + rank + 1 : 64 * fills + rank + 1);
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < count;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = value;
}

__global__ void compare(Touched touched, std::uint32_t step, unsigned long long* wrong) {
  unsigned long long mine = 0;
  const Part part = Part::of_grid(touched.rows);
  for (int i = 0; i < touched.receives; ++i) {
    const Piece& piece = touched.arrived[i];
    for (std::size_t place = part.thread; place < part.end; place += part.threads)
      mine += piece.at[offset(touched.rows, place)] != std::byte{fresh_byte(piece.seed, step, place)};
  }
  if (mine != 0) atomicAdd(wrong, mine);
}

}  // namespace

void write_sent(const Touched& touched, const std::uint32_t* step, cudaStream_t stream) {
  if (touched.sends > 0) write<<<blocks_for(touched.rows.bytes()), threads, 0, stream>>>(touched, step);
}

void read_arrived(const Touched& touched, std::uint32_t* step, cudaStream_t stream) {
  read<<<blocks_for(touched.rows.bytes()), threads, 0, stream>>>(touched, step);
}

void check_arrived(const Touched& touched, std::uint32_t step, unsigned long long* wrong,
                   cudaStream_t stream) {
  if (touched.receives > 0)
    compare<<<blocks_for(touched.rows.bytes()), threads, 0, stream>>>(touched, step, wrong);
}

void write_buffer(const Filled& buffer, const std::uint32_t* step, cudaStream_t stream) {
  if (buffer.bytes == 0) return;
  const auto fill_with = [&](auto element) {
    using T = decltype(element);
    fill<<<blocks_for(buffer.bytes), threads, 0, stream>>>(
        reinterpret_cast<T*>(buffer.at), buffer.bytes / sizeof(T), step, buffer.turns, buffer.rank);
  };
  if (buffer.element_bytes == sizeof(double)) return fill_with(double{});
  if (buffer.element_bytes == sizeof(float)) return fill_with(float{});
  fill_with(std::uint8_t{});
}

}  // namespace tca::bench::gpu
