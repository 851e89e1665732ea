#include "runtime/cuda/shape.hpp"

#include <algorithm>

#include "runtime/cuda/call.hpp"

namespace tca::xacc {

Shape Shapes::of(const xacc_launch& how) {
  constexpr std::int64_t warp = 32;
  const std::int64_t threads = std::min<std::int64_t>(
      how.vector > 0 ? how.vector : std::int64_t{xacc_usual_threads}, most_threads(how.kernel));
  std::int64_t trips[3], blocks[3], size[3] = {1, 1, 1};
  for (int d = 0; d < 3; ++d) trips[d] = how.trips[d] < 0 ? 1024 : std::max<std::int64_t>(how.trips[d], 1);
  size[0] = std::min(threads, (trips[0] + warp - 1) / warp * warp);
  size[1] = std::min(threads / size[0], trips[1]);
  constexpr std::int64_t limits[3] = {0x7fffffff, 0xffff, 0xffff};
  for (int d = 0; d < 3; ++d) blocks[d] = std::min((trips[d] + size[d] - 1) / size[d], limits[d]);
  if (how.gangs > 0) blocks[0] = std::min(blocks[0], how.gangs);
  const auto number = [](std::int64_t n) { return static_cast<unsigned>(n); };
  const dim3 block(number(size[0]), number(size[1]), number(size[2]));
  if (how.reductions > 0) {
    const std::int64_t most = most_blocks(how.kernel, static_cast<int>(size[0] * size[1]));
    // The outermost axis goes round, so that blocks that run together are next to each other.
    std::int64_t room = std::max<std::int64_t>(most, 1);
    for (std::int64_t& along : blocks) {
      const std::int64_t rounds = (along + room - 1) / room;
      along = (along + rounds - 1) / rounds;
      room = std::max<std::int64_t>(room / along, 1);
    }
  }
  return {dim3(number(blocks[0]), number(blocks[1]), number(blocks[2])), block};
}

int Shapes::most_threads(const void* kernel) {
  Limits& limits = limits_[kernel];
  if (limits.threads > 0) return limits.threads;
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "looking at the region's kernel");
  return limits.threads = attributes.maxThreadsPerBlock;
}

std::int64_t Shapes::most_blocks(const void* kernel, int threads) {
  Limits& limits = limits_[kernel];
  if (limits.with == threads) return limits.blocks;
  int gpu = 0, processors = 0, each = 0;
  check(cudaGetDevice(&gpu), "looking at the GPU");
  check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, gpu), "looking at the GPU");
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, 0),
        "looking at the region's kernel");
  limits.with = threads;
  return limits.blocks = std::max<std::int64_t>(1, std::int64_t{each} * processors);
}

}  // namespace tca::xacc
