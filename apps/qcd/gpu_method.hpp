// What a method puts on the stream when the host starts a solve step by step.
#pragma once

#include <memory>

#include "qcd/gpu_sums.hpp"

namespace tca::qcd {

template <class T>
class GpuMethod {
 public:
  virtual ~GpuMethod() = default;
  // All collective. From the x and the b that are there to the first direction, and an iteration; x is the answer. Once it is over
  // an iteration changes nothing. Fields that are all zero stay so.
  virtual void begin(const Steps& first) = 0;
  virtual void step() = 0;
  // What Steps has said is due.
  virtual void update() {}
  // The Steps of all right-hand sides, to pinned memory.
  virtual void tell(Steps* host) = 0;
  // So many iterations are put on the stream before the host looks, because those behind the last change nothing.
  virtual int batch() const { return 4; }
};

// What is given outlives them.
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_cg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                     const History& history);
// Iterates in single precision from x = 0 on, with reliable updates; `exact` has b, and takes the answer.
std::unique_ptr<GpuMethod<float>> gpu_cg_mixed(GpuWilson<float>& search, GpuWilson<double>& exact,
                                               const GpuSums& sums, const OwnStream& stream,
                                               const History& history);
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_bicgstab(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                           const History& history);

}  // namespace tca::qcd
