// A ring carries the lines of one rank to another, and beside them the bytes of messages that no line has room for. A rank's
// inbox has one for each rank. One side writes and the other reads; neither waits for the other: a ring that is full goes on in
// a larger one, of the writer's memory, so that to send needs nothing of the receiver, who may be busy elsewhere in MPI.
//
// Signals: `stamp` of a line is stored with release order when its bytes and those in `data` are there, and loaded with acquire
// order by the reader. `lines_read` and `data_read` are the way back: stored with release order when the reader has copied what
// it needs, loaded with acquire order by the writer before it stores into that place again.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/engine/line.hpp"
#include "mpi/engine/memory.hpp"

namespace tca::p2p {

struct RingState {
  alignas(cache_line) std::atomic<std::uint64_t> lines_read;
  std::atomic<std::uint64_t> data_read;
  std::atomic<bool> entered;  // the reader has come here from the ring before
};

// The parts of a ring with `data_bytes` bytes, a power of two.
class Ring {
 public:
  static constexpr std::size_t bytes_per_line = 512;

  static constexpr std::size_t size(std::size_t data_bytes) {
    return sizeof(RingState) + data_bytes / bytes_per_line * sizeof(Line) + data_bytes;
  }

  Ring() = default;
  Ring(std::byte* memory, std::size_t data_bytes)
      : memory_(memory), data_bytes_(data_bytes), lines_(data_bytes / bytes_per_line) {}

  RingState& state() const { return *reinterpret_cast<RingState*>(memory_); }
  Line& line(std::uint64_t number) const {
    return reinterpret_cast<Line*>(memory_ + sizeof(RingState))[number & (lines_ - 1)];
  }
  std::byte* data(std::uint64_t position) const {
    return memory_ + sizeof(RingState) + lines_ * sizeof(Line) + (position & (data_bytes_ - 1));
  }
  std::size_t lines() const { return lines_; }
  std::size_t data_bytes() const { return data_bytes_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t data_bytes_ = 0, lines_ = 0;
};

inline std::uint32_t stamp_of(std::uint64_t line) { return static_cast<std::uint32_t>(line) + 1; }

class RingWriter {
 public:
  explicit RingWriter(Ring ring) : ring_(ring) {}

  // Returns whether there is room for a line and for `bytes` bytes in a row.
  [[nodiscard]] bool has_room(std::size_t bytes) { return fits(bytes) || (look_at_reader(), fits(bytes)); }
  // Goes on in a ring in which `bytes` bytes have room. Throws std::bad_alloc.
  void grow(std::size_t bytes);

  // There is room. The line is the writer's until it publishes it.
  Line& line() { return ring_.line(line_); }
  void publish() {
    ring_.line(line_).stamp.store(stamp_of(line_), std::memory_order_release);
    ++line_;
  }
  // There is room. Takes the place of so many bytes.
  std::uint64_t take(std::size_t bytes) {
    const std::uint64_t position = place_for(bytes);
    data_ = position + rounded(bytes);
    return position;
  }
  std::byte* data(std::uint64_t position) { return ring_.data(position); }

  // Whether the reader has come to the last ring, so that this rank's memory of the others may go.
  [[nodiscard]] bool is_followed();

 private:
  static std::size_t rounded(std::size_t bytes) { return (bytes + cache_line - 1) / cache_line * cache_line; }
  // Bytes of a fragment lie in a row: what is left of a lap is skipped where they do not fit.
  std::uint64_t place_for(std::size_t bytes) const {
    const std::size_t left = ring_.data_bytes() - (data_ & (ring_.data_bytes() - 1));
    return bytes <= left ? data_ : data_ + left;
  }
  bool fits(std::size_t bytes) const {
    // One line stays free, to say where the ring goes on.
    return line_ - lines_read_ + 1 < ring_.lines() &&
           place_for(bytes) + rounded(bytes) - data_read_ <= ring_.data_bytes();
  }
  void look_at_reader() {
    lines_read_ = ring_.state().lines_read.load(std::memory_order_acquire);
    data_read_ = ring_.state().data_read.load(std::memory_order_acquire);
  }

  Ring ring_;
  std::uint64_t line_ = 0, data_ = 0;             // the next ones
  std::uint64_t lines_read_ = 0, data_read_ = 0;  // as last seen
  std::vector<Shared> grown_;                     // the last is in use
};

class RingReader {
 public:
  RingReader(Ring ring, pid_t writer) : ring_(ring), writer_(writer) {}

  // The next line, if it has come.
  const Line* look() const {
    const Line& line = ring_.line(line_);
    return line.stamp.load(std::memory_order_acquire) == stamp_of(line_) ? &line : nullptr;
  }
  const std::byte* data(std::uint64_t position) const { return ring_.data(position); }
  // The bytes of a fragment are no longer needed.
  void release(const Fragment& fragment) {
    ring_.state().data_read.store(
        fragment.position + (fragment.bytes + cache_line - 1) / cache_line * cache_line,
        std::memory_order_release);
  }
  // The line that `look` has found is no longer needed.
  void next() { ring_.state().lines_read.store(++line_, std::memory_order_release); }
  // Goes on in another ring. Throws std::bad_alloc.
  void follow(const Growth& growth);

 private:
  Ring ring_;
  pid_t writer_;
  std::uint64_t line_ = 0;
  Shared grown_;
};

}  // namespace tca::p2p
