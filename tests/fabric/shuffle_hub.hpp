// What is on its way in the test double: a lane for each pair of ranks of each chain.
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

#include "base/shape.hpp"

namespace tca::test {

enum ShuffleProtocol : int { mixed, late, buffered };

// A rank's part of a window.
struct Block {
  std::vector<std::byte> own;  // empty when the rank has registered memory that it had
  std::span<std::byte> bytes;
  bool released = false;  // the rank has given it back
};

// A put of one step on its way.
struct Flight {
  std::size_t descriptor;
  std::uint32_t step;
  Block* target;
  Block* source;
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
  int protocol;
  bool captured = false;
  std::vector<std::byte> buffer = {};
};

struct Lane {
  int from, to;
  bool guarded;
  bool busy = false;             // listed as having something to do
  std::uint32_t ready_sent = 0;  // the target's latest start, as it said
  std::uint32_t ready = 0;       // and as the sender's side knows it
  std::uint32_t arrived = 0;     // the latest step whose signal has come
  struct Arrival {
    std::uint32_t step;
    std::uint64_t moment;
  };
  std::deque<Arrival> arrivals;
  std::vector<Flight> flights;
};

class ShuffleHub {
 public:
  ShuffleHub(int ranks, std::uint64_t seed) : random_(seed), ranks_(ranks) {}

  // Every member is used with this held.
  std::mutex mutex;

  std::vector<Block*> blocks(std::size_t window);
  Block* make_block(std::size_t window, int rank, std::size_t bytes, std::byte* existing);
  Lane* lane(std::size_t chain, int from, int to, bool guarded);
  void drop_chain_end(std::size_t chain);

  void put_now(int from, int to, Block* target, std::byte* place, std::vector<std::byte> value);
  std::uint64_t now() { return ++moment_; }
  void wake(Lane& lane);
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  // Whether anything of `rank` is still on its way.
  bool sends(int rank) const;

  // Moves a random part of everything.
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
  std::map<std::size_t, int> dropped_;  // chain, by how many ranks
  std::map<std::pair<int, int>, std::deque<Immediate>> immediates_;
  std::vector<Lane*> busy_;
};

}  // namespace tca::test
