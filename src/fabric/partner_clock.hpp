// When a partner began its step, by the clock of this rank, where the two have clocks of their own: GPUs, and hosts
// between which only MPI goes.
//
// Ahead of its message a rank sends a stamp: when it began its start, by its own clock, and how long before it had seen
// the stamp of its partner's step before. Two figures come of that, as in NTP:
//   - half of the shortest round trip of two stamps, which takes no common clock: what a stamp takes to cross;
//   - the least difference between when a stamp was seen here and what it says: that of the clocks, and a crossing.
// Only stamps count that were looked for until they came; the others were seen late. Clocks drift apart, those of GPUs
// by up to 100 us a second, so the least difference is that of the last stamps only.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tca::fabric {

// All times are in nanoseconds.
struct Stamp {
  std::int64_t started = 0;  // by the sender's clock
  std::int64_t held = 0;     // between the partner's last stamp and that; 0 where it was not seen
};

class PartnerClock {
 public:
  // Takes in a stamp that was looked for until it came, at `seen`. `started_before` is when this rank began its step
  // before, whose stamp the partner has held; 0 where there was none.
  void see(const Stamp& stamp, std::int64_t seen, std::int64_t started_before);

  // Returns a time of the partner by the clock of this rank; nothing as long as no stamp was seen.
  std::optional<std::int64_t> here(std::int64_t there) const;

  // Returns what a stamp takes to cross; 0 where only one of the two sends, and nobody knows.
  std::int64_t crossing() const { return round_trip_ == none ? 0 : round_trip_ / 2; }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  // The stamps of a period, which ends after so many or after so long.
  static constexpr int most_stamps = 16;
  static constexpr std::int64_t longest_ns = 5'000'000;

  std::int64_t round_trip_ = none;
  std::int64_t least_ = none, least_before_ = none;  // differences in this period and in the one before
  std::int64_t began_ = 0;
  int stamps_ = 0;
};

}  // namespace tca::fabric
