#include "model/des/wheel.hpp"

#include <algorithm>
#include <bit>

namespace tca::des {

namespace {

constexpr unsigned least_count_bits = 12;  // so that the summary consists of whole words
constexpr std::ptrdiff_t few = 32;         // insertion sort is faster for up to this many events
constexpr std::size_t many = 4096;         // with more events on the wheel, their pieces are in no cache

}  // namespace

Wheel::Wheel(unsigned bucket_bits, unsigned count_bits)
    : bucket_bits_(bucket_bits),
      mask_((std::uint64_t{1} << std::max(count_bits, least_count_bits)) - 1),
      buckets_(mask_ + 1),
      occupied_((mask_ + 1) / 64),
      summary_(occupied_.size() / 64) {}

void Wheel::push(const Event& event) {
  const std::uint64_t at = bucket(event);
  if (at <= current_) return late_.push(event);
  if (at - current_ > mask_) return ahead_.push(event);
  push_bucket(at, event);
}

std::uint32_t Wheel::new_piece(std::uint32_t next) {
  std::uint32_t piece = free_;
  if (piece == none) {
    piece = static_cast<std::uint32_t>(pieces_.size());
    pieces_.emplace_back();
  } else {
    free_ = pieces_[piece].next;
    if (free_ != none) __builtin_prefetch(&pieces_[free_], 1);  // for the next call
  }
  pieces_[piece].next = next;
  return piece;
}

void Wheel::push_bucket(std::uint64_t at, const Event& event) {
  const std::uint64_t slot = at & mask_;
  Bucket& bucket = buckets_[slot];
  if (bucket.piece == none) {
    occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
    summary_[slot / 4096] |= std::uint64_t{1} << slot / 64 % 64;
  }
  if (bucket.piece == none || bucket.count == chunk) bucket = {new_piece(bucket.piece), 0};
  pieces_[bucket.piece].events[bucket.count++] = event;
  ++on_wheel_;
}

// Returns the first occupied bucket after the current one. The wheel holds less than a turn, so the first one
// around the circle is the earliest.
std::uint64_t Wheel::next_bucket() const {
  const std::uint64_t start = (current_ + 1) & mask_;
  std::uint64_t word = start / 64;
  std::uint64_t bits = occupied_[word] & ~std::uint64_t{0} << start % 64;
  if (bits == 0) {
    std::uint64_t group = ++word / 64 % summary_.size();
    std::uint64_t words = word % 64 == 0 ? summary_[group] : summary_[group] & ~std::uint64_t{0} << word % 64;
    while (words == 0) words = summary_[group = (group + 1) % summary_.size()];
    word = group * 64 + static_cast<std::uint64_t>(std::countr_zero(words));
    bits = occupied_[word];
  }
  const std::uint64_t slot = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
  return current_ + 1 + ((slot - start) & mask_);
}

// Advances to the next occupied bucket and sorts its events. Events that are now less than a turn ahead
// move from the heap onto the wheel.
bool Wheel::open_next() {
  if (on_wheel_ == 0 && ahead_.size() == 0) return false;
  current_ = on_wheel_ > 0 ? next_bucket() : bucket(ahead_.top());
  const std::uint64_t slot = current_ & mask_;
  open_.clear();
  taken_ = 0;
  std::uint32_t count = buckets_[slot].count;
  for (std::uint32_t number = buckets_[slot].piece; number != none; count = chunk) {
    Piece& piece = pieces_[number];
    const std::uint32_t next = piece.next;
    open_.insert(open_.end(), piece.events, piece.events + count);
    on_wheel_ -= count;
    piece.next = free_;
    free_ = number;
    number = next;
  }
  buckets_[slot] = {};
  occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  if (occupied_[slot / 64] == 0) summary_[slot / 4096] &= ~(std::uint64_t{1} << slot / 64 % 64);
  sort_open();

  for (Event event; ahead_.size() > 0 && bucket(ahead_.top()) - current_ <= mask_;) {
    ahead_.pop(never, event);
    bucket(event) == current_ ? late_.push(event) : push_bucket(bucket(event), event);
  }
  coming_ = on_wheel_ > many ? buckets_[next_bucket() & mask_].piece : none;
  if (coming_ != none) prefetch(&pieces_[coming_], sizeof(Piece));
  return true;
}

void Wheel::sort_open() {
  if (static_cast<std::ptrdiff_t>(open_.size()) > few) {
    std::stable_sort(  // faster than sort, since much is in order already: events of one time often come
                       // in the order of their objects
        open_.begin(), open_.end(), [](const Event& a, const Event& b) { return before(a, b); });
    return;
  }
  for (std::size_t i = 1; i < open_.size(); ++i) {
    const Event event = open_[i];
    std::size_t at = i;
    for (; at > 0 && before(event, open_[at - 1]); --at) open_[at] = open_[at - 1];
    open_[at] = event;
  }
}

// Prefetches one more piece of the bucket to be opened next. Only a piece that has arrived names the next
// one.
void Wheel::fetch_piece() {
  if (coming_ == none) return;
  coming_ = pieces_[coming_].next;
  if (coming_ != none) prefetch(&pieces_[coming_], sizeof(Piece));
}

bool Wheel::pop(Time until, Event& event) {
  if (open() == 0 && late_.size() == 0 && !open_next()) return false;
  if (late_.size() > 0 && (open() == 0 || before(late_.top(), open_[taken_]))) return late_.pop(until, event);
  if (open() == 0 || open_[taken_].time > until) return false;
  event = open_[taken_++];
  fetch_piece();
  return true;
}

}  // namespace tca::des
