#include "model/net/timeline.hpp"

namespace tca::net {

using des::Time;

std::uint32_t RoutedTransfer::bytes_of(std::uint64_t request) const {
  const std::uint64_t at = request % per_row() * request_bytes;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(request_bytes, row_bytes - at));
}

std::uint64_t RoutedTransfer::bytes_before(std::uint64_t request) const {
  return request / per_row() * row_bytes + request % per_row() * request_bytes;
}

std::uint64_t RoutedTransfer::packets_before(std::uint64_t request) const {
  const auto packets = [this](std::uint64_t bytes) { return (bytes + packet_bytes - 1) / packet_bytes; };
  const std::uint64_t full = packets(request_bytes), last = packets(bytes_of(per_row() - 1));
  return request / per_row() * ((per_row() - 1) * full + last) + request % per_row() * full;
}

void Lane::begin(const std::vector<Stage>& stages) {
  stages_ = &stages;
  sent_ = 0;
  busy_until_.clear();
  first_room_.clear();
  std::size_t slots = 0;
  for (const Stage& stage : stages) {
    busy_until_.push_back(stage.free);
    first_room_.push_back(slots);
    slots += stage.kind->credit_slots;
  }
  first_start_.assign(stages.size(), 0);
  given_.assign(stages.size(), 0);
  room_.assign(slots, 0);
  told_.assign(slots, 0);
}

void Lane::shift(Time span) {
  for (auto* times : {&busy_until_, &given_, &room_, &told_}) {
    for (Time& time : *times) time += span;
  }
}

void Timeline::begin(const RoutedTransfer& transfer) {
  transfer_ = &transfer;
  asking_.begin(transfer.asking);
  data_.begin(transfer.data);
  per_row_ = transfer.per_row();
  requests_ = transfer.requests();
  tags_ = transfer.tags;
  tags_shared_until_ = *std::max_element(tags_.begin(), tags_.end());
  // In a row of many requests, all but the last are alike, so the period lies within the row.
  unit_ = per_row_ > 4 * tags_.size() ? 1 : per_row_;
  period_ = (tags_.size() + unit_ - 1) / unit_ * unit_;
  arrived_before_.assign(period_, 0);
  passed_before_.assign(period_, 0);
  tag_ = 0;
  next_ = same_ = known_ = 0;
  issued_ = transfer.begin;
  passed_ = arrived_ = held_ = 0;
  last_span_ = -1;
}

Time Timeline::ready() const {
  const bool new_row = next_ > 0 && next_ % per_row_ == 0;
  return issued_ + (new_row ? transfer_->row_gap : 0);
}

std::uint64_t Timeline::tags_needed(std::uint64_t tags, std::uint64_t whole) const {
  const double held = static_cast<double>(held_) * static_cast<double>(requests_);
  const double had = static_cast<double>(passed_ - transfer_->begin) * static_cast<double>(tags);
  return static_cast<std::uint64_t>(static_cast<double>(whole) * std::min(held / had, 1.0));
}

std::vector<Time> Timeline::tags() const {
  std::vector<Time> tags = tags_;
  std::rotate(tags.begin(), tags.begin() + static_cast<std::ptrdiff_t>(tag_), tags.end());
  return tags;
}

// Returns the tag of the last request sent, which had taken the first tag. It is put after those that are
// available earlier. These need not be all others, since other trains may still be waiting for data from a
// slower memory.
void Timeline::return_tag(Time at) {
  std::size_t slot = tag_;
  tag_ = tag_ + 1 == tags_.size() ? 0 : tag_ + 1;
  while (slot != tag_) {
    const std::size_t before = (slot == 0 ? tags_.size() : slot) - 1;
    if (tags_[before] <= at) break;
    tags_[slot] = tags_[before];
    slot = before;
  }
  tags_[slot] = at;
}

// Records a request and counts how many have repeated. The steps repeat if, for a whole period, everything
// happens the same span later than one period before.
void Timeline::remember() {
  const std::uint64_t slot = (next_ - 1) % period_;
  const Time span = arrived_ - arrived_before_[slot];
  const bool again = known_ >= period_ && span == passed_ - passed_before_[slot] && span == last_span_;
  same_ = again ? same_ + 1 : 0;
  last_span_ = span;
  ++known_;
  arrived_before_[slot] = arrived_;
  passed_before_[slot] = passed_;
  const bool row_ends = unit_ == 1 && next_ % per_row_ == 0;
  if (row_ends || issued_ < tags_shared_until_) known_ = same_ = 0;
}

bool Timeline::leap(Time until) {
  if (same_ < period_ || last_span_ <= 0) return false;
  // The last request may be shorter, and within a row what follows the row is not yet known.
  const std::uint64_t end = unit_ == 1 ? next_ - next_ % per_row_ + per_row_ - 1 : requests_;
  if (next_ >= end || until <= arrived_) return false;
  // The last period before `until` is computed packet by packet, since its slots may not be free again yet.
  const auto over = static_cast<std::uint64_t>((until - arrived_) / last_span_);
  const std::uint64_t periods = std::min((end - next_) / period_, over - std::min<std::uint64_t>(over, 1));
  if (periods == 0) return false;
  const Time span = static_cast<Time>(periods) * last_span_;
  next_ += periods * period_;
  asking_.shift(span);
  data_.shift(span);
  for (auto* times : {&tags_, &arrived_before_, &passed_before_}) {
    for (Time& time : *times) time += span;
  }
  issued_ += span;
  passed_ += span;
  arrived_ += span;
  return true;
}

}  // namespace tca::net
