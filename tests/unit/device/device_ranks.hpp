// Plays ranks on accelerators by threads of the host. Each thread runs the kernels' side of a chain as a lane
// of a block does.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "tca/device/ll.hpp"
#include "tca/device/stores.hpp"

namespace tca::test {

using device::Word;

enum class Carrier { packets, stores, signal };

// A put of `run_bytes` times all counts. Each side has its own gaps and atoms; puts by stores use the smaller
// atom.
struct DevicePut {
  int from = 0, to = 1;
  Carrier carrier = Carrier::packets;
  Word run_bytes = 8;
  std::vector<Word> counts{};
  Word from_atom = 8, to_atom = 8;
  Word segments = 1;
};

// Returns a put of some hundred bytes, with random values for everything that the arguments leave open.
DevicePut random_device_put(std::mt19937& random, int from, int to, Carrier carrier);

// How a test runs its ranks.
struct DeviceRun {
  std::vector<Word> parts{1, 1};  // of each rank
  Word steps = 1000;
  // Whether the parts run as GridChain does, with barriers; otherwise each part runs for itself, as
  // BlockChain does.
  bool whole_grid = false;
  Word lanes = 1;  // of each part
  // Whether the lanes share a chunk, as those of a warp do; otherwise each lane is a unit of its own.
  bool lanes_share = false;
  bool tries = false;   // polls until it need not wait, instead of waiting
  Word first_step = 0;  // steps that are already over
  unsigned seed = 1;    // of the random delays
  bool delays = true;
};

// A barrier that sleeps at once, since there are more threads than cores.
class Barrier {
 public:
  explicit Barrier(Word members) : members_(members) {}
  void arrive_and_wait() {
    std::unique_lock lock(mutex_);
    const Word mine = round_;
    if (++here_ == members_) {
      here_ = 0;
      ++round_;
      all_are_here_.notify_all();
      return;
    }
    all_are_here_.wait(lock, [&] { return round_ != mine; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_are_here_;
  Word members_, here_ = 0, round_ = 0;
};

// Synchronises the lanes of one part.
class Team {
 public:
  explicit Team(Word lanes) : barrier_(lanes), votes_(lanes) {}
  void sync() {
    if (votes_.size() > 1) barrier_.arrive_and_wait();
  }
  // Returns for how many lanes `mine` is true.
  Word count(Word lane, bool mine) {
    votes_[lane] = mine ? 1 : 0;
    sync();
    Word sum = 0;
    for (const Word vote : votes_) sum += vote;
    sync();
    return sum;
  }

 private:
  Barrier barrier_;
  std::vector<Word> votes_;
};

// Provides what the protocols need of a block.
struct HostBlock {
  Team& team;
  Word part_, parts_, lane_, lanes_;

  [[nodiscard]] Word part() const { return part_; }
  [[nodiscard]] Word parts() const { return parts_; }
  [[nodiscard]] Word lane() const { return lane_; }
  [[nodiscard]] Word lanes() const { return lanes_; }
  void sync() const { team.sync(); }
  [[nodiscard]] bool all(bool mine) const { return team.count(lane_, mine) == lanes_; }
  [[nodiscard]] bool any(bool mine) const { return team.count(lane_, mine) > 0; }
};

// Provides what the protocols need of a warp: all lanes of a block, or a single one.
struct HostWarp {
  const HostBlock& block;
  bool shared;

  [[nodiscard]] Word index() const { return shared ? block.part_ : block.lane_ * block.parts_ + block.part_; }
  [[nodiscard]] Word count() const { return shared ? block.parts_ : block.parts_ * block.lanes_; }
  [[nodiscard]] Word lane() const { return shared ? block.lane_ : 0; }
  [[nodiscard]] Word lanes() const { return shared ? block.lanes_ : 1; }
  void sync() const {
    if (shared) block.sync();
  }
  [[nodiscard]] bool all(bool mine) const { return shared ? block.all(mine) : mine; }
};

// The memory of a put at both ends, its signals, and the place of each of its bytes.
class PutMemory {
 public:
  PutMemory(const DevicePut& put, unsigned number, Word first_step);

  [[nodiscard]] device::LlPut packets(bool sending) const;
  [[nodiscard]] device::Stores stores() const;
  [[nodiscard]] device::Arrivals arrivals() const;
  [[nodiscard]] Word units() const;  // chunks or segments

  // These work on the bytes of one unit, beginning with `lane`, every `lanes`-th one.
  void fill(Word unit, Word step, Word lane, Word lanes);
  [[nodiscard]] std::string wrong_byte(Word unit, Word step, Word lane, Word lanes) const;
  [[nodiscard]] bool gaps_are_untouched() const;

  [[nodiscard]] unsigned number() const { return number_; }

  DevicePut put;

 private:
  [[nodiscard]] Word word_count() const;
  [[nodiscard]] Word packet_count() const;
  [[nodiscard]] Word unit_bytes() const;
  [[nodiscard]] std::byte value(Word byte, Word step) const;
  [[nodiscard]] device::Loops loops(Word atom) const;

  unsigned number_;
  Word bytes_ = 0;
  device::Pitches from_pitches_, to_pitches_;
  std::vector<std::size_t> from_at_, to_at_;     // place of each byte
  std::vector<device::Packet> source_, target_;  // used as plain memory; a Packet is aligned to 16 bytes
  mutable std::vector<device::Packet> packets_;
  mutable std::vector<Word> acks_, arrived_;
};

// The chain of one rank and everything that it points to.
struct DeviceRank {
  DeviceChain chain;
  std::vector<device::LlPut> ll_out, ll_in;
  std::vector<device::Stores> stores;
  std::vector<device::Arrivals> arrivals;
  std::vector<device::Ready> readies;
  std::vector<Word> ready;  // from each rank
  // A chunk or a segment. Chunks and segments are numbered separately, and part `index` % parts carries a
  // unit.
  struct Unit {
    PutMemory* put;
    Word number, index;
  };
  std::vector<Unit> units_out, units_in;
  Word count = 0, posted = 0, abort = 0, gave_up = 0, over = 0;
  std::vector<Word> waiting, gone;
};

class DeviceRanks {
 public:
  static constexpr Word chain_number = 7;

  // Each link has the number of its rank.
  DeviceRanks(int ranks, const std::vector<DevicePut>& puts, Word first_step = 0, double limit_s = 20);

  // Runs all ranks that have parts. Returns the first error, or an empty string.
  std::string run(const DeviceRun& how);

  DeviceRank& operator[](int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

 private:
  friend class DevicePart;
  void fail(const std::string& what);
  void add(PutMemory& put);
  void link_up(Word first_step, double limit_s);

  std::vector<std::unique_ptr<PutMemory>> puts_;
  std::vector<DeviceRank> ranks_;
  std::mutex mutex_;
  std::string failure_;
};

}  // namespace tca::test
