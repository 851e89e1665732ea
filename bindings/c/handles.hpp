// Handles are numbers that look like pointers: the place of a slot in a table, and how often that slot was in
// use before. So one that was freed, or never was one, is refused without looking at memory that may not be
// there.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "tca/post.hpp"
#include "tca/raw.hpp"
#include "tca/tca.h"

namespace tca::c {

enum class Kind : std::uint32_t {
  none,
  world,
  window,
  chain,
  halo,
  collective,
  fold,
  counted_put,
  counted_arrival,
  rounds,
  region,
  post,
  notices
};

// A world is the program's own, or of World::run_threads, which lends it to the body.
struct HeldWorld {
  explicit HeldWorld(World&& made) : own(std::move(made)), world(*own) {}
  explicit HeldWorld(World& lent) : world(lent) {}

  std::optional<World> own;
  World& world;
};

class HeldRounds;

template <Kind of, class Held>
struct Handled {
  using Object = Held;
  static constexpr Kind kind = of;
};
template <class Handle>
struct HandleOf;
template <>
struct HandleOf<tca_world> : Handled<Kind::world, HeldWorld> {};
template <>
struct HandleOf<tca_window> : Handled<Kind::window, raw::Window> {};
template <>
struct HandleOf<tca_chain> : Handled<Kind::chain, Chain> {};
template <>
struct HandleOf<tca_halo> : Handled<Kind::halo, Halo> {};
template <>
struct HandleOf<tca_collective> : Handled<Kind::collective, raw::Collective> {};
template <>
struct HandleOf<tca_fold> : Handled<Kind::fold, Fold> {};
template <>
struct HandleOf<tca_counted_put> : Handled<Kind::counted_put, CountedPut> {};
template <>
struct HandleOf<tca_counted_arrival> : Handled<Kind::counted_arrival, CountedArrival> {};
template <>
struct HandleOf<tca_rounds> : Handled<Kind::rounds, HeldRounds> {};
template <>
struct HandleOf<tca_region> : Handled<Kind::region, Region> {};
template <>
struct HandleOf<tca_post> : Handled<Kind::post, Post> {};
template <>
struct HandleOf<tca_notices> : Handled<Kind::notices, Notices> {};

static_assert(sizeof(void*) == 8, "handles are numbers of 64 bits");

// A handle is the index of its slot in the lower half and its tag in the upper one. A tag holds a kind in the
// lower four bits, and above them the number of the slot's use, from 1 on; it comes round after 2^28 uses of
// one slot.
// All zero at first, without constructors: a compiler would run a million of them.
struct Slot {
  std::uint32_t plain_tag;
  std::uint32_t next_free;
  void* object;  // null: free

  std::atomic_ref<std::uint32_t> tag() { return std::atomic_ref(plain_tag); }
};

// A million, of which the system provides the pages that are touched. They stay where they are, since an old
// handle may lead to any.
inline constexpr std::uint32_t most_slots = 1u << 20;
extern constinit std::array<Slot, most_slots> slots;

// Keeps an object. Returns its handle. Throws Error{out_of_memory} where there are a million.
std::uint64_t add(Kind kind, void* object);
// Makes the handle a stale one.
void remove(std::uint64_t handle);
[[noreturn]] void fail_handle(Kind kind, std::uint64_t handle);

template <class Handle>
std::uint64_t number(Handle* handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

// Returns the object behind a handle; throws Misuse for what is none.
template <class Handle>
typename HandleOf<Handle>::Object& object(Handle* handle) {
  const std::uint64_t value = number(handle);
  const auto tag = static_cast<std::uint32_t>(value >> 32);
  const auto index = static_cast<std::uint32_t>(value);
  const bool is_kind = (tag & 15u) == static_cast<std::uint32_t>(HandleOf<Handle>::kind);
  // Acquire pairs with the release in `add`, if another thread has passed the handle on: the object is there.
  if (index >= most_slots || !is_kind || slots[index].tag().load(std::memory_order_acquire) != tag)
      [[unlikely]]
    fail_handle(HandleOf<Handle>::kind, value);
  return *static_cast<typename HandleOf<Handle>::Object*>(slots[index].object);
}

// Makes an object of these arguments, and a handle for it.
template <class Handle, class... Args>
Handle* make(Args&&... args) {
  using Object = typename HandleOf<Handle>::Object;
  auto made = std::make_unique<Object>(std::forward<Args>(args)...);
  const std::uint64_t value = add(HandleOf<Handle>::kind, made.get());
  static_cast<void>(made.release());
  return reinterpret_cast<Handle*>(value);
}

// Destroys the object behind a handle, if there is one.
template <class Handle>
void destroy(Handle* handle) {
  if (handle == nullptr) return;
  const std::unique_ptr<typename HandleOf<Handle>::Object> dying(&object(handle));
  remove(number(handle));
}

inline World& world_of(tca_world* handle) { return object(handle).world; }

}  // namespace tca::c
