// What kernels keep of the messages of a timed chain (tca/timing.hpp), for the host to read after a step.
//
// Each step begins with a stamp to every partner, ahead of the message: one packet. The receiver looks for the stamps
// first and then for the message, and keeps what it has seen in a ring of records in its own device memory. The host
// makes times of them (fabric/partner_clock.hpp): no two GPUs have a common clock.
//
// The clock is %globaltimer, which is one for all multiprocessors of a GPU: parts of a message are sent and
// received by several, and by different ones from step to step. clock64 is finer, but counts the cycles of
// one multiprocessor, at a rate that changes. How far %globaltimer steps at a time depends on the GPU;
// times are as coarse as that (tests/gpu/timing_test.cpp measures it).
//
// Only groups with `times()` know of all this (TimedBlock): for others the functions below are empty, so
// that chains without times compile as if they did not exist.
#pragma once

#include "tca/device/chain.hpp"

namespace tca {

namespace device {

// What a rank has seen of a message, in nanoseconds of its own clock except for `started_there`.
struct TimeRecord {
  static constexpr Word kept = 1024;  // of each sender, the last ones

  std::uint64_t started_there = 0, started = 0;  // when either began its start
  std::uint64_t looked = 0;                      // when this rank first looked for what comes
  std::uint64_t stamp_seen = 0;
  std::uint64_t seen = 0;     // when the last part of the message was seen
  Word held = 0;              // see fabric::Stamp
  Word step = 0;              // set last; of another step while there is none
  Word looked_step = 0;       // the step to which `looked` belongs
  Word late_step = 0;         // this step where a part of the message was not there at the first look
  Word stamp_looked_for = 0;  // 1 where the stamp was not there at the first look
};

// A partner of a timed chain.
struct TimedLink {
  static constexpr Word stamps = 8;                     // more than the steps that a partner may be ahead
  static constexpr std::uint64_t patience_ns = 20'000;  // with a stamp that may be under way

  Packet* stamps_in = nullptr;    // here; null where the partner sends nothing
  Packet* stamps_out = nullptr;   // at the partner; null where it gets nothing
  TimeRecord* records = nullptr;  // null where the partner sends nothing
  std::uint64_t* last = nullptr;  // two words: when the partner's last stamp was seen, and that stamp's step

  TCA_DEVICE TimeRecord& record(Word step) const { return records[step % TimeRecord::kept]; }
};

struct Times {
  const TimedLink* links = nullptr;  // in device memory
  Word count = 0;
};

}  // namespace device

/// A timed chain as seen by kernels that take times (TimedBlockChain, TimedGridChain). Others may start it
/// as well, by Chain::device; the messages of their steps have no times.
struct DeviceTimedChain : DeviceChain {
  device::Times times;
};

namespace device {

template <class Group>
concept TakesTimes = requires(const Group& group) {
  group.times();
};

#ifdef __CUDA_ARCH__
TCA_DEVICE void keep_latest(std::uint64_t* time, std::uint64_t now) {
  asm volatile("red.relaxed.gpu.global.max.u64 [%0], %1;" ::"l"(time), "l"(now) : "memory");
}
#else
inline void keep_latest(std::uint64_t* time, std::uint64_t now) {
  std::atomic_ref latest(*time);
  std::uint64_t before = latest.load(std::memory_order_relaxed);
  while (before < now && !latest.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}
#endif

// Calls visit(link) for this lane's share of the links.
template <class Group, class Visit>
TCA_DEVICE void for_links(const Group& group, const Visit& visit) {
  const Times& times = group.times();
  for (Word l = group.part() + group.lane() * group.parts(); l < times.count;
       l += group.lanes() * group.parts())
    visit(times.links[l]);
}

// A step begins: it is noted, and the partners are told. Called by every lane of a group, like those below.
template <class Group>
TCA_DEVICE void note_start(const Group& group, Word step) {
  if constexpr (TakesTimes<Group>) {
    for_links(group, [&](const TimedLink& link) {
      const std::uint64_t now = now_ns();
      std::uint64_t held = 0;
      if (link.records != nullptr) {
        link.record(step).started = now;
        if (link.last[0] != 0 && static_cast<Word>(link.last[1]) == step - 1) held = now - link.last[0];
      }
      if (link.stamps_out == nullptr) return;
      const Word fitting = held < ~Word{0} ? static_cast<Word>(held) : 0;
      link.stamps_out[step % TimedLink::stamps].write(
          Packet::of({static_cast<Word>(now), static_cast<Word>(now >> 32), fitting}, step));
    });
  }
}

// Takes in a stamp if it has arrived.
TCA_DEVICE bool take_stamp(const TimedLink& link, Word step, bool looked_for) {
  const Packet stamp = link.stamps_in[step % TimedLink::stamps].read_once();
  if (!stamp.carries(step)) return false;
  TimeRecord& record = link.record(step);
  record.stamp_seen = now_ns();
  record.started_there = stamp.data();
  record.held = stamp.word(2);
  record.stamp_looked_for = looked_for ? 1 : 0;
  link.last[0] = record.stamp_seen;
  link.last[1] = step;
  return true;
}

// Before the message is looked for. A stamp that does not arrive soon, or at once if the group `may_wait`
// for nothing, is left for later: the partner may be late, or start its step in a way that sends none.
template <class Group>
TCA_DEVICE void note_look(const Group& group, Word step, bool may_wait) {
  if constexpr (TakesTimes<Group>) {
    for_links(group, [&](const TimedLink& link) {
      if (link.records == nullptr) return;
      TimeRecord& record = link.record(step);
      const bool is_first = record.looked_step != step;
      if (is_first) {
        record.looked = now_ns();
        record.looked_step = step;
      }
      if (static_cast<Word>(link.last[1]) == step) return;
      const std::uint64_t begin = now_ns();
      bool looked_for = !is_first;
      // If the stamp before has not arrived either, there may be none.
      const bool waits = may_wait && (step == 1 || static_cast<Word>(link.last[1]) == step - 1);
      while (!take_stamp(link, step, looked_for) && waits && now_ns() - begin < TimedLink::patience_ns)
        looked_for = true;
    });
  }
}

// A part of the message of a link is in its place, or was not there when this lane first looked.
template <class Group>
TCA_DEVICE void note_arrival(const Group& group, Word link, Word step, bool at_once,
                             bool is_last_lane = true) {
  if constexpr (TakesTimes<Group>) {
    const TimedLink& from = group.times().links[link];
    if (from.records == nullptr) return;
    TimeRecord& record = from.record(step);
    if (!at_once) store_relaxed(&record.late_step, step);
    if (is_last_lane) keep_latest(&record.seen, now_ns());
  }
}
template <class Group>
TCA_DEVICE void note_missing(const Group& group, Word link, Word step) {
  if constexpr (TakesTimes<Group>) {
    const TimedLink& from = group.times().links[link];
    if (from.records != nullptr) store_relaxed(&from.record(step).late_step, step);
  }
}

// The message has arrived at this part. A stamp may be overtaken by the message that it went ahead of, and
// is waited for if the one before has arrived.
template <class Group>
TCA_DEVICE void note_end(const Group& group, Word step) {
  if constexpr (TakesTimes<Group>) {
    for_links(group, [&](const TimedLink& link) {
      if (link.records == nullptr) return;
      bool has_stamp = static_cast<Word>(link.last[1]) == step || take_stamp(link, step, false);
      const bool is_expected = step == 1 || static_cast<Word>(link.last[1]) == step - 1;
      const std::uint64_t begin = now_ns();
      while (!has_stamp && is_expected && now_ns() - begin < TimedLink::patience_ns)
        has_stamp = take_stamp(link, step, false);
      if (has_stamp) link.record(step).step = step;
    });
  }
}

}  // namespace device

}  // namespace tca
