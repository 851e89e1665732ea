// The even-odd preconditioned Wilson operator on a GPU, in one precision: tables, fields, halo, and its steps on a stream.
#pragma once

#include <optional>
#include <string>

#include "qcd/faces.hpp"
#include "qcd/gpu_halves.hpp"
#include "qcd/gpu_kernels.hpp"
#include "qcd/gpu_tables.hpp"
#include "qcd/wilson_hop.hpp"
#include "shared/gpu_call.hpp"
#include "tca/team.hpp"

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
  //   - where kernels reach all ranks, and each has a GPU of its own, kernels store them at the neighbours;
  //   - elsewhere by chains.
  // A kernel that does a whole solve, which is to come with `in_kernel`, exchanges lines; it has to reach all ranks. The stream
  // must outlive this.
  GpuWilson(World& world, const Gauge& gauge, const WilsonOptions& options, const std::string& name,
            bool in_kernel, const OwnStream& stream);

  std::size_t half() const { return half_; }  // sites of a parity
  unsigned rhs() const { return solve_.ground.rhs; }
  std::size_t reals() const { return b_.size(); }  // of a field
  const SolveFields<T>& fields() const { return solve_; }
  const Lattice& lattice() const { return lattice_; }
  bool two_rows() const { return two_rows_; }

  // What follows is put on the stream; collective. A stage sends what it says, and needs that the halves of its `in` have
  // been sent: by a stage before it, or by one of these.
  void project(const T* field, bool odd, bool dagger);
  // Shares of the sums go to `partials`; returns how many, the same for every stage.
  unsigned run(const Stage<T>& stage, double* partials);
  unsigned shares() const;
  void update(const CgSteps* steps);
  // For kernels of two precisions: where halves of the odd or the even sites may be stored, by what comes next on the stream.
  const Crossing<T>& clear_to_send(bool odd);

  std::int64_t bytes() const;  // this rank sends in one application
  std::string explain() const;

 private:
  void connect_lines(World& world, const std::string& name);
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
  // Where there are neighbours, one of the two.
  std::optional<StoredHalves<T>> stored_;
  std::optional<Faces<T>> faces_;
  std::optional<SideStream> side_;  // of what chains do, beside the interior
  // Whether the latest exchange was of the odd sites. Replays of a graph do not say: what is captured begins with an exchange of the
  // even sites, ends with one of the odd, and so finds and leaves this true.
  bool last_odd_ = true;
  std::optional<Team> lines_waiting_;
  std::optional<Window<device::Line>> lines_;
  DeviceArray<Word> exchanges_;
  SolveFields<T> solve_;
  Crossing<T> crossing_;
};

}  // namespace tca::qcd
