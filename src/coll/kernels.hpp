// Collectives that the fabric's own kernels run, where it has any.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/world_state.hpp"
#include "fabric/accelerator.hpp"
#include "tca/detail/collective.hpp"

namespace tca::coll {

// What a fabric can combine of it; nothing where nothing is combined, or only the host can.
std::optional<fabric::Reduction> reduction_of(const Elements& elements);

// The fabric's ways of running it, the cheapest first; the same on every rank. None where chains must carry it.
std::vector<fabric::CollectiveWay> kernel_ways(const core::WorldState& world, const Request& request,
                                               const Elements& elements);

// A rank's share of a collective in kernels.
class InKernels {
 public:
  // Collective. `way` is one of `kernel_ways`; `title` names it in messages.
  InKernels(core::WorldState& world, const Request& request, const Elements& elements, std::string_view way,
            const std::string& title);
  InKernels(const InKernels&) = delete;
  ~InKernels();

  fabric::Collective& share() const { return *share_; }

  // Blocks. Throws what the kernels have met.
  void wait() const;

  // Throws what a step on a stream has met.
  void check() const { world_->check(); }

 private:
  std::shared_ptr<core::WorldState> world_;
  std::unique_ptr<fabric::Collective> share_;
  std::uint32_t id_;
};

}  // namespace tca::coll
