#include "shuffle_fabric.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <thread>

#include "shuffle_hub.hpp"

namespace tca::test {

namespace {

constexpr std::array<std::string_view, 3> protocol_names{"mixed", "late", "buffered"};

class ShuffleMemory final : public fabric::Memory {
 public:
  ShuffleMemory(ShuffleHub& hub, int rank, std::vector<Block*> blocks)
      : hub_(hub), rank_(rank), blocks_(std::move(blocks)) {
    for (const Block* block : blocks_) bytes_.push_back(block == nullptr ? 0 : block->bytes.size());
  }
  ~ShuffleMemory() override {
    const std::lock_guard lock(hub_.mutex);
    Block& mine = block(rank_);
    mine.released = true;
    if (mine.own.data() != nullptr) std::ranges::fill(mine.bytes, std::byte{0xDD});
  }

  std::byte* data() override { return bytes(rank_) == 0 ? nullptr : block(rank_).bytes.data(); }
  std::size_t bytes(int rank) const override { return bytes_[static_cast<std::size_t>(rank)]; }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), data() + offset, into.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(data() + offset, from.data(), from.size());
  }
  Block& block(int rank) const { return *blocks_[static_cast<std::size_t>(rank)]; }

 private:
  ShuffleHub& hub_;
  int rank_;
  std::vector<Block*> blocks_;
  std::vector<std::size_t> bytes_;
};

Block& block_of(fabric::Memory* memory, int rank) { return static_cast<ShuffleMemory*>(memory)->block(rank); }

class ShuffleProgram final : public fabric::Program {
 public:
  ShuffleProgram(ShuffleHub& hub, std::size_t chain, const fabric::ChainSpec& share)
      : hub_(hub), chain_(chain), members_(static_cast<std::size_t>(share.members.size())) {
    const std::lock_guard lock(hub_.mutex);
    std::set<int> targets, senders;
    for (const fabric::Put& put : share.outgoing) targets.insert(put.to);
    for (const fabric::Put& put : share.incoming) senders.insert(put.from);
    for (const int to : targets) {
      out_.push_back(hub_.lane(chain, share.outgoing.front().from, to, share.guarded));
    }
    for (const int from : senders) {
      in_.push_back(hub_.lane(chain, from, share.incoming.front().to, share.guarded));
    }
    for (const fabric::Put& put : share.outgoing) add(put);
    for (const fabric::Put& put : share.incoming) {
      if (!put.length) continue;
      const auto lane =
          std::find_if(in_.begin(), in_.end(), [&](Lane* each) { return each->from == put.from; });
      expected_.push_back({*lane, put.length});
    }
  }

  ~ShuffleProgram() override {
    const std::lock_guard lock(hub_.mutex);
    hub_.drop_chain_end(chain_, members_);
  }

  void start() override {
    const std::lock_guard lock(hub_.mutex);
    ++step_;
    running_ = true;
    for (Lane* lane : in_) {
      lane->ready_sent = step_;
      hub_.wake(*lane);
    }
    std::map<Lane*, std::vector<std::uint64_t>> lengths;
    for (std::size_t i = 0; i < puts_.size(); ++i) {
      Flight flight = puts_[i].flight;
      flight.step = step_;
      flight.descriptor = i;
      if (puts_[i].length) {
        flight.bytes = puts_[i].length.bytes();
        lengths[puts_[i].lane].push_back(*puts_[i].length.elements);
      }
      puts_[i].lane->flights.push_back(std::move(flight));
    }
    for (Lane* lane : out_) {
      lane->arrivals.push_back({step_, hub_.now(), std::move(lengths[lane])});
      hub_.wake(*lane);
    }
    if (hub_.chance(50)) hub_.poll();
  }

  bool test() override {
    const std::lock_guard lock(hub_.mutex);
    if (!running_) return true;
    hub_.poll();
    running_ = !open_partners().empty();
    if (!running_) take_lengths();
    return !running_;
  }

  std::vector<int> missing() const override {
    const std::lock_guard lock(hub_.mutex);
    const std::set<int> partners = open_partners();
    return {partners.begin(), partners.end()};
  }

 private:
  struct Planned {
    Lane* lane;
    Flight flight;
    fabric::Length length;
  };
  struct Expected {
    Lane* lane;
    fabric::Length length;
  };

  void take_lengths() {
    std::map<Lane*, std::size_t> taken;
    for (const Expected& put : expected_)
      *put.length.elements = put.lane->lengths.at(step_)[taken[put.lane]++];
    for (const auto& [lane, count] : taken) lane->lengths.erase(step_);
  }

  void add(const fabric::Put& put) {
    if (put.shape == nullptr) return;
    Block &target = block_of(put.to_memory, put.to), &source = block_of(put.from_memory, put.from);
    const auto lane = std::find_if(out_.begin(), out_.end(), [&](Lane* each) { return each->to == put.to; });
    puts_.push_back({*lane,
                     {.descriptor = 0,
                      .step = 0,
                      .target = &target,
                      .source = &source,
                      .to = target.bytes.data() + put.to_offset,
                      .from = source.bytes.data() + put.from_offset,
                      .shape = put.shape,
                      .protocol = put.protocol,
                      .bytes = put.shape->bytes()},
                     put.length});
  }

  std::set<int> open_partners() const {
    std::set<int> open;
    for (const Lane* lane : out_) {
      for (const Flight& flight : lane->flights) {
        if (!flight.captured) open.insert(lane->to);
      }
    }
    for (const Lane* lane : in_) {
      if (lane->arrived < step_) open.insert(lane->from);
    }
    return open;
  }

  ShuffleHub& hub_;
  std::size_t chain_, members_;
  std::uint32_t step_ = 0;
  bool running_ = false;
  std::vector<Lane*> out_, in_;
  std::vector<Planned> puts_;
  std::vector<Expected> expected_;
};

class ShuffleFabric final : public fabric::Fabric {
 public:
  ShuffleFabric(ShuffleHub& hub, control::Control& control) : hub_(hub), control_(control) {}

  std::string_view name() const override { return "shuffle"; }
  std::span<const std::string_view> protocols() const override { return protocol_names; }
  bool reaches(int) const override { return true; }
  bool carries_counted(int) const override { return true; }

  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override {
    const std::size_t id = id_of(window.members, window.number);
    {
      const std::lock_guard lock(hub_.mutex);
      hub_.make_block(id, control_.rank(), window.bytes, window.existing);
    }
    window.members.control().barrier(window.title);
    const std::lock_guard lock(hub_.mutex);
    return std::make_unique<ShuffleMemory>(hub_, control_.rank(), hub_.blocks(id));
  }

  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override {
    return std::make_unique<fabric::BareOffer>([this, share] {
      return std::make_unique<ShuffleProgram>(hub_, id_of(share.members, share.number), share);
    });
  }

  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override {
    const std::lock_guard lock(hub_.mutex);
    Block& target = block_of(&memory, rank);
    hub_.put_now(control_.rank(), rank, &target, target.bytes.data() + offset, {value.begin(), value.end()});
  }

  void progress() override {
    const std::lock_guard lock(hub_.mutex);
    hub_.poll();
  }

 private:
  // Groups without a rank in common may use the same number.
  static std::size_t id_of(const control::Members& members, std::uint32_t number) {
    return std::size_t{number} << 12 | static_cast<std::size_t>(members[0]);
  }

  ShuffleHub& hub_;
  control::Control& control_;
};

}  // namespace

Shuffle::Shuffle(int ranks, std::uint64_t seed) : hub_(std::make_unique<ShuffleHub>(ranks, seed)) {}
Shuffle::~Shuffle() = default;

std::unique_ptr<fabric::Fabric> Shuffle::fabric(control::Control& control) {
  return std::make_unique<ShuffleFabric>(*hub_, control);
}

bool Shuffle::drain(int rank) {
  for (int tries = 0; tries < 10'000; ++tries) {
    {
      const std::lock_guard lock(hub_->mutex);
      hub_->poll();
      if (!hub_->sends(rank)) return true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(tries < 100 ? 0 : 500));
  }
  return false;
}

std::string Shuffle::violation() const {
  const std::lock_guard lock(hub_->mutex);
  return hub_->violation;
}

}  // namespace tca::test
