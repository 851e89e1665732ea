// What the ways by one kernel have in common, however its blocks meet.
#pragma once

#include "cg/gpu/matrix.hpp"
#include "cg/gpu/run.hpp"
#include "cg/way.hpp"
#include "shared/gpu_call.hpp"
#include "tca/world.hpp"

namespace tca::cg {

class OneKernelWay : public Way {
 public:
  OneKernelWay(World& world, const Problem& problem)
      : world_(world), problem_(problem), found_(static_cast<std::size_t>(problem.steps)) {}

  Step run(int steps, std::vector<double>& step_us, const Tick& tick) final;

 protected:
  // The kernel runs so many steps.
  virtual void launch(Word steps, cudaStream_t stream) = 0;
  Found* found() const { return found_.data(); }

 private:
  World& world_;
  const Problem& problem_;
  apps::DeviceArray<Found> found_;
  apps::OwnStream stream_;
};

}  // namespace tca::cg
