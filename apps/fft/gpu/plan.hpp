// Transforms of a three-dimensional array that is spread over GPUs, ordered on a stream: as fft::Plan, of which see.
//
//     fft::GpuPlan<double> plan(world, {256, 256, 256}, stream);
//     fill<<<...>>>(plan.input());
//     plan.forward();     // puts the work on the stream; a CUDA graph may capture it
//
// Ranks write what cuFFT has transformed straight into the memory of the GPU that needs it.
#pragma once

#include <complex>
#include <optional>
#include <string>

#include "fft/gpu/cufft.hpp"
#include "fft/plan.hpp"
#include "tca/stream.hpp"

namespace tca::fft {

template <class Real>
class GpuPlan {
 public:
  using Complex = std::complex<Real>;

  // Collective. The world and the stream outlive the plan, and nothing of it is on the stream when it goes. Throws what
  // Plan does, and Error{out_of_memory} where a GPU has too little memory.
  GpuPlan(World& world, const Extents& extents, Stream stream, const Options& options = {});

  const Box& input_box() const { return input_box_; }
  const Box& output_box() const { return output_box_; }
  // In memory of this rank's GPU.
  Complex* input() const { return arrays_.front().data(); }
  Complex* output() const { return arrays_.back().data(); }

  void forward() const { forward_->run(); }
  void backward() const { backward_->run(); }

  const Decomposition& decomposition() const { return decomposition_; }
  int batches() const { return batches_; }
  const Arrays<Real>& arrays() const { return arrays_; }
  Stream stream() const { return stream_; }
  std::string explain() const { return forward_->explain() + backward_->explain(); }

  const Pipeline& forward_pipeline() const { return *forward_; }
  const Pipeline& backward_pipeline() const { return *backward_; }

  // Collective. The same work with the exchanges of somebody else, on the same arrays; `work` outlives it.
  Pipeline with(Direction direction, const MakeTransposition& transposition, CufftWork& work) const;

 private:
  World& world_;
  Stream stream_;
  std::int64_t real_size_;
  Decomposition decomposition_;
  Box input_box_, output_box_;
  int batches_;
  Arrays<Real> arrays_;
  CufftWork work_;
  std::optional<Pipeline> forward_, backward_;
};

extern template class GpuPlan<float>;
extern template class GpuPlan<double>;

}  // namespace tca::fft
