// The kernel that takes many steps, as a solver has it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "pic/gpu/kernels.hpp"
#include "pic/gpu/state.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::pic {

template <class Number>
struct KernelOfSteps {
  explicit KernelOfSteps(const GpuState<Number>& gpu) {
    if (gpu.exchange.team() == nullptr)
      throw Error(
          Errc::invalid_argument,
          "one kernel for all steps needs every rank in one sub-cluster; across sub-clusters they are "
          "started by the host or a graph");
    const int ranks = gpu.world.ranks_on_device();
    apps::cuda_ok(most_blocks_at_once<Number>(ranks, blocks), "asking how many blocks run at once");
    blocks = std::min(blocks, blocks_for(std::max<std::int64_t>(gpu.on.elements, gpu.on.capacity)));
    if (blocks == 0)
      throw Error(
          Errc::invalid_argument,
          fmt::format("{} ranks share a GPU, and one kernel of each does not fit on it; take fewer", ranks));
    travel.write({{gpu.exchange.ends(), gpu.exchange.team()->device()}}, gpu.stream);
    plan = {.on = gpu.on,
            .fold = gpu.exchange.fold().device(),
            .halo = gpu.exchange.halo().device(),
            .queues = gpu.exchange.queues().chain.device(),
            .folded = gpu.exchange.fold().cells(0),
            .travel = travel.data(),
            .barrier = barrier.data()};
  }

  unsigned blocks = 0;
  apps::DeviceArray<Travel> travel{1};
  apps::DeviceArray<std::uint64_t> barrier{1};
  StepsPlan<Number> plan{};
};

}  // namespace tca::pic
