// What is on its way in the test double, with a lane for each pair of ranks of each chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/layout/shape.hpp"
#include "base/system/zeroed.hpp"

namespace tca::test {

enum ShuffleProtocol : int { mixed, late, buffered };

// A rank's part of a window.
struct Block {
  base::Zeroed own;  // null for memory that the rank registered
  std::span<std::byte> bytes;
  bool released = false;  // the rank has freed it
};

// A put of one step that is on its way.
struct Flight {
  std::size_t descriptor;
  std::uint32_t step;
  Block* target;
  Block* source;
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
  int protocol;
  std::uint64_t bytes;  // of the shape, from its beginning
  bool captured = false;
  std::vector<std::byte> buffer = {};
};

struct Lane {
  int from, to;
  bool guarded;
  bool busy = false;             // is listed in busy_
  std::uint32_t ready_sent = 0;  // the target's latest start, as the target announced it
  std::uint32_t ready = 0;       // the target's latest start that the sender has seen
  std::uint32_t arrived = 0;     // the latest step whose signal has arrived
  struct Arrival {
    std::uint32_t step;
    std::uint64_t moment;
    std::vector<std::uint64_t> lengths;  // of its counted puts, in elements
  };
  std::deque<Arrival> arrivals;
  std::map<std::uint32_t, std::vector<std::uint64_t>> lengths;  // by step: those that have arrived
  std::vector<Flight> flights;
};

class ShuffleHub {
 public:
  ShuffleHub(int ranks, std::uint64_t seed) : random_(seed), ranks_(ranks) {}

  // Guards all members. The caller holds it for every use of them.
  std::mutex mutex;

  std::vector<Block*> blocks(std::size_t window);
  Block* make_block(std::size_t window, int rank, std::size_t bytes, std::byte* existing);
  Lane* lane(std::size_t chain, int from, int to, bool guarded);
  void drop_chain_end(std::size_t chain, std::size_t members);

  void put_now(int from, int to, Block* target, std::byte* place, std::vector<std::byte> value);
  std::uint64_t now() { return ++moment_; }
  void wake(Lane& lane);
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  // Returns whether anything that `rank` has sent is still on its way.
  bool sends(int rank) const;

  // Moves a random part of everything that is queued.
  void poll();

  void note(const std::string& what) {
    if (violation.empty()) violation = what;
  }
  std::string violation;

 private:
  struct Immediate {
    std::uint64_t moment;
    Block* target;
    std::byte* place;
    std::vector<std::byte> value;
  };

  void visit(Lane& lane);
  bool may_land(const Lane& lane, const Flight& flight) const;
  void land(Flight& flight);
  void capture(Flight& flight);
  void check_source(const Flight& flight);
  void land_immediates(std::deque<Immediate>& queue);

  std::mt19937_64 random_;
  int ranks_;
  std::uint64_t moment_ = 0;
  std::map<std::pair<std::size_t, int>, std::unique_ptr<Block>> blocks_;
  std::map<std::tuple<std::size_t, int, int>, std::unique_ptr<Lane>> lanes_;
  std::map<std::size_t, std::size_t> dropped_;  // by chain: how many ranks have dropped it
  std::map<std::pair<int, int>, std::deque<Immediate>> immediates_;
  std::vector<Lane*> busy_;
};

}  // namespace tca::test
