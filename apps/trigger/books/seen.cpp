#include "trigger/books/seen.hpp"

namespace tca::trigger {

Seen::Seen(const Run& run, const Link& link) : link_(link), fates_(link.datagrams(run), Fate::lost) {
  for (std::uint64_t index = 0; index < fates_.size(); ++index) {
    if (!run.faults.loses(run.physics.seed, link.sequence(index))) continue;
    fates_[index] = Fate::dropped;
    ++planted_;
  }
}

bool Seen::take(std::uint64_t sequence, bool has_slot) {
  Fate& fate = fates_[link_.index(sequence)];
  if (fate != Fate::lost && fate != Fate::dropped) return false;
  fate = has_slot ? Fate::taken : Fate::overrun;
  if (sequence < newest_) ++reordered_;
  newest_ = std::max(newest_, sequence);
  ++came_;
  return true;
}

void Seen::answer(std::uint64_t sequence, bool is_late) {
  fates_[link_.index(sequence)] = is_late ? Fate::late : Fate::answered;
}

std::vector<std::uint64_t> Seen::all_of(Fate fate) const {
  std::vector<std::uint64_t> found;
  for (std::uint64_t index = 0; index < fates_.size(); ++index)
    if (fates_[index] == fate) found.push_back(link_.sequence(index));
  return found;
}

}  // namespace tca::trigger
