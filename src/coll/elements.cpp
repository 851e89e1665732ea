#include "coll/elements.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/fail.hpp"
#include "coll/agree.hpp"
#include "core/world/window_state.hpp"

namespace tca::coll {

namespace {

// The elements of so many blocks; 0 for counts that the constructor then refuses on every rank.
std::int64_t elements_of(Count count, int blocks, std::size_t element_bytes) {
  const auto most = static_cast<std::int64_t>(std::numeric_limits<std::int64_t>::max() / element_bytes);
  std::int64_t all;
  if (count.value() < 0 || __builtin_mul_overflow(count.value(), blocks, &all) || all > most) return 0;
  return all;
}

// The size of an element, even if the request, which is then refused, says that it has none.
std::size_t element_bytes(const raw::Request& request) {
  return std::max<std::size_t>(request.element_bytes, 1);
}

}  // namespace

std::string title_of(const char* part, CollectiveKind kind, const std::string& name) {
  return fmt::format("the {} of {} '{}'", part, to_string(kind), name);
}

raw::Window make_memory(World& world, std::int64_t elements, std::size_t element_bytes, std::string title) {
  return core::WindowState::handle(
      core::WorldState::of(world).make_window({elements, element_bytes, std::move(title)}));
}

Elements Elements::with_own_memory(World& world, const raw::Request& request) {
  const std::size_t bytes = element_bytes(request);
  const auto make = [&](const char* part, int blocks) {
    return make_memory(world, elements_of(request.count, blocks, bytes), bytes,
                       title_of(part, request.kind, request.name));
  };
  switch (request.kind) {
    case CollectiveKind::barrier:
      return Elements(world, request, make("memory", 0));
    case CollectiveKind::broadcast:
    case CollectiveKind::all_reduce:
      return Elements(world, request, make("memory", 1));
    case CollectiveKind::all_gather:
      return Elements(world, request, make("memory", world.size()));
    case CollectiveKind::reduce_scatter: {
      const raw::Window input = make("input", world.size());
      return Elements(request, input, make("output", 1));
    }
    case CollectiveKind::all_to_all:
      break;
  }
  const raw::Window input = make("input", world.size());
  return Elements(request, input, make("output", world.size()));
}

Elements::Elements(const World& world, const raw::Request& request, raw::Window window)
    : Elements(request, window, window,
               request.kind == CollectiveKind::all_gather
                   ? elements_of(request.count, world.rank(), element_bytes(request))
                   : 0,
               true) {}

Elements::Elements(const raw::Request& request, raw::Window input, raw::Window output)
    : Elements(request, std::move(input), std::move(output), 0, false) {}

Elements::Elements(const raw::Request& request, raw::Window input, raw::Window output,
                   std::int64_t input_first, bool in_place)
    : input_(std::move(input)),
      output_(std::move(output)),
      input_first_(input_first),
      in_place_(in_place),
      type_(request.type),
      bytes_(input_.element_bytes()) {
  if (!combines(request.kind)) return;
  operation_ = request.operation;
  if (op()) loop_ = base::combine_loop(type_, *op());
}

std::optional<ReduceOp> Elements::op() const {
  const ReduceOp* const op = operation_ ? std::get_if<ReduceOp>(&*operation_) : nullptr;
  return op != nullptr ? std::optional(*op) : std::nullopt;
}

std::int64_t Elements::available(Buffer buffer) const {
  return static_cast<std::int64_t>(window(buffer).size()) - first(buffer);
}

std::byte* Elements::data(Buffer buffer) const {
  return static_cast<std::byte*>(window(buffer).data()) + first_byte(buffer);
}

void Elements::make_scratch(World& world, std::int64_t elements, std::string title) {
  scratch_ = make_memory(world, elements, bytes_, std::move(title));
}

void Elements::put(Chain& chain, const Put& put) const {
  chain.put(window(put.to_buffer).on(put.to).at(put.to_first),
            window(put.from_buffer).at(first(put.from_buffer) + put.from_first), block(put.count));
}

void Elements::read(Buffer buffer, std::int64_t from, std::span<std::byte> into) const {
  window(buffer).read(first(buffer) + from, into);
}

void Elements::write(Buffer buffer, std::int64_t to, std::span<const std::byte> from) const {
  window(buffer).write(first(buffer) + to, from);
}

}  // namespace tca::coll
