// A Flow is what travels from one rank to another over one protocol, step by step. The sender's start takes
// the bytes, which land when the model says that they have arrived.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/sim/faults/faults.hpp"
#include "fabric/sim/protocol.hpp"

namespace tca::sim {

class SimProgram;
struct Regions;

// Immediate puts on their way between two ranks. Signals sent after them do not overtake them. A value
// whose target has given back its memory meanwhile is dropped.
class Immediates {
 public:
  // Adds a value for `rank`'s part of the window. Returns how many have been sent, including this one.
  std::uint64_t add(std::shared_ptr<Regions> window, int rank, std::uint64_t offset,
                    std::span<const std::byte> value);
  std::uint64_t sent() const { return landed_ + flying_.size(); }
  // Lands the first `count` values of all that were sent, unless they have landed already.
  void land(std::uint64_t count);

 private:
  struct Value {
    std::shared_ptr<Regions> window;
    std::size_t rank;
    std::uint64_t offset;
    std::vector<std::byte> bytes;
  };
  std::uint64_t landed_ = 0;
  std::list<Value>
      flying_;  // as those below a list, which takes no memory while it is empty: pairs of ranks are many
};

struct Copy {
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
  std::uint32_t element_bytes;  // for a counted put; 0 if it is not counted
};

// What a flow does when its path fails, and how messages then refer to it.
struct FlowTerms {
  std::string_view chain;  // its name
  bool guarded = true;
  bool reroute = false;  // what is lost is sent again on another path
};

// Shared by the programs of both ends and by the transfers under way.
class Flow final : public std::enable_shared_from_this<Flow>, public Concerned {
 public:
  // `chain` is the chain's number, which is the same on every rank. `protocols` are all of the machine's,
  // and `faults` is null if nothing fails.
  Flow(des::Simulator& simulator, std::span<const std::unique_ptr<Protocol>> protocols, std::size_t protocol,
       Immediates& before, std::uint32_t chain, int from, int to, std::span<const fabric::Put* const> puts,
       const FlowTerms& terms, std::shared_ptr<Faults> faults);
  ~Flow() override;

  int from() const { return from_; }
  int to() const { return to_; }
  Protocol& protocol() const { return *ways_.back().protocol; }
  // Returns what is sent in a step. For a counted flow it is known once the step has departed.
  Message& message(std::uint64_t step);
  bool is_counted() const { return departures_.has_value(); }
  bool is_signal() const { return copies_.empty(); }
  bool is_inside() const { return from_ == to_; }
  // Whether no hardware between ranks takes part.
  bool is_copied() const { return is_inside() && (is_signal() || !protocol().loops_back()); }
  // Whether the sender waits for the receiver's permission in a guarded chain. A receive posted on a path
  // that has failed permits nothing on the next one.
  bool needs_permission() const {
    return !is_signal() && !is_inside() && (!protocol().has_receives() || is_rerouted());
  }

  // Called by the sender's start, which began at `begin`: takes the bytes as they are, and lets them land
  // when they have arrived.
  void depart(des::Time begin);
  // Awaits the departure of a step of a counted flow.
  auto departed(std::uint64_t step) { return departures_->reached(step); }
  // Called by the receiver at the end of a step: stores its lengths in `come_lengths`.
  void take_lengths();
  // Called by the receiver's start in a guarded chain. The sender's program awaits `permitted`.
  void permit();
  auto permitted(std::uint64_t step) { return ways_.back().permissions.reached(step); }
  // Sends a message within a rank, or a bare signal.
  void move(std::uint64_t step);

  std::uint64_t left() const { return left_; }        // steps whose sources may be overwritten
  std::uint64_t landed() const { return landed_; }    // steps that have landed
  des::Time left_at() const { return left_at_; }      // when the last of `left` did so
  des::Time landed_at() const { return landed_at_; }  // when the last of `landed` did so
  des::Time begun_at() const { return begun_at_; }    // when the start of the last of `landed` began

  // Which path it takes, counted from 0, and whether that has failed: what was to be sent on it is then
  // either sent on the next one or not at all, and what arrives late on an earlier one does not count.
  std::size_t way() const { return ways_.size() - 1; }
  bool is_sent_by(std::size_t way) const { return way == this->way() && !broken_; }
  bool is_rerouted() const { return ways_.size() > 1; }
  // Has a path with receives prepared for a step if the receiver has not done so.
  void expect_on_next_way(std::uint64_t step) {
    if (is_rerouted() && protocol().has_receives()) protocol().receive(message(step));
  }

  // Returns why one of its ends may be waiting for it in vain, as far as that end knows.
  std::optional<Error> trouble(int rank, std::uint64_t step) const;

  void lose(std::size_t fault) override;
  void review() override;

  // For the counted puts, in order; each end's program sets its own.
  std::vector<fabric::Length> sent_lengths, come_lengths;

  SimProgram* sender = nullptr;      // null before it is made and after it is destroyed
  SimProgram* receiver = nullptr;    // likewise
  void close() { *closed_ = true; }  // nothing more may land: one end has given its memory back

 private:
  using Elements = std::vector<std::uint64_t>;  // of the counted puts

  struct Flight {
    std::vector<std::byte> bytes;
    Elements lengths;
    std::uint64_t immediates;  // number of immediate puts sent before
    des::Time begin;
  };
  // A step of a counted flow, with what a hub in RTL reads and writes in place of `lengths`.
  struct OfStep {
    std::uint64_t step;
    Message message;
    Elements lengths, come;
    std::list<base::Shape> parts = {};
    base::Shape of_lengths = {};
  };
  // Its counters begin with the steps that had landed before it was taken.
  struct Way {
    Way(des::Simulator& simulator, Protocol& carrier, const Message& whole, std::uint64_t landed_before);
    Protocol* protocol;
    std::uint64_t base;
    Message message;             // with the most that a step can move
    std::list<OfStep> messages;  // for a counted flow: those under way
    des::Counter permissions, sent, arrived;
  };

  static des::Task await_sent(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t way);
  static des::Task await_arrival(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t way);
  std::vector<std::uint64_t> bytes_of_copies(const Elements& lengths) const;
  void address(const Copy& copy, const base::Shape& shape, Message& message) const;
  void add_message(std::uint64_t step, const Elements& lengths);
  std::vector<std::byte> gather(const Elements& lengths);
  void scatter(const Flight& flight) const;
  void land(des::Time at);

  // Rerouting (faults/reroute.cpp).
  void watch();
  void take_up();
  Protocol* next_protocol(int rank) const;
  static des::Task hand_over(std::shared_ptr<Flow> flow, Protocol& next, std::uint64_t attempt, int begins,
                             net::View view);
  void take(Protocol& next);
  static des::Task repeat(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t way);

  des::Simulator& simulator_;
  std::span<const std::unique_ptr<Protocol>> protocols_;
  Immediates& before_;
  std::string chain_;  // its name
  int from_, to_;
  std::list<Way> ways_;  // the last one is in use; transfers still use those before it
  std::optional<des::Counter> departures_;
  std::list<Elements> landed_lengths_;  // of steps that the receiver has not finished
  std::vector<Copy> copies_;
  std::list<Flight> flights_;
  std::vector<std::vector<std::byte>> spare_;
  std::uint64_t departed_ = 0, permits_ = 0, left_ = 0, landed_ = 0;
  des::Time left_at_ = 0, landed_at_ = 0, begun_at_ = 0;
  std::shared_ptr<bool> closed_ = std::make_shared<bool>(false);

  std::shared_ptr<Faults> faults_;  // agents keep flows beyond the end of the model
  bool guarded_, reroute_;
  std::uint64_t entry_ = 0;  // in faults_
  std::optional<std::size_t>
      broken_;                  // the fault that has hit part of what travelled here, or the path itself
  std::uint64_t attempts_ = 0;  // to take another path
  bool telling_ = false;        // what arrives on this path from now on does not count
  net::View seen_ = 0;          // of the ends, at the last attempt
};

}  // namespace tca::sim
