#include "runtime/check/checks.hpp"

#include "runtime/move/gmove.hpp"

namespace tca::xacc {
namespace {

TwoCopies::Side side_of(bool on_device) { return on_device ? TwoCopies::device : TwoCopies::host; }

struct Element {
  std::size_t offset = 0;  // in elements, from the beginning of the rank's memory
  bool is_ghost = false;
  std::string name;
};

Element element_of(const xacc_array& a, const std::int64_t* index) {
  const xacc_layout& layout = *a.layout;
  const xacc_nodes& nodes = *layout.on->nodes;
  Element found{0, false, layout.name};
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    const xacc_dimension& dim = layout.dims[d];
    found.name += "[" + std::to_string(index[d]) + "]";
    const std::int64_t at = layout.position(d, index[d], nodes.at);
    found.is_ghost =
        found.is_ghost ||
        (!layout.full(d) && (at < dim.align.shadow_low || at >= a.extent[d] - dim.align.shadow_high));
    found.offset = found.offset * static_cast<std::size_t>(a.extent[d]) + static_cast<std::size_t>(at);
  }
  return found;
}

}  // namespace

void Checks::enter(bool compute) {
  if (loops_++ == 0 && !Runtime::get().in_task()) ++time_;
  regions_ += compute ? 1 : 0;
}

void Checks::step() {
  if (!Runtime::get().in_task()) ++time_;
}

void Checks::leave(bool compute) {
  if (--loops_ == 0 && !Runtime::get().in_task()) ++time_;
  regions_ -= compute ? 1 : 0;
}

void Checks::watch(const xacc_layout& layout) {
  bool shadow = false;
  for (const xacc_dimension& dim : layout.dims)
    shadow = shadow || dim.align.shadow_low > 0 || dim.align.shadow_high > 0;
  Storage& storage = *layout.storage;
  if (!shadow || has_full_shadow(layout))  // of a full one any element may be any node's
    return storage.ghosts.reset();
  if (storage.ghosts)
    storage.ghosts->reset();
  else
    storage.ghosts = std::make_shared<Ghosts>(*storage.group, storage.capacity, layout.name);
  if (Runtime::get().is_setting_up()) watched_.push_back(&layout);
}

void Checks::entered(const xacc_item& item) { copies_.entered(item); }

void Checks::left(const xacc_item& item) { copies_.left(item); }

void Checks::updated(const xacc_item& item, const xacc_place& at) { copies_.updated(item, at); }

void* Checks::touch(void* memory, std::size_t bytes, int access, const xacc_place& at) {
  return copies_.touch(memory, bytes, access, here(), at, copies_.name_of(memory, bytes, at));
}

void* Checks::element(const xacc_array& a, const std::int64_t* index, int access, const xacc_place& at) {
  const Element found = element_of(a, index);
  const std::size_t bytes = a.layout->element_bytes;
  void* const memory =
      copies_.touch(static_cast<std::byte*>(a.base) + found.offset * bytes, bytes, access, here(), at,
                    found.name + (found.is_ghost ? ", a ghost," : ", which this rank owns,"));
  Ghosts* const ghosts = a.layout->storage ? a.layout->storage->ghosts.get() : nullptr;
  if (!ghosts) return memory;
  if (found.is_ghost && (access & XACC_READ)) ghosts->read(found.offset, time_, at);
  if (access & XACC_WRITE) ghosts->wrote(found.offset, found.is_ghost, time_, at.line);
  return memory;
}

void Checks::wrote(void* memory, std::size_t bytes, bool on_device, const xacc_place& at) {
  copies_.wrote(memory, bytes, side_of(on_device), at);
}

void Checks::changed(void* memory, std::size_t bytes, bool on_device, const xacc_place& at) {
  copies_.touch(memory, bytes, XACC_READ | XACC_WRITE, side_of(on_device), at, "what is reduced");
}

void Checks::moved(const xacc_section& section, int access, bool on_device, const xacc_place& at) {
  const Side side(section);
  const int me = Runtime::get().world().rank();
  Ghosts* const ghosts = section.array && section.array->layout->storage
                             ? section.array->layout->storage->ghosts.get()
                             : nullptr;
  const std::string what =
      "an element of " + (section.array ? section.array->layout->name : std::string("a section"));
  for (const Box& box : side.owned_by(me)) {
    if (volume(box) == 0) continue;
    const Steps steps = side.steps(box, me);
    std::vector<std::int64_t> step(box.size());
    for (bool more = true; more;) {
      std::int64_t offset = steps.first;
      for (std::size_t i = 0; i < box.size(); ++i) offset += step[i] * steps.pitch[i];
      const auto element = static_cast<std::size_t>(offset);
      copies_.touch(memory_of(side) + element * section.element_bytes, section.element_bytes, access,
                    side_of(on_device), at, what);
      if (ghosts && (access & XACC_WRITE)) ghosts->wrote(element, false, time_, at.line);
      std::size_t d = box.size();
      while (d > 0 && ++step[d - 1] == box[d - 1].count) step[--d] = 0;
      more = d > 0;
    }
  }
}

void Checks::compare(const xacc_layout& layout, const xacc_place& at) {
  if (layout.storage && layout.storage->ghosts) layout.storage->ghosts->compare(layout, at);
}

void Checks::compare_all(const xacc_place& at) {
  if (Runtime::get().in_task()) return;
  for (const xacc_layout* layout : watched_) compare(*layout, at);
}

void Checks::brought(const xacc_array& a, const Widths& widths, bool orthogonal, bool on_device,
                     const xacc_place& at) {
  Storage& storage = *a.layout->storage;
  if (!storage.ghosts) return;
  const std::size_t bytes = a.layout->element_bytes;
  for (const std::size_t ghost : storage.ghosts->brought(*a.layout, widths, orthogonal, time_))
    wrote(static_cast<std::byte*>(a.base) + ghost * bytes, bytes, on_device, at);
}

}  // namespace tca::xacc
