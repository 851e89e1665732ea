// What goes from one rank to another over one channel, step by step: bytes leave with the sender's start and are there once
// the model says so.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/sim/channel.hpp"

namespace tca::sim {

class SimProgram;
struct Regions;

// Small values on their way between two ranks, which signals sent after them do not overtake. Those whose target has given
// its memory back meanwhile land nowhere.
class Immediates {
 public:
  // For `rank`'s part of the window, at an offset. How many were sent, with this one.
  std::uint64_t add(std::shared_ptr<Regions> window, int rank, std::uint64_t offset,
                    std::span<const std::byte> value);
  std::uint64_t sent() const { return landed_ + flying_.size(); }
  // Lands the first `count` of all that were sent.
  void land(std::uint64_t count);

 private:
  struct Value {
    std::shared_ptr<Regions> window;
    std::size_t rank;
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };
  std::uint64_t landed_ = 0;
  std::deque<Value> flying_;
};

struct Copy {
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
};

// Shared by both ends' programs and by what is under way.
class Part : public std::enable_shared_from_this<Part> {
 public:
  // `chain`: its number among those of every rank.
  Part(des::Simulator& simulator, Channel& channel, Immediates& before, std::uint32_t chain, int from, int to,
       std::span<const fabric::Put* const> puts);

  int from() const { return load_.from; }
  int to() const { return load_.to; }
  Channel& channel() const { return channel_; }
  Load& load() { return load_; }
  bool is_signal() const { return load_.puts.empty(); }
  bool is_inside() const { return load_.from == load_.to; }
  // Whether the sender waits for the receiver's permission in a guarded chain.
  bool needs_permission() const { return !is_signal() && !is_inside() && !channel_.has_receives(); }

  // The sender's start: takes the bytes as they are, and sees them land.
  void depart();
  // The receiver's start of a guarded chain; the sender's programs awaits `permitted`.
  void permit();
  auto permitted(std::uint64_t step) { return permissions_.reached(step); }
  // Of a load within a rank, or a bare signal.
  void move();

  std::uint64_t left() const { return left_; }      // steps whose sources may be overwritten
  std::uint64_t landed() const { return landed_; }  // steps that are there
  des::Time left_at() const { return left_at_; }    // the last of them
  des::Time landed_at() const { return landed_at_; }

  SimProgram* sender = nullptr;  // null while it is not there
  SimProgram* receiver = nullptr;
  void close() { closed_ = true; }  // nothing more may land: an end has given its memory back

 private:
  struct Flight {
    std::vector<std::byte> bytes;
    std::uint64_t immediates;  // that were sent before
  };

  static des::Task see_off(std::shared_ptr<Part> part, std::uint64_t step);
  static des::Task see_land(std::shared_ptr<Part> part, std::uint64_t step);
  void land();

  des::Simulator& simulator_;
  Channel& channel_;
  Immediates& before_;
  Load load_;
  std::vector<Copy> copies_;
  des::Counter permissions_, sent_, arrived_;
  std::deque<Flight> flights_;
  std::vector<std::vector<std::byte>> spare_;
  std::uint64_t departed_ = 0, left_ = 0, landed_ = 0;
  des::Time left_at_ = 0, landed_at_ = 0;
  bool closed_ = false;
};

}  // namespace tca::sim
