#include "des/wheel.hpp"

#include <algorithm>
#include <bit>

namespace tca::des {

namespace {

constexpr unsigned least_count_bits = 12;  // the summary has whole words
constexpr std::ptrdiff_t few = 16;         // up to here sorting by insertion is the quicker

}  // namespace

Wheel::Wheel(unsigned bucket_bits, unsigned count_bits)
    : bucket_bits_(bucket_bits),
      mask_((std::uint64_t{1} << std::max(count_bits, least_count_bits)) - 1),
      heads_(mask_ + 1, none),
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
  }
  pieces_[piece].next = next;
  pieces_[piece].count = 0;
  return piece;
}

void Wheel::push_bucket(std::uint64_t at, const Event& event) {
  const std::uint64_t slot = at & mask_;
  std::uint32_t& head = heads_[slot];
  if (head == none) {
    occupied_[slot / 64] |= std::uint64_t{1} << slot % 64;
    summary_[slot / 4096] |= std::uint64_t{1} << slot / 64 % 64;
  }
  if (head == none || pieces_[head].count == chunk) head = new_piece(head);
  Piece& piece = pieces_[head];
  piece.events[piece.count++] = event;
  ++on_wheel_;
}

// The first bucket after the current one that holds something. The wheel holds less than a turn, so that the first
// one around the circle is the earliest.
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

// Moves on to the next bucket that holds something, and what now lies less than a turn ahead onto the wheel.
bool Wheel::open_next() {
  if (on_wheel_ == 0 && ahead_.size() == 0) return false;
  current_ = on_wheel_ > 0 ? next_bucket() : bucket(ahead_.top());
  const std::uint64_t slot = current_ & mask_;
  for (std::uint32_t number = heads_[slot]; number != none;) {
    Piece& piece = pieces_[number];
    const std::uint32_t next = piece.next;
    open_.insert(open_.end(), piece.events, piece.events + piece.count);
    on_wheel_ -= piece.count;
    piece.next = free_;
    free_ = number;
    number = next;
  }
  heads_[slot] = none;
  occupied_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  if (occupied_[slot / 64] == 0) summary_[slot / 4096] &= ~(std::uint64_t{1} << slot / 64 % 64);
  sort_open();
  const std::uint32_t following = heads_[(slot + 1) & mask_];
  if (following != none) __builtin_prefetch(&pieces_[following]);

  for (Event event; ahead_.size() > 0 && bucket(ahead_.top()) - current_ <= mask_;) {
    ahead_.pop(never, event);
    bucket(event) == current_ ? late_.push(event) : push_bucket(bucket(event), event);
  }
  return true;
}

void Wheel::sort_open() {
  const auto later = [](const Event& a, const Event& b) { return before(b, a); };
  if (static_cast<std::ptrdiff_t>(open_.size()) > few) {
    std::sort(open_.begin(), open_.end(), later);
    return;
  }
  for (std::size_t i = 1; i < open_.size(); ++i) {
    const Event event = open_[i];
    std::size_t at = i;
    for (; at > 0 && before(open_[at - 1], event); --at) open_[at] = open_[at - 1];
    open_[at] = event;
  }
}

bool Wheel::pop(Time until, Event& event) {
  if (open_.empty() && late_.size() == 0 && !open_next()) return false;
  if (late_.size() > 0 && (open_.empty() || before(late_.top(), open_.back())))
    return late_.pop(until, event);
  if (open_.back().time > until) return false;
  event = open_.back();
  open_.pop_back();
  return true;
}

}  // namespace tca::des
