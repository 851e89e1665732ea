// Runs a collective in the fabric's own kernels, if it has any.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "coll/elements.hpp"
#include "core/world/world_state.hpp"
#include "fabric/accelerator.hpp"

namespace tca::coll {

// Returns the reduction that a fabric can do. Empty if nothing is combined, or if only the host can
// combine.
std::optional<fabric::Reduction> reduction_of(const Elements& elements);

// Returns the fabric's ways of running a collective, the cheapest first; the same on every rank. Empty if
// chains must do it.
std::vector<fabric::CollectiveWay> kernel_ways(const core::WorldState& world, const raw::Request& request,
                                               const Elements& elements);

// A rank's share of a collective that kernels run.
class InKernels {
 public:
  // Collective. `way` is one of `kernel_ways`; `title` names it in messages.
  InKernels(core::WorldState& world, const raw::Request& request, const Elements& elements,
            std::string_view way, const std::string& title);
  InKernels(const InKernels&) = delete;
  ~InKernels();

  fabric::Collective& share() const { return *share_; }

  // Blocks until the step is done, but for no longer than `at_most`; returns whether it is done. Throws the
  // error that the kernels have hit.
  bool wait(std::chrono::nanoseconds at_most = std::chrono::nanoseconds::max()) const;

  // Throws the error that a step on a stream has hit.
  void check() const { world_->check(); }

 private:
  std::shared_ptr<core::WorldState> world_;
  std::unique_ptr<fabric::Collective> share_;
  std::uint32_t id_;
};

}  // namespace tca::coll
