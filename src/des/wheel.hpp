// A queue as a timing wheel: a turn of buckets of a power of two of picoseconds each, a bitmap of those that hold
// something, and a heap for what lies more than a turn ahead.
//
// The bucket whose turn it is is sorted once; the others are unordered lists. So an event costs a push onto a list and
// its share of sorting a few, however many are pending.
#pragma once

#include <cstdint>
#include <vector>

#include "des/heap.hpp"
#include "des/large.hpp"

namespace tca::des {

class Wheel final : public Queue {
 public:
  // 2^bucket_bits picoseconds a bucket, 2^count_bits buckets a turn. Wide buckets make sorting dearer, narrow ones send
  // more into the heap.
  explicit Wheel(unsigned bucket_bits = 6, unsigned count_bits = 14);

  void push(const Event& event) override;
  bool pop(Time until, Event& event) override;
  std::size_t size() const override { return open() + late_.size() + on_wheel_ + ahead_.size(); }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint32_t chunk = 15;

  // A part of a bucket's list: a few events side by side, since each step of a list is a visit to memory.
  struct alignas(64) Piece {
    std::uint32_t next;
    Event events[chunk];
  };
  // A bucket: its latest piece, which alone may have room left, and how many events are in that.
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
  std::uint64_t mask_;  // buckets a turn - 1
  std::uint64_t current_ =
      0;                     // the bucket that was opened last; those up to a turn after it are on the wheel
  std::vector<Event> open_;  // what that bucket held, in order
  std::size_t taken_ = 0;    // of these
  Heap late_;                // what was put into that bucket since, or into one before
  std::vector<Bucket> buckets_;
  std::vector<std::uint64_t> occupied_;  // a bit a bucket
  std::vector<std::uint64_t> summary_;   // a bit a word of `occupied_`
  LargeVector<Piece> pieces_;
  std::uint32_t free_ = none;
  std::uint32_t coming_ =
      none;  // of the pieces of the bucket to be opened next, the one that has been asked for
  std::size_t on_wheel_ = 0;
  Heap ahead_;
};

}  // namespace tca::des
