// Waits in kernels that never hang: every polling loop gives up when the world has met an error, when the
// partner is gone, or when the chain's time limit has passed, and reports to the host which rank it waited
// for.
#pragma once

#include "tca/device/chain.hpp"

namespace tca::device {

// Sentinel: the wait is on another part of this rank, which reports its own missing partner.
inline constexpr Word no_link = ~Word{0};

// Ends a wait that has failed: tells the host which chain it belonged to, and ends the waits behind it.
TCA_DEVICE void end_wait_in_vain(const WaitLimits& limits) {
  store_relaxed(limits.gave_up, limits.chain);
  store_relaxed(limits.over, 1);
}

// Whether the rank of a link will never signal again. Its last signal may have arrived since the last poll,
// so a wait polls once more after this before it fails.
TCA_DEVICE bool is_gone(const WaitLimits& limits, Word link) {
  const Word rank = limits.ranks != nullptr ? load_relaxed(limits.ranks + link) : link;
  return load_relaxed(limits.gone + rank) != 0;
}

class BoundedWait {
 public:
  TCA_DEVICE BoundedWait(const WaitLimits& limits, Word step) : limits_(limits), step_(step) {}

  // Called once a poll has failed; false when there is no point in polling on. `link` is whose signal is
  // missing, or no_link.
  TCA_DEVICE bool keep_polling(Word link) { return ++polls_ % polls_between_checks != 0 || check_flag(link); }
  // The same if it takes a while to say whose is missing.
  template <class Missing>
  TCA_DEVICE bool keep_polling_for(const Missing& missing) {
    return ++polls_ % polls_between_checks != 0 || check_flag(missing());
  }

  // The same for the lanes of a unit that poll together: false on all of them when there is no point for one.
  template <class Unit>
  TCA_DEVICE bool keep_polling(Word link, const Unit& unit) {
    return ++polls_ % polls_between_checks != 0 || unit.all(check_flag(link));
  }

 private:
  // Looks at `over`, in the GPU's own memory: once a wait of this rank has failed, those behind it end too,
  // of which there may be thousands on a stream. It looks at the clock and the host's memory much less
  // often.
  TCA_DEVICE bool check_flag(Word link) {
    if (load_relaxed(limits_.over) != 0) return false;
    if (polls_ % polls_between_host_checks != 0) return true;
    begin_ = check_host(limits_, step_, link, begin_);
    return begin_ != 0;
  }

  // Returns when the wait began, or 0 to give up. It is out of line and takes its arguments by value, so that
  // the counts of a poll stay in registers.
#ifdef __CUDACC__
  __host__ __device__ __noinline__
#endif
      static std::uint64_t
      check_host(const WaitLimits& limits, Word step, Word link, std::uint64_t begin) {
    // A wait of this length tells the host which rank is missing.
    constexpr std::uint64_t long_ns = 10'000'000;
    if (load_relaxed(limits.abort) != 0) {
      store_relaxed(limits.over, 1);
      return 0;
    }
    // Used in place of a time: the partner is gone, and the wait makes its last polls.
    constexpr std::uint64_t last_polls = 1;
    if (link != no_link && is_gone(limits, link))
      return begin == last_polls ? give_up(limits, step, link) : last_polls;
    yield();
    const std::uint64_t now = now_ns();
    if (begin == 0 || begin == last_polls) return now;  // the last polls have found what they were for
    if (now - begin < long_ns) return begin;
    if (link != no_link) store_relaxed(limits.waiting + link, step);
    if (now - begin < limits.limit_ns) return begin;
    return give_up(limits, step, link);
  }

  static TCA_DEVICE std::uint64_t give_up(const WaitLimits& limits, Word step, Word link) {
    if (link != no_link) store_relaxed(limits.waiting + link, step);
    end_wait_in_vain(limits);
    return 0;
  }

  const WaitLimits& limits_;
  Word step_;
  Word polls_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace tca::device
