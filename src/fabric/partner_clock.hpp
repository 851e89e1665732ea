// When a partner began its step, by this rank's clock, if the two have separate clocks: GPUs, and hosts
// connected only by MPI.
//
// Ahead of its message a rank sends a stamp: when it began its start, by its own clock, and for how long it
// had already had the stamp of its partner's previous step. Two figures follow, as in NTP:
//   - half of the shortest round trip of two stamps, with no common clock: the time for a stamp to cross;
//   - the least difference between when a stamp was seen here and what it says: clock offset and crossing.
// Only stamps that were being waited for when they arrived count; the others were seen late. Clocks drift
// apart, those of GPUs by up to 100 us a second, so the least difference is taken over the latest stamps
// only.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

namespace tca::fabric {

// All times are in nanoseconds.
struct Stamp {
  std::int64_t started = 0;  // by the sender's clock
  std::int64_t held = 0;     // from seeing the partner's last stamp until then; 0 if it was not seen
};

class PartnerClock {
 public:
  // Records a stamp that was being waited for when it arrived, at `seen`. `started_before` is when this
  // rank began its previous step, whose stamp the partner has held; 0 if there was none.
  void see(const Stamp& stamp, std::int64_t seen, std::int64_t started_before);

  // Converts a time of the partner's to this rank's clock; nothing while no stamp has been seen.
  std::optional<std::int64_t> here(std::int64_t there) const;

  // Returns the time that a stamp takes to cross; 0 if only one of the two sends, in which case it cannot
  // be known.
  std::int64_t crossing() const { return round_trip_ == none ? 0 : round_trip_ / 2; }

 private:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  // The stamps in a period, which ends after this many or after this long.
  static constexpr int most_stamps = 16;
  static constexpr std::int64_t longest_ns = 5'000'000;

  std::int64_t round_trip_ = none;
  std::int64_t least_ = none, least_before_ = none;  // differences in this period and in the previous one
  std::int64_t began_ = 0;
  int stamps_ = 0;
};

}  // namespace tca::fabric
