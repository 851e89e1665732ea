#include <algorithm>
#include <cstdint>

#include "gpu/kernels/put_kernels.hpp"

namespace tca::bench::gpu {

namespace {

constexpr unsigned threads = 256, most_blocks = 512;

// The shape of one put, in units of a word or a byte.
struct Units {
  std::size_t run, runs, pitch, planes, plane_pitch;

  Units(const PutShape& shape, std::size_t unit)
      : run(shape.run / unit),
        runs(shape.runs),
        pitch(shape.pitch / unit),
        planes(shape.planes),
        plane_pitch(shape.plane_pitch / unit) {}

  __host__ __device__ std::size_t count() const { return run * runs * planes; }
  __device__ std::size_t offset(std::size_t i) const {
    const std::size_t row = i / run;
    return row / runs * plane_pitch + row % runs * pitch + i % run;
  }
};

template <class Unit>
__device__ Unit value(unsigned step, std::size_t place) {
  return static_cast<Unit>((step + 1) * 0x9e3779b9u + static_cast<unsigned>(place) * 0x85ebca6bu);
}

// Calls `work` with the address and the number of every unit of every put.
template <class Unit, class Work>
__device__ void for_each(const PutMemory& memory, const Units& units, std::size_t PutField::Face::*side,
                         Work work) {
  const std::size_t first = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x;
  const std::size_t all = std::size_t{gridDim.x} * blockDim.x;
  for (int put = 0; put < memory.puts; ++put) {
    Unit* const at = reinterpret_cast<Unit*>(memory.data + memory.faces[put].*side);
    for (std::size_t i = first; i < units.count(); i += all) work(at + units.offset(i), i);
  }
}

template <class Unit>
__global__ void write(PutMemory memory, Units units) {
  const unsigned step = *memory.step;
  for_each<Unit>(memory, units, &PutField::Face::sent,
                 [&](Unit* at, std::size_t i) { *at = value<Unit>(step, i); });
}

template <class Unit>
__global__ void read(PutMemory memory, Units units) {
  unsigned sum = 0;
  for_each<Unit>(memory, units, &PutField::Face::arrived, [&](Unit* at, std::size_t) { sum += *at; });
  // The condition never holds, which the compiler cannot know; so it does not drop the sums.
  if (__syncthreads_count(sum == 0x5bd1e995u) == static_cast<int>(threads) + 1) *memory.step = sum;
  if (blockIdx.x == 0 && threadIdx.x == 0) ++*memory.step;
}

template <class Unit>
__global__ void compare(PutMemory memory, Units units, unsigned long long* wrong) {
  const unsigned last = *memory.step - 1;
  unsigned long long mine = 0;
  for_each<Unit>(memory, units, &PutField::Face::arrived,
                 [&](Unit* at, std::size_t i) { mine += *at != value<Unit>(last, i); });
  if (mine != 0) atomicAdd(wrong, mine);
}

// Calls `launch` with a value of the largest unit type that fits all places of the puts (a word or a byte),
// the shape in these units, and the number of blocks for them.
template <class Launch>
void in_units(const PutMemory& memory, Launch launch) {
  const PutShape& shape = memory.shape;
  std::size_t places = shape.run;
  if (shape.runs > 1) places |= shape.pitch;
  if (shape.planes > 1) places |= shape.plane_pitch;
  for (int put = 0; put < memory.puts; ++put) places |= memory.faces[put].sent | memory.faces[put].arrived;
  const auto with = [&](auto unit) {
    const Units units(shape, sizeof unit);
    const std::size_t blocks = (units.count() + threads - 1) / threads;
    launch(unit, units, static_cast<unsigned>(std::clamp<std::size_t>(blocks, 1, most_blocks)));
  };
  places % sizeof(std::uint32_t) == 0 ? with(std::uint32_t{}) : with(std::uint8_t{});
}

}  // namespace

void write_sent(const PutMemory& memory, cudaStream_t stream) {
  in_units(memory, [&](auto unit, const Units& units, unsigned blocks) {
    write<decltype(unit)><<<blocks, threads, 0, stream>>>(memory, units);
  });
}

void read_arrived(const PutMemory& memory, cudaStream_t stream) {
  in_units(memory, [&](auto unit, const Units& units, unsigned blocks) {
    read<decltype(unit)><<<blocks, threads, 0, stream>>>(memory, units);
  });
}

void check_arrived(const PutMemory& memory, unsigned long long* wrong, cudaStream_t stream) {
  in_units(memory, [&](auto unit, const Units& units, unsigned blocks) {
    compare<decltype(unit)><<<blocks, threads, 0, stream>>>(memory, units, wrong);
  });
}

}  // namespace tca::bench::gpu
