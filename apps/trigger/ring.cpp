#include "trigger/ring.hpp"

#include <cstddef>

namespace tca::trigger {

SlotRing::SlotRing(World& world, int slots, std::uint32_t batch)
    : slots_(
          world.host_window<std::byte>(slots * static_cast<std::int64_t>(bytes_of_slot(batch)), "datagrams")),
      answers_(world.host_window<Answer>(std::int64_t{slots} * batch, "answers")),
      signals_(world.host_window<Signals>(1, "signals")),
      view_{.slots = slots_.data(),
            .answers = answers_.data(),
            .signals = signals_.data(),
            .slot_bytes = bytes_of_slot(batch),
            .size = static_cast<std::uint32_t>(slots),
            .batch = batch} {}

RingView SlotRing::device() const {
  RingView view = view_;
  const auto slots = slots_.device();
  const auto answers = answers_.device();
  const auto signals = signals_.device();
  view.slots = slots.parts[slots.rank];
  view.answers = answers.parts[answers.rank];
  view.signals = signals.parts[signals.rank];
  return view;
}

void SlotRing::fill(std::uint32_t events) {
  host().header(filled_)->events = events;
  ++filled_;
  events_ += events;
}

// Release: the kernel that loads the word, acquiring, sees the slots that it counts.
void SlotRing::publish() {
  device::fence_system();
  device::store_relaxed(&view_.signals->filled, events_ << 32 | (filled_ & 0xffffffffU));
}

void SlotRing::stop() { device::store_release(&view_.signals->stop, 1); }

}  // namespace tca::trigger
