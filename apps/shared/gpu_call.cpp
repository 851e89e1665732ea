#include "shared/gpu_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tca/error.hpp"

namespace tca::apps {

void cuda_ok(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  const Errc code = result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failed;
  throw Error(
      code, fmt::format("{}: CUDA says {} ({})", what, cudaGetErrorString(result), cudaGetErrorName(result)));
}

unsigned ranks_on_this_gpu(World& world) {
  std::array<char, 32> bus{};
  int device = 0;
  cuda_ok(cudaGetDevice(&device), "asking for the GPU");
  cuda_ok(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "asking for the GPU");
  const auto all = world.all_gather(bus);
  return static_cast<unsigned>(std::count(all.begin(), all.end(), bus));
}

bool has_gpu_alone(World& world) {
  const std::vector<unsigned> sharing = world.all_gather(ranks_on_this_gpu(world));
  return *std::max_element(sharing.begin(), sharing.end()) == 1;
}

}  // namespace tca::apps
