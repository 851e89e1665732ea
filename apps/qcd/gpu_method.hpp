// What a method puts on the stream when the host starts a solve step by step.
#pragma once

#include <memory>

#include "qcd/gpu_sums.hpp"

namespace tca::qcd {

template <class T>
class GpuMethod {
 public:
  virtual ~GpuMethod() = default;
  // Both collective. From the x and the b that are there to the first direction, and an iteration; x is the answer. Once it is
  // over an iteration changes nothing. Fields that are all zero stay so.
  virtual void begin(const Steps& first) = 0;
  virtual void step() = 0;
  virtual const Steps* steps() const = 0;  // on the device
};

// What is given outlives them; `history` is in pinned memory, with room for the largest number of iterations.
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_cg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                     double* history);
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_bicgstab(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                           double* history);

}  // namespace tca::qcd
