// A Timeline computes a transfer that has its path to itself. It takes exactly the steps that Traffic takes
// for each packet, but without events, and skips whole stretches at once as soon as the steps repeat.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/net/traffic.hpp"

namespace tca::net {

// A transfer laid out on the machine: the links that its requests and its data take, and how it is cut up.
struct RoutedTransfer {
  std::vector<Stage> asking;  // empty when data is sent unrequested
  std::vector<Stage> data;
  std::uint64_t rows = 0, row_bytes = 0;
  std::uint32_t request_bytes = 0, packet_bytes = 0;  // equal when data is sent unrequested
  des::Time request_gap = 0, row_gap = 0, memory_gap = 0;
  // The port from which its sender also sends its flags. Whatever is sent there first arrives first.
  LinkId source = no_link;
  std::optional<des::Time> tag_back = {};  // like that of a DmaKind
  bool own_tags = false;                   // no other transfer uses its tags
  bool inside = false;                     // tags return on arrival at the target instead of in the NIC
  des::Time begin = 0;
  std::vector<des::Time> tags;  // when each tag is available, in order; no more tags than requests

  std::uint64_t per_row() const { return (row_bytes + request_bytes - 1) / request_bytes; }
  std::uint64_t requests() const { return per_row() * rows; }
  std::uint32_t bytes_of(std::uint64_t request) const;
  std::uint64_t bytes_before(std::uint64_t request) const;
  std::uint64_t packets_before(std::uint64_t request) const;
};

// The links that packets of one kind take, and what each link remembers of earlier packets.
class Lane {
 public:
  // A packet on a link:
  // - at: when the link took it, which is once it is known when there will be room;
  // - busy: how long it occupies the link;
  // - busy_until: the end of that, from which on its slot at the end of the previous link is free;
  // - head, tail: when these reach the end of the link.
  struct Booking {
    std::size_t stage;
    des::Time at, busy, busy_until, head, tail;
    std::uint32_t bytes;
    bool last;  // of its request
  };

  // Starts afresh and reuses its memory. The stages must outlive the computation.
  void begin(const std::vector<Stage>& stages);

  // Sends a packet that is given to the first link at `at`, and passes each booking to `book`. Returns when
  // the head reached the NIC (or its target, if it passes no NIC) and when it reached the target, and when
  // the tail reached the NIC.
  struct Passing {
    des::Time nic, end, nic_tail;
  };
  template <class Book>
  Passing send(des::Time at, std::uint32_t bytes, bool last, const Book& book);

  // The first link is first occupied with something else for `span`.
  void delay(des::Time at, des::Time span) { busy_until_[0] = std::max(busy_until_[0], at) + span; }

  const std::vector<Stage>& stages() const { return *stages_; }
  des::Time busy_until(std::size_t stage) const { return busy_until_[stage]; }
  des::Time first_start(std::size_t stage) const { return first_start_[stage]; }
  // When the last packet was given to a link, and when its slot at the end of that link was free again.
  des::Time given(std::size_t stage) const { return given_[stage]; }
  des::Time freed(std::size_t stage) const { return room_[room_slot(stage, sent_ - 1)]; }
  void shift(des::Time span);

 private:
  std::size_t room_slot(std::size_t stage, std::uint64_t packet) const {
    return first_room_[stage] + (packet & (stages()[stage].kind->credit_slots - 1));
  }
  // The packet's slot at the end of a link is free from `free` on, which becomes known at `told`.
  void leave(std::size_t stage, des::Time free, des::Time told) {
    if (stages()[stage].kind->credits == 0) return;
    const std::size_t slot = room_slot(stage, sent_);
    room_[slot] = free + stages()[stage].kind->latency;
    told_[slot] = told;
  }

  const std::vector<Stage>* stages_ = nullptr;
  std::vector<des::Time> busy_until_, first_start_, given_;
  std::vector<des::Time> room_, told_;  // by slot: when it is free again, and when that became known
  std::vector<std::size_t> first_room_;
  std::uint64_t sent_ = 0;
};

class Timeline {
 public:
  // Starts afresh and reuses its memory. The transfer must outlive the computation.
  void begin(const RoutedTransfer& transfer);

  std::uint64_t next() const { return next_; }  // the next request to be computed
  bool over() const { return next_ == requests_; }

  // When the next request could be sent if it had a tag, and when it is sent.
  des::Time ready() const;
  des::Time next_issue() const { return std::max(ready(), tags_[tag_]); }
  // Computes the next request, and passes each booking on either lane to `book`.
  template <class Book>
  void step(const Book& book);
  // Skips whole periods that are over at `until`. Returns whether there were any.
  bool leap(des::Time until);

  // Of the last request computed so far:
  des::Time issued() const { return issued_; }    // when it was sent
  des::Time passed() const { return passed_; }    // when all of its data had reached the NIC
  des::Time arrived() const { return arrived_; }  // when all of its data had reached the target
  // Returns the share of `tags` tags that the transfer needs, in parts of `whole`. For each request it
  // counts the time for which the first one, which waited for no other, held its tag.
  std::uint64_t tags_needed(std::uint64_t tags, std::uint64_t whole) const;
  // Returns when each tag is available again, the next one first.
  std::vector<des::Time> tags() const;
  const Lane& asking() const { return asking_; }
  const Lane& data() const { return data_; }

 private:
  void return_tag(des::Time at);
  void remember();

  const RoutedTransfer* transfer_ = nullptr;
  Lane asking_, data_;
  std::uint64_t per_row_ = 0, requests_ = 0;
  std::uint64_t unit_ = 0;       // number of requests after which the sizes repeat
  std::uint64_t period_ = 0;     // a multiple of unit_, and no fewer than there are tags
  std::vector<des::Time> tags_;  // a ring: when each is available again, in order from `tag_` on
  std::size_t tag_ = 0;
  des::Time tags_shared_until_ = 0;  // until then other transfers may hold tags
  std::uint64_t next_ = 0, same_ = 0, known_ = 0;
  des::Time issued_ = 0, passed_ = 0, arrived_ = 0, held_ = 0, last_span_ = -1;
  std::vector<des::Time> arrived_before_, passed_before_;  // of the requests of the last period
};

template <class Book>
Lane::Passing Lane::send(des::Time at, std::uint32_t bytes, bool last, const Book& book) {
  Passing passing{des::never, 0, 0};
  des::Time ready = at, tail = at;
  const std::size_t count = stages().size();
  for (std::size_t i = 0; i < count; ++i) {
    const Stage& stage = stages()[i];
    const LinkClass& kind = *stage.kind;
    des::Time start = std::max(ready, busy_until_[i]);
    if (kind.credits > 0 && sent_ >= kind.credits) {
      const std::size_t slot = room_slot(i, sent_ - kind.credits);
      start = std::max(start, room_[slot]);
      at = std::max(at, told_[slot]);
    }
    if (sent_ == 0) first_start_[i] = start;
    given_[i] = at;
    const des::Time busy = kind.wire_time(bytes, stage.flags);
    busy_until_[i] = std::max(start + busy, tail);
    if (i > 0) leave(i - 1, busy_until_[i], at);
    tail = busy_until_[i] + kind.latency;
    const des::Time head = kind.whole ? tail : start + kind.latency + kind.lead(stage.flags);
    ready = head + stage.hop;
    book(*this, Booking{i, at, busy, busy_until_[i], head, tail, bytes, last});
    at = head;
    if (stage.to_nic) passing.nic = head, passing.nic_tail = tail;
  }
  leave(count - 1, tail, at);
  ++sent_;
  passing.end = at;
  passing.nic = std::min(passing.nic, at);
  return passing;
}

template <class Book>
void Timeline::step(const Book& book) {
  issued_ = next_issue();
  std::uint32_t left = transfer_->bytes_of(next_);
  des::Time given = issued_;
  if (!transfer_->asking.empty()) {
    asking_.delay(issued_, transfer_->request_gap);
    given = asking_.send(issued_, 0, true, book).end;
  }
  data_.delay(given, transfer_->memory_gap);
  des::Time tail = 0;
  for (std::uint32_t bytes; left > 0; left -= bytes) {
    bytes = std::min(left, transfer_->packet_bytes);
    const Lane::Passing passing = data_.send(given, bytes, bytes == left, book);
    passed_ = transfer_->inside ? passing.end : passing.nic;
    arrived_ = passing.end;
    tail = passing.nic_tail;
  }
  const des::Time back = transfer_->tag_back ? tail + *transfer_->tag_back : passed_;
  return_tag(back);
  if (next_ == 0) held_ = back - issued_;
  ++next_;
  remember();
}

}  // namespace tca::net
