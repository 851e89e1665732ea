#include "fabric/cuda/compile/times.hpp"

#include <algorithm>
#include <span>

namespace tca::cuda {

using device::TimedLink;
using device::TimeRecord;

namespace {

std::int64_t ns(std::uint64_t time) { return static_cast<std::int64_t>(time); }

const TimeRecord& at(std::span<const TimeRecord> ring, Word step) { return ring[step % TimeRecord::kept]; }

}  // namespace

void tell_of_records(std::span<const TimeRecord> ring, Word first, Word last, int from,
                     fabric::PartnerClock& clock, fabric::Arrivals& arrivals) {
  for (Word step = first; step != last + 1; ++step) {
    const TimeRecord& record = at(ring, step);
    if (record.step != step) {
      arrivals.add_untimed(from, 1);
      continue;
    }
    const TimeRecord& before = at(ring, step - 1);
    if (record.stamp_looked_for != 0)
      clock.see({ns(record.started_there), record.held}, ns(record.stamp_seen),
                before.step == step - 1 ? ns(before.started) : 0);
    arrivals.add({.from = from,
                  .step = step,
                  .sender_started = clock.here(ns(record.started_there)).value_or(ns(record.stamp_seen)),
                  .started = ns(record.started),
                  .looked = ns(record.looked),
                  // Parts of a kernel reach a wait one after another.
                  .seen = ns(std::max({record.seen, record.looked, record.started})),
                  // Whatever follows a stamp that was not there at first was not there either.
                  .there_at_once = record.late_step != step && record.stamp_looked_for == 0,
                  .is_of_host = false});
  }
}

void RecordedTimes::tell() {
  Word finished = 0;
  copier_.read(reinterpret_cast<const std::byte*>(steps_), std::as_writable_bytes(std::span(&finished, 1)));
  if (finished == told_) return;
  for (Sender& sender : senders_) tell_of(sender, finished);
  told_ = finished;
}

void RecordedTimes::tell_of(Sender& sender, Word finished) {
  Word first = told_ + 1;
  const Word steps = finished - told_;
  if (steps > TimeRecord::kept) {
    arrivals_.add_untimed(sender.rank, steps - TimeRecord::kept);
    first = finished - TimeRecord::kept + 1;
  }
  std::vector<TimeRecord> ring(TimeRecord::kept);
  copier_.read(reinterpret_cast<const std::byte*>(sender.records), std::as_writable_bytes(std::span(ring)));
  tell_of_records(ring, first, finished, sender.rank, sender.clock, arrivals_);
}

TimedLinks::TimedLinks(const fabric::ChainSpec& share) : arrivals_(share.arrivals) {
  if (arrivals_ == nullptr) return;
  for (const fabric::Put& put : share.incoming)
    if (!put.elements) senders_[put.from];
}

void TimedLinks::take_room(Room& room) {
  for (auto& [rank, sender] : senders_) {
    sender.stamps = room.take(TimedLink::stamps * sizeof(device::Packet));
    sender.records = room.take(TimeRecord::kept * sizeof(TimeRecord));
    sender.last = room.take(2 * sizeof(std::uint64_t));
  }
}

// No piece begins at 0, which means that there is none.
void TimedLinks::tell(base::Writer& writer, int partner) const {
  const auto sender = senders_.find(partner);
  writer.put(sender == senders_.end() ? std::uint64_t{0} : sender->second.stamps);
}

void TimedLinks::hear(base::Reader& reader, int partner, bool is_for_me) {
  const auto stamps = reader.get<std::uint64_t>();
  if (is_for_me && stamps != 0) their_stamps_[partner] = stamps;
}

device::Times TimedLinks::build(const std::map<int, Word>& links, const Word* steps, Room& room, Inbox& inbox,
                                HostCopier& copier, std::unique_ptr<RecordedTimes>& recorded) const {
  if (arrivals_ == nullptr || links.empty()) return {};
  recorded = std::make_unique<RecordedTimes>(*arrivals_, copier, steps);
  std::vector<TimedLink> all(links.size());
  for (const auto& [rank, link] : links) {
    TimedLink& timed = all[link];
    if (const auto stamps = their_stamps_.find(rank); stamps != their_stamps_.end())
      timed.stamps_out = inbox.at<device::Packet>(rank, stamps->second);
    const auto sender = senders_.find(rank);
    if (sender == senders_.end()) continue;
    timed.stamps_in = inbox.own<device::Packet>(sender->second.stamps);
    timed.records = inbox.own<TimeRecord>(sender->second.records);
    timed.last = inbox.own<std::uint64_t>(sender->second.last);
    recorded->add_sender(rank, timed.records);
  }
  auto* const there = inbox.own<TimedLink>(room.take(all.size() * sizeof(TimedLink)));
  copier.write(reinterpret_cast<std::byte*>(there), std::as_bytes(std::span(all)));
  return {there, static_cast<Word>(all.size())};
}

}  // namespace tca::cuda
