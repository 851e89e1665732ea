// Tests the packet that a lane has computed beforehand: whether or not the other end does so, the same bytes
// reach the same places.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "device_ranks.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

// A lane of a warp whose lanes run one after the other, which suffices where no lane has to wait.
struct Lane {
  Word warp, warps, number;

  [[nodiscard]] Word index() const { return warp; }
  [[nodiscard]] Word count() const { return warps; }
  [[nodiscard]] Word lane() const { return number; }
  [[nodiscard]] static Word lanes() { return device::packets_per_chunk; }
  static void sync() {}
  [[nodiscard]] static bool all(bool mine) { return mine; }
};

// One end of a chain, with several warps. The first lane comes last, because it acknowledges for all.
class End {
 public:
  End(DeviceRank& rank, bool sends, Word warps, bool beforehand, Word first_step = 1)
      : rank_(rank), beforehand_(beforehand) {
    const DeviceChain& chain = rank.chain;
    for (Word warp = 0; warp < warps; ++warp) {
      for (Word number = Lane::lanes(); number-- > 0;) {
        lanes_.push_back({warp, warps, number});
        packets_.emplace_back(sends ? chain.ll_out : chain.ll_in, sends ? chain.chunks_out : chain.chunks_in,
                              lanes_.back());
        packets_.back().begin_after(first_step - 1);
      }
    }
  }

  void send(Word step, bool tries = false) {
    for (DeviceRank::Unit& unit : rank_.units_out) unit.put->fill(unit.number, step, 0, 1);
    each([&](device::OwnPacket& packet, const Lane& lane, Word skipped) {
      if (beforehand_ && tries) {
        EXPECT_EQ(packet.missing_ack(step), device::no_link);
        packet.send_now(step, lane);
      } else if (beforehand_) {
        EXPECT_TRUE(packet.send(rank_.chain.limits, step, lane));
      }
      EXPECT_TRUE(device::send_packets(rank_.chain, step, lane, skipped));
    });
  }

  bool may_send(Word step) {
    return std::all_of(packets_.begin(), packets_.end(), [&](device::OwnPacket& packet) {
      return packet.missing_ack(step) == device::no_link;
    });
  }

  void receive(Word step, bool tries) {
    each([&](device::OwnPacket& packet, const Lane& lane, Word skipped) {
      if (beforehand_ && tries) {
        EXPECT_EQ(packet.try_receive(step, lane), device::no_link);
        packet.acknowledge(step, lane);
      } else if (beforehand_) {
        EXPECT_TRUE(packet.receive(rank_.chain.limits, step, lane));
      }
      EXPECT_TRUE(device::receive_packets(rank_.chain, step, lane, skipped));
    });
    for (DeviceRank::Unit& unit : rank_.units_in) {
      EXPECT_EQ(unit.put->wrong_byte(unit.number, step, 0, 1), "") << "step " << step;
      EXPECT_TRUE(unit.put->gaps_are_untouched());
    }
  }

 private:
  template <class Do>
  void each(const Do& act) {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      act(packets_[i], lanes_[i], beforehand_ ? packets_[i].skipped() : 0);
  }

  DeviceRank& rank_;
  bool beforehand_;
  std::vector<Lane> lanes_;
  std::vector<device::OwnPacket> packets_;
};

void expect_bytes(const DevicePut& put, Word from_warps, Word to_warps) {
  for (const bool sender : {true, false}) {
    for (const bool receiver : {true, false}) {
      DeviceRanks ranks(2, {put});
      End from(ranks[0], true, from_warps, sender), to(ranks[1], false, to_warps, receiver);
      for (Word step = 1; step <= 6; ++step) {
        from.send(step, step % 3 == 0);
        to.receive(step, step % 2 == 0);
      }
    }
  }
}

// The last packet may be only partly full.
TEST(DeviceOwnPacket, CarriesAtomsOfAnySize) {
  for (const Word from : {1U, 2U, 4U, 8U}) {
    for (const Word to : {1U, 2U, 4U, 8U}) {
      for (const Word atoms : {1U, 2U, 7U, 47U, 48U, 65U, 95U, 96U, 97U}) {
        SCOPED_TRACE(testing::Message() << atoms << " atoms, " << from << " to " << to);
        expect_bytes({.run_bytes = std::max(from, to), .counts = {atoms}, .from_atom = from, .to_atom = to},
                     1, 1);
      }
    }
  }
}

TEST(DeviceOwnPacket, LeavesOtherChunksToTheLoop) {
  Seed seed;
  std::mt19937 random(seed.value());
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << ", seed " << seed.value());
    expect_bytes(random_device_put(random, 0, 1, Carrier::packets), random_in(random, 1, 4),
                 random_in(random, 1, 4));
  }
}

// A kernel that has just begun knows of no acknowledgement, however high its step numbers are.
TEST(DeviceOwnPacket, WaitsForThePacketsOfTwoStepsAgo) {
  for (const Word first : {Word{1}, Word{1} << 31, (Word{1} << 31) + 3, ~Word{0} - 1}) {
    SCOPED_TRACE(first);
    DeviceRanks ranks(2, {{.run_bytes = 8, .counts = {4}}}, first - 1);
    End from(ranks[0], true, 1, true, first), to(ranks[1], false, 1, true, first);
    from.send(first);
    from.send(first + 1);
    End next_kernel(ranks[0], true, 1, true, first + 2);
    EXPECT_FALSE(next_kernel.may_send(first + 2));
    to.receive(first, true);
    EXPECT_TRUE(next_kernel.may_send(first + 2));
    to.receive(first + 1, false);
    next_kernel.send(first + 2);
    to.receive(first + 2, true);
  }
}

// An attempt does so when it goes on with a step that another kernel has sent.
TEST(DeviceOwnPacket, ReceivesAStepThatAnotherKernelSent) {
  for (const Word step : {Word{1}, Word{1} << 31, ~Word{0}}) {
    SCOPED_TRACE(step);
    DeviceRanks ranks(2, {{.run_bytes = 8, .counts = {4}}}, step - 1);
    End from(ranks[0], true, 1, true, step), to(ranks[1], false, 1, true, step + 1);
    from.send(step);
    to.receive(step, true);
  }
}

}  // namespace
}  // namespace tca::test
