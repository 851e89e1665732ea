#include "coll/kernels.hpp"

#include "base/poll.hpp"
#include "route/choose.hpp"

namespace tca::coll {

namespace {

// Both enumerations name the same six patterns in the same order.
fabric::Pattern pattern_of(Kind kind) { return static_cast<fabric::Pattern>(kind); }
static_assert(static_cast<int>(fabric::Pattern::barrier) == static_cast<int>(Kind::barrier));
static_assert(static_cast<int>(fabric::Pattern::all_to_all) == static_cast<int>(Kind::all_to_all));
static_assert(static_cast<int>(fabric::Combination::product) == static_cast<int>(Op::product));
static_assert(static_cast<int>(fabric::Number::int64) == static_cast<int>(ElementType::int64));

fabric::CollectiveKind kind_of(const core::WorldState& world, const Request& request,
                               const Elements& elements) {
  fabric::CollectiveKind kind;
  kind.pattern = pattern_of(request.kind);
  kind.ranks = world.size();
  kind.root = request.root;
  kind.element_bytes = elements.bytes();
  kind.block_bytes = static_cast<std::uint64_t>(request.count) * elements.bytes();
  kind.in_place = request.in_place;
  kind.reduction = reduction_of(elements);
  return kind;
}

bool reaches_everybody(const core::WorldState& world) {
  for (int rank = 0; rank < world.size(); ++rank)
    if (!world.fabrics().front()->reaches(rank)) return false;
  return true;
}

}  // namespace

std::optional<fabric::Reduction> reduction_of(const Elements& elements) {
  const std::optional<Reducer> reducer = elements.reducer();
  if (!reducer || !reducer->op || elements.type() > ElementType::int64) return {};
  return fabric::Reduction{static_cast<fabric::Number>(elements.type()),
                           static_cast<fabric::Combination>(*reducer->op)};
}

std::vector<fabric::CollectiveWay> kernel_ways(const core::WorldState& world, const Request& request,
                                               const Elements& elements) {
  const bool by_host = elements.reducer() && !reduction_of(elements);
  const bool empty = request.count <= 0 && request.kind != Kind::barrier;
  const bool routed = !route::effective_override(request.options.channel).empty();
  if (empty || routed || by_host || !reaches_everybody(world)) return {};
  const fabric::Accelerator* accelerator = world.accelerator();
  if (accelerator == nullptr) return {};
  return accelerator->collective_ways(kind_of(world, request, elements));
}

InKernels::InKernels(core::WorldState& world, const Request& request, const Elements& elements,
                     std::string_view way, const std::string& title)
    : world_(world.shared_from_this()) {
  DeviceWindow<std::byte> input, output;
  fabric::CollectiveTask task{.kind = kind_of(world, request, elements), .way = way, .name = title};
  task.time_limit =
      core::checked_limit(request.options.time_limit.value_or(world.control().time_limit), title);
  if (request.kind != Kind::barrier) {
    input = elements.device(Buffer::input);
    output = elements.device(Buffer::output);
    task.input = &input;
    task.output = &output;
    task.input_offset = elements.first_byte(Buffer::input);
  }
  share_ = world.accelerator()->make_collective(task);
  id_ = world.next_id();
}

// The share is retired, since partners that are a step behind may still write into its signals.
InKernels::~InKernels() { world_->retire(id_, std::move(share_)); }

void InKernels::wait() const {
  base::Poll poll(world_->control().cores());
  while (!share_->test()) {
    const bool waited_long = poll.pause();
    if (poll.has_yielded()) world_->progress();
    if (waited_long) world_->check();
  }
}

}  // namespace tca::coll
