#include "c/handles.hpp"

#include <mutex>
#include <vector>

#include "c/calls.hpp"

namespace tca::c {

std::array<std::atomic<Slot*>, most_chunks> chunks{};

namespace {

struct Free {
  std::mutex mutex;
  std::vector<std::uint32_t> slots;
  std::uint32_t used_chunks = 0;
};

// Never destroyed: a program may free handles while its static objects end.
Free& free_slots() {
  static Free& all = *new Free;
  return all;
}

// The caller holds the mutex.
void grow(Free& all) {
  if (all.used_chunks == most_chunks) {
    throw Error(Errc::out_of_memory,
                "there are four million handles already; free those that are not needed");
  }
  all.slots.reserve(all.slots.size() + slots_in_chunk);
  const std::uint32_t chunk = all.used_chunks;
  // Release pairs with the acquire in `slot_at`.
  chunks[chunk].store(new Slot[slots_in_chunk], std::memory_order_release);
  ++all.used_chunks;
  for (std::uint32_t i = slots_in_chunk; i-- > 0;) all.slots.push_back(chunk * slots_in_chunk + i);
}

const char* word(Kind kind) {
  constexpr const char* words[]{"nothing", "world", "window", "chain", "halo", "collective"};
  return static_cast<std::uint32_t>(kind) < std::size(words) ? words[static_cast<std::uint32_t>(kind)]
                                                             : words[0];
}

// Tags without their kind.
constexpr std::uint32_t uses(std::uint32_t tag) { return tag >> 4; }

}  // namespace

std::uint64_t add(Kind kind, void* object) {
  Free& all = free_slots();
  const std::lock_guard lock(all.mutex);
  if (all.slots.empty()) grow(all);
  const std::uint32_t index = all.slots.back();
  all.slots.pop_back();
  Slot& slot = *slot_at(index);
  slot.object = object;
  std::uint32_t use = (uses(slot.tag.load(std::memory_order_relaxed)) + 1) & 0x0fffffffu;
  if (use == 0) use = 1;
  const std::uint32_t tag = use << 4 | static_cast<std::uint32_t>(kind);
  // Release pairs with the acquire in `object`.
  slot.tag.store(tag, std::memory_order_release);
  return std::uint64_t{tag} << 32 | index;
}

void remove(std::uint64_t handle) {
  Free& all = free_slots();
  const std::lock_guard lock(all.mutex);
  const auto index = static_cast<std::uint32_t>(handle);
  Slot& slot = *slot_at(index);
  // Its use stays, without a kind, so that the next one gets another number. Relaxed: that nobody else uses
  // the handle now is the program's part.
  slot.tag.store(static_cast<std::uint32_t>(handle >> 32) & ~15u, std::memory_order_relaxed);
  slot.object = nullptr;
  all.slots.push_back(index);  // there is room: `grow` has reserved it
}

void fail_handle(Kind kind, std::uint64_t handle) {
  if (handle == 0) throw Misuse(fmt::format("the {} is NULL", word(kind)));
  const auto tag = static_cast<std::uint32_t>(handle >> 32);
  const Slot* const slot = slot_at(static_cast<std::uint32_t>(handle));
  const std::uint32_t now = slot == nullptr ? 0 : slot->tag.load(std::memory_order_relaxed);
  const auto given = static_cast<Kind>(tag & 15u);
  if (given == kind && uses(tag) != 0 && uses(tag) <= uses(now)) {
    throw Misuse(fmt::format("this {} has been freed", word(kind)));
  }
  if (tag == now && now != 0) throw Misuse(fmt::format("this is a {}, and no {}", word(given), word(kind)));
  throw Misuse(fmt::format("{:#x} is no {} of this process; was it set?", handle, word(kind)));
}

}  // namespace tca::c
