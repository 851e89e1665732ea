// Transforms of a three-dimensional array that is spread over the ranks of a world, on their hosts.
//
//     fft::Plan<double> plan(world, {256, 256, 256});
//     fill(plan.input_box(), plan.input());   // this rank's part, z contiguous
//     plan.forward();                         // now in plan.output(), which is another part: plan.output_box()
//     plan.backward();                        // back in plan.input(), times the number of points
//
// Ranks write what they have transformed straight to where the others need it. Extents need not be divisible by the number of
// ranks.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/decomposition.hpp"
#include "fft/pipeline.hpp"
#include "fft/transposition.hpp"
#include "shared/channels.hpp"
#include "tca/world.hpp"

namespace tca::fft {

struct Options {
  // Rows and columns of ranks: P and 1 for slabs. Chosen when empty: slabs, if there are planes enough.
  std::vector<int> grid = {};
  // The array is real before the transform. Afterwards there are the size of z by 2, and one, complex numbers along z: the
  // others are their conjugates.
  bool real = false;
  // In how many batches a rank works on its part, so that each is exchanged while the next is computed. 0 chooses: one on
  // hosts, where a rank itself stores what it sends and each batch costs a signal, and on GPUs up to four.
  int batches = 0;
  // FFTW tries its algorithms out, which takes some time once, instead of guessing the fastest.
  bool measured = true;
  apps::Channels channels = {};  // of ROW and COLUMN
};

// How an array of these extents is divided with these options. Throws Error{invalid_argument} where it cannot be.
Decomposition decompose(const Extents& extents, int ranks, const Options& options);

// The extents of the complex numbers.
Extents complex_extents(const Extents& extents, bool real);

template <class Real>
class Plan {
 public:
  using Complex = std::complex<Real>;

  // Collective. The world outlives the plan. Throws Error{invalid_argument} for extents and grids that leave a rank nothing,
  // Error{incompatible} in a build without FFTW, and Error{out_of_memory}.
  Plan(World& world, const Extents& extents, const Options& options = {});

  // This rank's part before the transform and after it, in complex numbers. Where the array is real before, z of the input
  // box counts those that the real numbers have room in: a line's real numbers begin where its complex ones would.
  const Box& input_box() const { return input_box_; }
  const Box& output_box() const { return output_box_; }
  // On a world of one rank both are the same memory.
  std::span<Complex> input() const { return arrays_.front().elements(); }
  std::span<Complex> output() const { return arrays_.back().elements(); }

  // Collective. Of X(k) = sum of x(n) exp(-2 pi i k.n/N), and of its inverse times the number of points. Each loses what it
  // started from.
  void forward() const { forward_->run(); }
  void backward() const { backward_->run(); }

  const Decomposition& decomposition() const { return decomposition_; }
  int batches() const { return batches_; }
  const Arrays<Real>& arrays() const { return arrays_; }
  const Pipeline& forward_pipeline() const { return *forward_; }
  const Pipeline& backward_pipeline() const { return *backward_; }
  std::string explain() const { return forward_->explain() + backward_->explain(); }

  // Collective. The same work with the exchanges of somebody else, on the same arrays.
  Pipeline with(Direction direction, const MakeTransposition& transposition) const;

 private:
  World& world_;
  Options options_;
  std::int64_t real_size_;
  Decomposition decomposition_;
  Box input_box_, output_box_;
  int batches_;
  Arrays<Real> arrays_;
  std::optional<Pipeline> forward_, backward_;
};

extern template class Plan<float>;
extern template class Plan<double>;

}  // namespace tca::fft
