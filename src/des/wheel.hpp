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
  std::size_t size() const override { return open_.size() + late_.size() + on_wheel_ + ahead_.size(); }
  const Event* glimpse(std::size_t places) const override {
    return places < open_.size() ? &open_[open_.size() - 1 - places] : nullptr;
  }

 private:
  static constexpr std::uint32_t chunk = 7;

  // A part of a bucket's list: a few events side by side, since each step of a list is a visit to memory.
  struct alignas(64) Piece {
    Event events[chunk];
    std::uint32_t next;
    std::uint32_t count;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  std::uint64_t bucket(const Event& event) const {
    return static_cast<std::uint64_t>(event.time) >> bucket_bits_;
  }
  std::uint32_t new_piece(std::uint32_t next);
  void push_bucket(std::uint64_t bucket, const Event& event);
  std::uint64_t next_bucket() const;
  bool open_next();
  void sort_open();

  unsigned bucket_bits_;
  std::uint64_t mask_;  // buckets a turn - 1
  std::uint64_t current_ =
      0;                     // the bucket that was opened last; those up to a turn after it are on the wheel
  std::vector<Event> open_;  // what that bucket held, the next last
  Heap late_;                // what was put into that bucket since, or into one before
  std::vector<std::uint32_t> heads_;
  std::vector<std::uint64_t> occupied_;  // a bit a bucket
  std::vector<std::uint64_t> summary_;   // a bit a word of `occupied_`
  LargeVector<Piece> pieces_;
  std::uint32_t free_ = none;
  std::size_t on_wheel_ = 0;
  Heap ahead_;
};

}  // namespace tca::des
