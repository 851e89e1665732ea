// A board: the RTL of one hub in simulated time, with the queues in front of its ports. It is clocked only
// while something moves in it.
#pragma once

#include <deque>
#include <memory>

#include "model/des/time.hpp"
#include "model/machine/description.hpp"
#include "model/rtl/core.hpp"
#include "model/rtl/loads.hpp"

namespace tca::rtl {

// What surrounds the boards.
class Outside {
 public:
  virtual ~Outside() = default;
  // The header of a packet has left through a port; its data follows, one beat per cycle.
  virtual void leave(std::uint32_t node, std::uint32_t port, std::uint32_t load) = 0;
  // A packet has left the buffer of a cable's input.
  virtual void make_room(std::uint32_t node, std::uint32_t port) = 0;
  // Asks for a cycle at `at`.
  virtual void wake(std::uint32_t node, des::Time at) = 0;
};

class Board {
 public:
  // `number` is that of the node in its sub-cluster.
  Board(Outside& outside, Loads& loads, const net::RtlKind& kind, std::uint32_t node, std::uint32_t number);

  // Stores into a register or the hub's memory while the clock is stopped, before anything else happens.
  void set(std::uint64_t address, std::uint64_t value);

  // A packet arrives at a port; its first beat at `first` at the earliest.
  void arrive(std::uint32_t port, std::uint32_t load, des::Time first);
  // The other end of a port has more room from `at` on: a cable for a packet, the host's port for a beat.
  void credit(std::uint32_t port, des::Time at);

  void cycle(des::Time now);

 private:
  struct Incoming {
    std::uint32_t load;
    des::Time first;
    std::uint32_t beats = 0;  // that have gone in
  };
  using Queue = std::deque<Incoming>;
  static constexpr std::uint32_t answers = port::count;  // the queue of answers, which need no credits

  Queue* pick(std::uint32_t port, des::Time now);
  bool feed(std::uint32_t port, Queue& queue);
  bool feed_all(des::Time now);
  void collect();
  void collect(std::uint32_t port, const Beat& beat);
  void wake_at(des::Time at);
  void sleep(des::Time now);
  bool may_lack_credits(std::uint32_t port) const;
  std::uint32_t beats(std::size_t data_bytes) const;

  Outside& outside_;
  Loads& loads_;
  const net::RtlKind& kind_;
  std::uint32_t node_;
  std::size_t words_;  // in a beat
  std::unique_ptr<Core> core_;
  Wires in_, out_;
  std::array<Queue, port::count + 1> queues_;
  Queue* half_ = nullptr;  // the host's queue whose first packet has gone in only in part
  std::uint32_t room_ = host_credits;
  std::array<std::deque<des::Time>, port::count> credits_;
  struct Outgoing {
    std::uint32_t load = 0;
    bool open = false;       // more beats follow
    std::uint32_t owed = 0;  // credits that have not been returned
  };
  std::array<Outgoing, port::count> outgoing_;
  des::Time next_ = -1;      // the cycle that has been asked for; -1 if none
  des::Time last_ = -1;      // the last cycle
  des::Time patience_ = -1;  // when the clock starts waiting for an answer that is still missing
};

}  // namespace tca::rtl
