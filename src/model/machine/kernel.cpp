#include "model/machine/kernel.hpp"

#include <algorithm>
#include <cmath>

namespace tca::net {

des::Time kernel_time(const GpuKind& gpu, double bytes, double flops) {
  const double moving = bytes / (gpu.memory_bytes_per_s * gpu.memory_share);
  const double computing = flops / gpu.flops_per_s;
  return std::llround(std::max(moving, computing) * static_cast<double>(des::second));
}

}  // namespace tca::net
