// The ring of a rank: slots of host memory into which the kernel of the operating system writes datagrams, and from which
// they are answered, by the host or by a GPU that sees the same memory.
//
// Slots are numbered on and on, and slot n has its place at n modulo their number. `filled` slots have datagrams, `answered`
// ones have answers, and `freed` ones have been looked at by the host and may be used again: freed <= answered <= filled.
#pragma once

#include <cstdint>

#include "tca/window.hpp"
#include "tca/world.hpp"
#include "trigger/ring_view.hpp"

namespace tca::trigger {

// A slot has room for any datagram, in whole lines.
constexpr std::size_t bytes_of_slot(std::uint32_t batch) { return (most_bytes(batch) + 63) / 64 * 64; }

inline constexpr int fewest_slots = 64, most_slots = 1 << 20;

class SlotRing {
 public:
  // Collective. Datagrams have up to `batch` events.
  SlotRing(World& world, int slots, std::uint32_t batch);

  const RingView& host() const { return view_; }
  // The same as kernels see it.
  RingView device() const;

  std::uint64_t filled() const { return filled_; }
  std::uint64_t events() const { return events_; }  // in the filled slots, from the first one on
  std::uint64_t freed() const { return freed_; }
  std::uint64_t room() const { return view_.size - (filled_ - freed_); }

  // The next slot has a datagram of so many events, or of none. `publish` tells a kernel.
  void fill(std::uint32_t events);
  void publish();
  void free() { ++freed_; }
  void stop();

 private:
  Window<std::byte> slots_;
  Window<Answer> answers_;
  Window<Signals> signals_;
  RingView view_;
  std::uint64_t filled_ = 0, events_ = 0, freed_ = 0;
};

}  // namespace tca::trigger
