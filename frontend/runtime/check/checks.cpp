#include "runtime/check/checks.hpp"

#include <algorithm>
#include <utility>

#include "runtime/section.hpp"

namespace tca::xacc {
namespace {

enum Where : int { host, device };
constexpr std::uint8_t bit(int side) { return static_cast<std::uint8_t>(1 << side); }

std::string text_of(const xacc_place& at) { return std::string(at.file) + ":" + std::to_string(at.line); }

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
    std::int64_t at = index[d] - layout.owned(d, nodes.at).begin + dim.align.shadow_low;
    const xacc_split* split = dim.node_dim >= 0 ? &layout.on->dim[dim.align.template_dim] : nullptr;
    if (split && split->format == XACC_CYCLIC) at = xacc_slot(split, index[d] + dim.align.offset);
    found.is_ghost = found.is_ghost || at < dim.align.shadow_low || at >= a.extent[d] - dim.align.shadow_high;
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
  if (!shadow) return;
  Storage& storage = *layout.storage;
  if (storage.ghosts)
    storage.ghosts->reset();
  else
    storage.ghosts = std::make_shared<Ghosts>(*storage.group, storage.capacity, layout.name);
  if (Runtime::get().is_setting_up()) watched_.push_back(&layout);
}

Checks::Copies* Checks::copies_at(const void* memory, std::size_t* offset) {
  const auto* at = static_cast<const std::byte*>(memory);
  auto next = copies_.upper_bound(at);
  if (next == copies_.begin()) return nullptr;
  --next;
  *offset = static_cast<std::size_t>(at - next->first);
  return *offset < next->second.bytes ? &next->second : nullptr;
}

void Checks::entered(const xacc_item& item) {
  std::size_t offset = 0;
  if (item.bytes == 0 || copies_at(item.address, &offset)) return;
  const bool brought = item.clause == XACC_COPY || item.clause == XACC_COPYIN;
  Copies& copies = copies_[static_cast<std::byte*>(item.address)];
  copies.bytes = item.bytes;
  copies.stale.assign(item.bytes, brought ? std::uint8_t{0} : bit(device));
}

void Checks::left(const xacc_item& item) {
  if (!Runtime::get().present().find(item.address)) copies_.erase(static_cast<std::byte*>(item.address));
}

void Checks::updated(const xacc_item& item, const xacc_place& at) {
  std::size_t offset = 0;
  Copies* copies = copies_at(item.address, &offset);
  if (!copies) return;
  const std::size_t bytes = std::min(item.bytes, copies->bytes - offset);
  std::fill_n(copies->stale.begin() + static_cast<std::ptrdiff_t>(offset), bytes, std::uint8_t{0});
  copies->written[item.clause == XACC_UPDATE_HOST ? host : device] = text_of(at);
}

void Checks::refuse_old(const std::string& newer, int side, const std::string& variable,
                        const std::string& what) {
  static constexpr const char* names[] = {"host", "device"};
  const std::string rank = "rank " + std::to_string(Runtime::get().world().rank());
  const std::string update = std::string("#pragma acc update ") + names[side] + "(" + variable + ")";
  if (side == device && newer.empty())
    refuse(what + " has no value yet on the device of " + rank + ": bring it there by copyin, or by " +
           update);
  refuse(what + " is read on the " + names[side] + " of " + rank + ", and the " + names[1 - side] +
         " wrote it later (" + newer + "): put " + update + " in between");
}

void* Checks::touch(void* memory, std::size_t bytes, int access, const xacc_place& at) {
  std::size_t offset = 0;
  const Copies* copies = copies_at(memory, &offset);
  const bool whole = !copies || copies->bytes == bytes;
  return touch(memory, bytes, access, at,
               whole ? at.directive : "element " + std::to_string(offset / bytes) + " of " + at.directive);
}

void* Checks::touch(void* memory, std::size_t bytes, int access, const xacc_place& at,
                    const std::string& what) {
  std::size_t offset = 0;
  Copies* copies = copies_at(memory, &offset);
  if (!copies) return memory;
  const int side = regions_ > 0 ? device : host;
  const std::size_t end = std::min(offset + bytes, copies->bytes);
  for (std::size_t i = offset; i < end; ++i) {
    if ((access & XACC_READ) && (copies->stale[i] & bit(side)))
      refuse_old(copies->written[1 - side], side, at.directive, what);
    if (access & XACC_WRITE) copies->stale[i] = bit(1 - side);
  }
  if (access & XACC_WRITE) copies->written[side] = text_of(at);
  return side == host ? memory : Runtime::get().present().address_of(at.directive, memory);
}

void* Checks::element(const xacc_array& a, const std::int64_t* index, int access, const xacc_place& at) {
  const Element found = element_of(a, index);
  const std::size_t bytes = a.layout->element_bytes;
  void* const memory = touch(static_cast<std::byte*>(a.base) + found.offset * bytes, bytes, access, at,
                             found.name + (found.is_ghost ? ", a ghost," : ", which this rank owns,"));
  Ghosts* const ghosts = a.layout->storage ? a.layout->storage->ghosts.get() : nullptr;
  if (!ghosts) return memory;
  if (found.is_ghost && (access & XACC_READ)) ghosts->read(found.offset, time_, at);
  if (access & XACC_WRITE) ghosts->wrote(found.offset, found.is_ghost, time_, at.line);
  return memory;
}

void Checks::wrote(void* memory, std::size_t bytes, bool on_device, const xacc_place& at) {
  std::size_t offset = 0;
  Copies* copies = copies_at(memory, &offset);
  if (!copies) return;
  const int side = on_device ? device : host;
  const std::size_t end = std::min(offset + bytes, copies->bytes);
  std::fill(copies->stale.begin() + static_cast<std::ptrdiff_t>(offset),
            copies->stale.begin() + static_cast<std::ptrdiff_t>(end), bit(1 - side));
  copies->written[side] = text_of(at);
}

void Checks::changed(void* memory, std::size_t bytes, bool on_device, const xacc_place& at) {
  const int regions = std::exchange(regions_, on_device ? 1 : 0);
  touch(memory, bytes, XACC_READ | XACC_WRITE, at, "what is reduced");
  regions_ = regions;
}

void Checks::moved(const xacc_section& section, int access, bool on_device, const xacc_place& at) {
  const Side side(section);
  const int me = Runtime::get().world().rank(), regions = std::exchange(regions_, on_device ? 1 : 0);
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
      touch(memory_of(side) + element * section.element_bytes, section.element_bytes, access, at, what);
      if (ghosts && (access & XACC_WRITE)) ghosts->wrote(element, false, time_, at.line);
      std::size_t d = box.size();
      while (d > 0 && ++step[d - 1] == box[d - 1].count) step[--d] = 0;
      more = d > 0;
    }
  }
  regions_ = regions;
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
