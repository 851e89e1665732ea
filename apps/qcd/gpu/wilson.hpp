// GpuWilson is the even-odd preconditioned Wilson operator on a GPU, in one precision: tables, fields, halo,
// and its kernels on a stream.
#pragma once

#include <optional>
#include <string>

#include "qcd/gpu/halves.hpp"
#include "qcd/gpu/kernels/kernels.hpp"
#include "qcd/gpu/tables.hpp"
#include "qcd/operators/faces.hpp"
#include "qcd/operators/wilson_hop.hpp"
#include "shared/gpu_call.hpp"
#include "tca/chain.hpp"

namespace tca::qcd {

using apps::cuda_ok;
using apps::DeviceArray;
using apps::Graph;
using apps::OwnEvent;
using apps::OwnStream;
using apps::PinnedArray;
using apps::SideStream;

template <class T>
class GpuWilson {
 public:
  // Collective. How halves cross between steps that the host starts:
  //   - with a peer in `options`, by its messages;
  //   - if kernels reach all ranks and each has a GPU of its own, kernels store them at the neighbours;
  //   - elsewhere by chains.
  // With `in_kernel` the operator also gets a chain of produced puts, by which a kernel that runs the whole solve
  // exchanges halves. Kernels have to reach all ranks then. The stream must outlive this object.
  GpuWilson(World& world, const Gauge& gauge, const WilsonOptions& options, const std::string& name,
            bool in_kernel, const OwnStream& stream);

  std::size_t half() const { return half_; }  // sites of a parity
  unsigned rhs() const { return solve_.ground.rhs; }
  std::size_t reals() const { return b_.size(); }  // of a field
  const SolveFields<T>& fields() const { return solve_; }
  const Lattice& lattice() const { return lattice_; }
  bool two_rows() const { return two_rows_; }

  // Put kernels on the stream; collective. A stage sends what its `sends` says. Before it runs, the halves of
  // its `in` must have been sent, by an earlier stage or by `project` or `update`.
  void project(const T* field, bool odd, bool dagger);
  // Leaves shares of the sums in `partials`, and returns shares().
  unsigned run(const Stage<T>& stage, double* partials);
  unsigned shares() const;
  void update(const CgSteps* steps);
  // For kernels of two precisions: returns where the next kernel on the stream may store halves of the odd or
  // the even sites.
  const Crossing<T>& clear_to_send(bool odd);

  std::int64_t bytes() const;  // what this rank sends in one application
  std::string explain() const;

 private:
  void connect_kernels(World& world, const std::string& name);
  void launch(const Stage<T>& stage, const Chunks& some, unsigned blocks, double* partials);
  void run_beside_chains(const Stage<T>& stage, const Chunks& all, double* partials);
  unsigned interior_blocks(const Chunks& all) const;

  const Lattice& lattice_;
  const OwnStream& stream_;
  bool two_rows_;
  GroundTables<T> tables_;
  std::size_t half_;
  DeviceArray<T> links_;
  DeviceArray<float> time_sign_;
  DeviceArray<std::int32_t> next_, even_order_, odd_order_;
  DeviceArray<T> b_, x_, r_, odd_, s_, p_, q_, w_;
  // If there are neighbours, one of the two is used.
  std::optional<StoredHalves<T>> stored_;
  std::optional<Faces<T>> faces_;
  std::optional<SideStream> side_;  // runs the chains beside the interior
  // Whether the latest exchange was of the odd sites. Replays of a graph do not update it. But what is
  // captured begins with an exchange of the even sites and ends with one of the odd sites, and so both finds
  // and leaves this true.
  bool last_odd_ = true;
  std::optional<Chain> produced_;
  SolveFields<T> solve_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
