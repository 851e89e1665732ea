// A queue as a timing wheel: a circle of buckets, each a power of two of picoseconds wide, a bitmap of the
// occupied buckets, and a heap for events that are more than a turn ahead.
//
// A bucket is sorted once, when its turn comes; the others are unordered lists. So an event costs a push
// onto a list and its share of sorting a few events, however many are pending.
#pragma once

#include <cstdint>
#include <vector>

#include "model/des/heap.hpp"
#include "model/des/large.hpp"

namespace tca::des {

class Wheel final : public Queue {
 public:
  // A bucket spans 2^bucket_bits picoseconds and a turn has 2^count_bits buckets. Wide buckets make sorting
  // more expensive; narrow ones send more events into the heap.
  explicit Wheel(unsigned bucket_bits = 6, unsigned count_bits = 14);

  void push(const Event& event) override;
  bool pop(Time until, Event& event) override;
  std::size_t size() const override { return open() + late_.size() + on_wheel_ + ahead_.size(); }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t chunk = 15;

  // A part of a bucket's list. It holds several events side by side, since each step along a list is an
  // access to memory.
  struct alignas(64) Piece {
    std::uint32_t next;
    Event events[chunk];
  };
  // A bucket names its latest piece, the only one that may have room left, and the number of events in it.
  struct Bucket {
    std::uint32_t piece = none;
    std::uint32_t count = 0;
  };

  std::size_t open() const { return open_.size() - taken_; }
  std::uint64_t bucket(const Event& event) const {
    return static_cast<std::uint64_t>(event.time) >> bucket_bits_;
  }
  std::uint32_t new_piece(std::uint32_t next);
  void push_bucket(std::uint64_t bucket, const Event& event);
  std::uint64_t next_bucket() const;
  bool open_next();
  void fetch_piece();
  void sort_open();

  unsigned bucket_bits_;
  std::uint64_t mask_;  // buckets per turn - 1
  // The bucket that was opened last. Those less than a turn after it are on the wheel.
  std::uint64_t current_ = 0;
  std::vector<Event> open_;  // the events of that bucket, in order
  std::size_t taken_ = 0;    // the number of these already popped
  Heap late_;                // events pushed into that bucket, or an earlier one, since it was opened
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> occupied_;  // one bit per bucket
  std::vector<std::uint64_t> summary_;   // one bit per word of `occupied_`
  LargeVector<Piece> pieces_;
  std::uint32_t free_ = none;
  std::uint32_t coming_ = none;  // the piece of the next bucket to be opened that was prefetched last
  std::size_t on_wheel_ = 0;     // events
  Heap ahead_;
};

}  // namespace tca::des
