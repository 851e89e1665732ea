// GpuMethod puts a solver's kernels on a stream, when the host starts a solve step by step.
#pragma once

#include <memory>

#include "qcd/gpu/sums.hpp"

namespace tca::qcd {

template <class T>
class GpuMethod {
 public:
  virtual ~GpuMethod() = default;
  // All are collective. `begin` goes from the x and b in the fields to the first direction, and `step` makes
  // an iteration. x becomes the answer. Iterations after the end of the solve change nothing. Fields that are
  // all zero stay so.
  virtual void begin(const Steps& first) = 0;
  virtual void step() = 0;
  // Makes the update that Steps::due asks for.
  virtual void update() {}
  // Copies the Steps of all right-hand sides to pinned memory.
  virtual void tell(Steps* host) = 0;
  // How many iterations are put on the stream before the host looks. That may be after the end of the solve,
  // since iterations change nothing then.
  virtual int batch() const { return 4; }
};

// The arguments must outlive the method.
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_cg(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                     const History& history);
// Iterates in single precision from x = 0, with reliable updates. `exact` holds b, and receives the answer.
std::unique_ptr<GpuMethod<float>> gpu_cg_mixed(GpuWilson<float>& search, GpuWilson<double>& exact,
                                               const GpuSums& sums, const OwnStream& stream,
                                               const History& history);
template <class T>
std::unique_ptr<GpuMethod<T>> gpu_bicgstab(GpuWilson<T>& wilson, const GpuSums& sums, const OwnStream& stream,
                                           const History& history);

}  // namespace tca::qcd
