// What became of every datagram of a link.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "trigger/link.hpp"

namespace tca::trigger {

class Seen {
 public:
  Seen(const Run& run, const Link& link);

  // Of a datagram that has come. False where it has come before.
  bool take(std::uint64_t sequence, bool has_slot);
  void answer(std::uint64_t sequence, bool is_late);

  // Whether all have come that are not dropped on purpose.
  bool is_complete() const { return came_ + planted_ >= fates_.size(); }
  std::uint64_t came() const { return came_; }
  std::uint64_t reordered() const { return reordered_; }  // that came behind a later one

  // Sequence numbers, ascending: of those that have not come, because they were dropped on purpose or for another
  // reason, that came when the ring had no free slot, and that were answered too late.
  std::vector<std::uint64_t> dropped() const { return all_of(Fate::dropped); }
  std::vector<std::uint64_t> lost() const { return all_of(Fate::lost); }
  std::vector<std::uint64_t> overrun() const { return all_of(Fate::overrun); }
  std::vector<std::uint64_t> late() const { return all_of(Fate::late); }
  std::vector<std::uint64_t> unanswered() const { return all_of(Fate::taken); }

 private:
  enum class Fate : std::uint8_t { dropped, lost, overrun, taken, answered, late };
  std::vector<std::uint64_t> all_of(Fate fate) const;

  Link link_;
  std::vector<Fate> fates_;
  std::uint64_t came_ = 0, planted_ = 0, reordered_ = 0, newest_ = 0;
};

}  // namespace tca::trigger
