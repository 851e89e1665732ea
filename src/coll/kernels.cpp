#include "coll/kernels.hpp"

#include "base/poll.hpp"
#include "route/choose.hpp"

namespace tca::coll {

namespace {

fabric::CollectiveSpec spec_of(const core::WorldState& world, const raw::Request& request,
                               const Elements& elements) {
  fabric::CollectiveSpec spec;
  spec.kind = request.kind;
  spec.ranks = world.size();
  spec.root = request.root;
  spec.element_bytes = elements.bytes();
  spec.block_bytes = static_cast<std::uint64_t>(request.count.value()) * elements.bytes();
  spec.in_place = elements.in_place();
  spec.reduction = reduction_of(elements);
  return spec;
}

bool reaches_everybody(const core::WorldState& world) {
  for (int rank = 0; rank < world.size(); ++rank)
    if (!world.fabrics().front()->reaches(rank)) return false;
  return true;
}

}  // namespace

std::optional<fabric::Reduction> reduction_of(const Elements& elements) {
  const std::optional<ReduceOp> op = elements.op();
  if (!op || !fabric::in_kernels(elements.type())) return {};
  return fabric::Reduction{elements.type(), *op};
}

std::vector<fabric::CollectiveWay> kernel_ways(const core::WorldState& world, const raw::Request& request,
                                               const Elements& elements) {
  const bool by_host = elements.operation() != nullptr && !reduction_of(elements);
  const bool empty = request.count.value() <= 0 && request.kind != CollectiveKind::barrier;
  const bool routed = !route::effective_override(request.options.channel).empty();
  if (empty || routed || by_host || !reaches_everybody(world)) return {};
  const fabric::Accelerator* accelerator = world.accelerator();
  if (accelerator == nullptr) return {};
  return accelerator->collective_ways(spec_of(world, request, elements));
}

InKernels::InKernels(core::WorldState& world, const raw::Request& request, const Elements& elements,
                     std::string_view way, const std::string& title)
    : world_(world.shared_from_this()) {
  fabric::CollectiveTask task{
      .spec = spec_of(world, request, elements), .members = world.members(), .way = way, .name = title};
  task.time_limit =
      core::checked_limit(request.options.time_limit.value_or(world.control().time_limit), title);
  if (request.kind != CollectiveKind::barrier) {
    task.input = &elements.device(Buffer::input);
    task.output = &elements.device(Buffer::output);
    task.input_offset = elements.first_byte(Buffer::input);
  }
  share_ = world.accelerator()->make_collective(task);
  id_ = world.next_id();
}

// The share is retired, since partners that are a step behind may still write into its signals.
InKernels::~InKernels() { world_->retire(id_, std::move(share_)); }

bool InKernels::wait(std::chrono::nanoseconds at_most) const {
  base::Poll poll(world_->control().cores());
  while (!share_->test()) {
    if (poll.has_yielded() && poll.waited() >= at_most) return false;
    const bool waited_long = poll.pause();
    if (poll.has_yielded()) world_->progress();
    if (waited_long) world_->check();
  }
  return true;
}

}  // namespace tca::coll
