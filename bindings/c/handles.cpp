#include "c/handles.hpp"

#include <mutex>
#include <utility>

#include "c/calls.hpp"

namespace tca::c {

constinit std::array<Slot, most_slots> slots{};

namespace {

// Of the slots that were in use before, the last to become free, and as `next_free` says the one before it.
constexpr std::uint32_t none = most_slots;
constinit std::mutex mutex;
constinit std::uint32_t last_freed = none, touched = 0;

// The caller holds the mutex.
std::uint32_t take_slot() {
  if (last_freed != none) return std::exchange(last_freed, slots[last_freed].next_free);
  if (touched == most_slots)
    throw Error(Errc::out_of_memory, "there are a million handles already; free those that are not needed");
  return touched++;
}

const char* word(Kind kind) {
  constexpr const char* words[]{"nothing",    "world", "window",        "chain",           "halo",
                                "collective", "fold",  "counted put",   "counted arrival", "set of rounds",
                                "region",     "post",  "set of notices"};
  return static_cast<std::uint32_t>(kind) < std::size(words) ? words[static_cast<std::uint32_t>(kind)]
                                                             : words[0];
}

// Tags without their kind.
constexpr std::uint32_t uses(std::uint32_t tag) { return tag >> 4; }

}  // namespace

std::uint64_t add(Kind kind, void* object) {
  const std::lock_guard lock(mutex);
  const std::uint32_t index = take_slot();
  Slot& slot = slots[index];
  slot.object = object;
  std::uint32_t use = (uses(slot.tag().load(std::memory_order_relaxed)) + 1) & 0x0fffffffu;
  if (use == 0) use = 1;
  const std::uint32_t tag = use << 4 | static_cast<std::uint32_t>(kind);
  // Release pairs with the acquire in `object`.
  slot.tag().store(tag, std::memory_order_release);
  return std::uint64_t{tag} << 32 | index;
}

void remove(std::uint64_t handle) {
  const std::lock_guard lock(mutex);
  const auto index = static_cast<std::uint32_t>(handle);
  Slot& slot = slots[index];
  // Its use stays, without a kind, so that the next one gets another number. Relaxed: that nobody else uses
  // the handle now is the program's part.
  slot.tag().store(static_cast<std::uint32_t>(handle >> 32) & ~15u, std::memory_order_relaxed);
  slot.object = nullptr;
  slot.next_free = std::exchange(last_freed, index);
}

void fail_handle(Kind kind, std::uint64_t handle) {
  if (handle == 0) throw Misuse(fmt::format("the {} is NULL", word(kind)));
  const auto tag = static_cast<std::uint32_t>(handle >> 32);
  const auto index = static_cast<std::uint32_t>(handle);
  const std::uint32_t now = index < most_slots ? slots[index].tag().load(std::memory_order_relaxed) : 0;
  const auto given = static_cast<Kind>(tag & 15u);
  if (given == kind && uses(tag) != 0 && uses(tag) <= uses(now)) {
    throw Misuse(fmt::format("this {} has been freed", word(kind)));
  }
  if (tag == now && now != 0) throw Misuse(fmt::format("this is a {}, and no {}", word(given), word(kind)));
  throw Misuse(fmt::format("{:#x} is no {} of this process; was it set?", handle, word(kind)));
}

}  // namespace tca::c
