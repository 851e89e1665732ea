// Waiting on a device without ever hanging: every loop that polls gives up when the world has met an error, when
// the partner is gone, or when the chain's time limit has passed, and tells the host for whom it waited.
#pragma once

#include "tca/device_chain.hpp"

namespace tca::device {

inline constexpr Word no_link = ~Word{0};  // another part of this rank, which tells for itself whom it lacks

// A wait of this rank has ended in vain: the host hears of whose, and those behind it end too.
TCA_DEVICE void end_in_vain(const Patience& patience) {
  store_relaxed(patience.gave_up, patience.chain);
  store_relaxed(patience.over, 1);
}

// Whether the rank of a link will never signal again. It has sent what it had to, perhaps since the last poll: only one that
// finds nothing after this says that it will not come.
TCA_DEVICE bool is_gone(const Patience& patience, Word link) {
  const Word rank = patience.ranks != nullptr ? load_relaxed(patience.ranks + link) : link;
  return load_relaxed(patience.gone + rank) != 0;
}

class Waiting {
 public:
  TCA_DEVICE Waiting(const Patience& patience, Word step) : patience_(patience), step_(step) {}

  // Once a poll has failed: false when there is no point in polling on. `link` is whose signal is missing, or no_link.
  TCA_DEVICE bool goes_on(Word link) { return ++polls_ % polls_between_glances != 0 || glance(link); }

  // The same for the lanes of a unit that poll together: false on all when there is no point for one.
  template <class Unit>
  TCA_DEVICE bool goes_on(Word link, const Unit& unit) {
    return ++polls_ % polls_between_glances != 0 || unit.all(glance(link));
  }

 private:
  // What has ended one wait of this rank ends those behind it, of which there may be thousands on a stream, with a load of
  // its own memory. The clock and the host's memory are looked at much more seldom.
  TCA_DEVICE bool glance(Word link) {
    if (load_relaxed(patience_.over) != 0) return false;
    if (polls_ % polls_between_looks != 0) return true;
    begin_ = look(patience_, step_, link, begin_);
    return begin_ != 0;
  }

  // When the wait began, or 0 to give up. Out of line and by value, so that what a poll counts stays in registers.
#ifdef __CUDACC__
  __host__ __device__ __noinline__
#endif
      static std::uint64_t
      look(const Patience& patience, Word step, Word link, std::uint64_t begin) {
    constexpr std::uint64_t long_ns =
        10'000'000;  // as long as this, the host would like to know who is missing
    if (load_relaxed(patience.abort) != 0) {
      store_relaxed(patience.over, 1);
      return 0;
    }
    constexpr std::uint64_t last_polls = 1;
    if (link != no_link && is_gone(patience, link))
      return begin == last_polls ? give_up(patience, step, link) : last_polls;
    give_way();
    const std::uint64_t now = now_ns();
    if (begin == 0 || begin == last_polls) return now;  // what it waited for at last has come after all
    if (now - begin < long_ns) return begin;
    if (link != no_link) store_relaxed(patience.waiting + link, step);
    if (now - begin < patience.limit_ns) return begin;
    return give_up(patience, step, link);
  }

  static TCA_DEVICE std::uint64_t give_up(const Patience& patience, Word step, Word link) {
    if (link != no_link) store_relaxed(patience.waiting + link, step);
    end_in_vain(patience);
    return 0;
  }

  const Patience& patience_;
  Word step_;
  Word polls_ = 0;
  std::uint64_t begin_ = 0;
};

}  // namespace tca::device
