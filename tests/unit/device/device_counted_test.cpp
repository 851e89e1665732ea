// Tests counted puts as kernels carry them: the bytes that the length covers arrive in their places, the others stay
// as they are, and the receiver learns the length, by packets, by packets whose addresses were computed beforehand, and
// by stores.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "seed.hpp"
#include "tca/device/counted.hpp"
#include "tca/device/ll.hpp"
#include "tca/device/stores.hpp"

namespace tca::test {
namespace {

using device::Word;

// A lane of a warp whose lanes run one after the other, or with a single lane a thread that is a unit of its own.
struct Unit {
  Word number = 0, all_units = 1, lane_ = 0, lanes_ = 1;

  [[nodiscard]] Word index() const { return number; }
  [[nodiscard]] Word count() const { return all_units; }
  [[nodiscard]] Word part() const { return number; }
  [[nodiscard]] Word parts() const { return all_units; }
  [[nodiscard]] Word lane() const { return lane_; }
  [[nodiscard]] Word lanes() const { return lanes_; }
  static void sync() {}
  [[nodiscard]] static bool all(bool mine) { return mine; }
  [[nodiscard]] static bool any(bool mine) { return mine; }
};

struct Put {
  Word element_bytes;
  Word capacity;
  Word row =
      0;  // elements a row of a block-stride, which has a gap of one behind it at the target; 0: a block
  Word atom = 4;

  [[nodiscard]] Word unit() const { return std::max<Word>(row, 1); }
  [[nodiscard]] Word bytes() const { return capacity * element_bytes; }
};

// Both ends of a put.
class Ends {
 public:
  Ends(const Put& put, Word first_step)
      : put_(put), source_(put.bytes() + 16), target_(2 * put.bytes() + 16, std::byte{0x77}) {
    limits_ = {.abort = &abort_,
               .gave_up = &gave_up_,
               .waiting = &waiting_,
               .limit_ns = std::uint64_t{20} * 1'000'000'000,
               .chain = 7,
               .gone = &gone_,
               .over = &over_};
    out.limits = in.limits = limits_;
    words_ = (put.bytes() + 3) / 4;
    const Word chunks = (words_ + device::counted_words_per_chunk - 1) / device::counted_words_per_chunk;
    const Word packets = device::packets_of_words(words_ + chunks);
    packets_.resize(std::size_t{2} * device::buffer_pitch(packets));
    acks_.assign(chunks, first_step - 1);
    device::LlPut from;
    from.packets = packets_.data();
    from.acks = acks_.data();
    from.atom_bytes = put.atom;
    from.word_count = words_;
    from.packet_count = packets;
    from.end_chunk = chunks;
    from.element_bytes = put.element_bytes;
    from.loops = loops(put.atom);
    device::LlPut to = from;
    from.memory = source_.data();
    from.length = &length;
    from.pitches.pitch[0] = put.row * put.element_bytes;
    to.memory = target_.data();
    to.length = &come;
    to.pitches.pitch[0] = pitch();
    out.ll_out.items[0] = from;
    in.ll_in.items[0] = to;
    out.ll_out.count = in.ll_in.count = 1;
    out.chunks_out = in.chunks_in = chunks;
  }

  // Carries it by stores in place of packets, with atoms of 16 bytes where the layout has them.
  void use_stores(Word segments) {
    const device::LlPut from = out.ll_out.items[0];
    device::Stores stores;
    stores.atom_bytes = put_.row == 0 ? 16 : put_.atom;
    stores.loops = loops(stores.atom_bytes);
    stores.from = source_.data();
    stores.to = target_.data();
    stores.from_pitches.pitch[0] = from.pitches.pitch[0];
    stores.to_pitches.pitch[0] = pitch();
    arrived_.assign(segments, 0);
    stores.arrived = arrived_.data();
    stores.ready = &ready_;
    stores.end_segment = segments;
    stores.segment_atoms = (stores.loops.atoms + segments - 1) / segments;
    stores.element_bytes = put_.element_bytes;
    stores.length = &length;
    stores.length_there = &come;
    out.stores.items[0] = stores;
    in.arrivals.items[0] = {arrived_.data(), segments, 0};
    in.readies.items[0] = {&ready_};
    out.stores.count = in.arrivals.count = in.readies.count = 1;
    out.segments_out = in.segments_in = segments;
    out.chunks_out = in.chunks_in = 0;
    in.posted = &posted_;
  }

  void fill(Word step) {
    for (Word i = 0; i < put_.bytes(); ++i) source_[i] = value(i, step);
  }

  // Looks at all bytes of the target, and notes those that a step has changed.
  [[nodiscard]] bool is_right(Word elements, Word step) {
    if (come != elements) return false;
    expected_.resize(target_.size(), std::byte{0x77});
    for (Word i = 0; i < elements * put_.element_bytes; ++i) expected_[place(i)] = value(i, step);
    return expected_ == target_;
  }

  [[nodiscard]] Word random_length(std::mt19937& random) const {
    const Word most = put_.capacity / put_.unit(), kind = static_cast<Word>(random() % 4);
    return put_.unit() * (kind == 0 ? 0 : kind == 1 ? most : static_cast<Word>(random() % (most + 1)));
  }

  DeviceChain out, in;
  Word length = 0, come = ~Word{0};

 private:
  [[nodiscard]] device::Loops loops(Word atom) const {
    device::Loops loops;
    loops.atoms = put_.bytes() / atom;
    loops.depth = put_.row > 0 ? 1 : 0;
    loops.run = device::Divisor::of(put_.row > 0 ? put_.row * put_.element_bytes / atom : loops.atoms);
    return loops;
  }
  [[nodiscard]] Word pitch() const { return (put_.row + 1) * put_.element_bytes; }
  [[nodiscard]] std::size_t place(Word byte) const {
    if (put_.row == 0) return byte;
    const Word run = put_.row * put_.element_bytes;
    return std::size_t{byte / run} * pitch() + byte % run;
  }
  static std::byte value(Word i, Word step) { return static_cast<std::byte>(i * 7 + step * 31 + 1); }

  Put put_;
  Word words_ = 0;
  std::vector<std::byte> source_, target_, expected_;
  std::vector<device::Packet> packets_;
  std::vector<Word> acks_, arrived_;
  Word ready_ = 0, posted_ = 0, abort_ = 0, gave_up_ = 0, waiting_ = 0, gone_ = 0, over_ = 0;
  device::WaitLimits limits_;
};

const std::vector<Put> puts{
    {8, 1},      {4, 3},     {12, 40}, {1, 700, 0, 1}, {2, 401, 0, 2}, {8, 500}, {4, 300, 5}, {1, 120, 8, 1},
    {16, 96, 3}, {1, 64, 4}, {8, 47},  {1, 700},       {1, 702, 0, 2}, {2, 402}, {3, 100},    {1, 8}};

// Steps over which numbers wrap, and the two in which everything is sent.
const std::vector<Word> firsts{1, 65530, ~Word{0} - 5};

TEST(DeviceCounted, ByPackets) {
  const Seed seed;
  std::mt19937 random(seed.value());
  for (const Put& put : puts) {
    for (const Word first : firsts) {
      Ends ends(put, first);
      for (Word step = first; step != first + 20; ++step) {
        SCOPED_TRACE(testing::Message() << put.capacity << " of " << put.element_bytes << " bytes, step "
                                        << step << ", seed " << seed.value());
        ends.fill(step);
        ends.length = ends.random_length(random);
        for (const Word unit : {0U, 1U}) {
          const Unit mine{unit, 2};
          EXPECT_EQ(device::missing_acks(ends.out, step, mine), device::no_link);
          ASSERT_TRUE(device::send_packets<true>(ends.out, step, mine));
        }
        for (const Word unit : {0U, 1U}) {
          const Unit mine{unit, 2};
          EXPECT_EQ(device::missing_packets<true>(ends.in, step, mine), device::no_link);
          ASSERT_TRUE(device::receive_packets<true>(ends.in, step, mine));
        }
        ASSERT_TRUE(ends.is_right(ends.length, step))
            << ends.length << " were sent, " << ends.come << " came";
      }
    }
  }
}

// By units as wide as a chunk, whose lanes come one after the other, the first one last, because it acknowledges for all.
// Each end does or does not compute the addresses of its packets beforehand.
class Lanes {
 public:
  Lanes(Ends& ends, bool sends, bool beforehand, Word first_step) : chain_(sends ? ends.out : ends.in) {
    for (Word lane = device::packets_per_chunk; lane-- > 0;) {
      const Unit unit{0, 1, lane, device::packets_per_chunk};
      lanes_.emplace_back(
          unit, device::OwnPacket(sends ? chain_.ll_out : chain_.ll_in,
                                  beforehand ? sends ? chain_.chunks_out : chain_.chunks_in : 0, unit));
      lanes_.back().second.begin_after(first_step - 1);
    }
  }

  bool send(Word step) {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](auto& lane) {
      auto& [unit, packet] = lane;
      return packet.send(chain_.limits, step, unit) &&
             device::send_packets<true>(chain_, step, unit, packet.skipped());
    });
  }

  bool receive(Word step, bool tries) {
    return std::all_of(lanes_.begin(), lanes_.end(), [&](auto& lane) {
      auto& [unit, packet] = lane;
      if (tries && packet.try_receive(step, unit) != device::no_link) return false;
      if (tries) packet.acknowledge(step, unit);
      if (!tries && !packet.receive(chain_.limits, step, unit)) return false;
      return device::missing_packets<true>(chain_, step, unit, packet.skipped()) == device::no_link &&
             device::receive_packets<true>(chain_, step, unit, packet.skipped());
    });
  }

  [[nodiscard]] Word skipped() const { return lanes_.back().second.skipped(); }

 private:
  const DeviceChain& chain_;
  std::vector<std::pair<Unit, device::OwnPacket>> lanes_;
};

TEST(DeviceCounted, ByLanes) {
  const Seed seed;
  std::mt19937 random(seed.value());
  for (const Put& put : puts) {
    for (const Word first : firsts) {
      for (const unsigned beforehand : {0U, 1U, 2U, 3U}) {
        Ends ends(put, first);
        Lanes from(ends, true, (beforehand & 1) != 0, first), to(ends, false, (beforehand & 2) != 0, first);
        EXPECT_EQ(from.skipped(), beforehand & (put.atom == 4 ? 1U : 0U));
        for (Word step = first; step != first + 12; ++step) {
          SCOPED_TRACE(testing::Message()
                       << put.capacity << " of " << put.element_bytes << " bytes, step " << step
                       << ", beforehand " << beforehand << ", seed " << seed.value());
          ends.fill(step);
          ends.length = ends.random_length(random);
          ASSERT_TRUE(from.send(step));
          ASSERT_TRUE(to.receive(step, step % 2 == 0));
          ASSERT_TRUE(ends.is_right(ends.length, step))
              << ends.length << " were sent, " << ends.come << " came";
        }
      }
    }
  }
}

// A sender and a receiver at once. The receiver tells the sender by its next start that it has looked.
void run_both(Ends& ends, const std::vector<Word>& lengths, bool stores) {
  std::thread sender([&] {
    for (Word step = 1; step <= lengths.size(); ++step) {
      ends.fill(step);
      ends.length = lengths[step - 1];
      if (stores ? !device::send_counted_stores(ends.out, step, Unit{}, false)
                 : !device::send_packets<true>(ends.out, step, Unit{}))
        return;
    }
  });
  for (Word step = 1; step <= lengths.size(); ++step) {
    if (stores) device::post_ready(ends.in, step, Unit{}, device::PartsStart::together);
    const bool good = stores ? device::receive_stores(ends.in, step, Unit{})
                             : device::receive_packets<true>(ends.in, step, Unit{});
    if (!good || !ends.is_right(lengths[step - 1], step)) {
      ADD_FAILURE() << "step " << step << ": " << lengths[step - 1] << " were sent, " << ends.come << " came";
      ends.out.limits.limit_ns = 0;
      break;
    }
  }
  sender.join();
}

TEST(DeviceCounted, BothEndsAtOnce) {
  const Seed seed;
  SCOPED_TRACE(testing::Message() << "seed " << seed.value());
  std::mt19937 random(seed.value());
  for (const Put& put : puts) {
    for (const Word segments : {0U, 1U, 4U}) {
      Ends ends(put, 1);
      if (segments > 0) {
        if (put.row == 0 && put.bytes() % 16 != 0) continue;  // atoms divide the whole
        ends.use_stores(segments);
      }
      std::vector<Word> lengths(200);
      for (Word& length : lengths) length = ends.random_length(random);
      run_both(ends, lengths, segments > 0);
    }
  }
}

// What cannot be is not sent, and the host learns which put it was.
TEST(DeviceCounted, RefusesALengthThatCannotBe) {
  Word length = 0, over = 0, mistakes = 0;
  device::Mistake told;
  const device::ElementCheck check{
      .mistakes = &mistakes, .told = &told, .over = &over, .chain = 7, .put = 3, .sending = 1};
  DeviceCountedPut put;
  put.length = &length;
  put.check = &check;
  put.capacity = 12;
  put.unit = 3;
  EXPECT_TRUE(put.set(12) && length == 12 && over == 0);
  EXPECT_TRUE(put.set(0) && length == 0);
  EXPECT_FALSE(put.set(15));
  EXPECT_EQ(length, device::no_length);
  EXPECT_EQ(over, 1U);
  EXPECT_EQ(told.chain, 7U);
  EXPECT_EQ(told.kind, device::Mistake::too_long);
  EXPECT_EQ(told.element, 15U);
  EXPECT_EQ(told.elements, 12U);
  mistakes = 0;
  EXPECT_FALSE(put.set(4));
  EXPECT_EQ(told.kind, device::Mistake::uneven);
  EXPECT_EQ(told.elements, 3U);

  Ends ends({8, 1}, 1);
  ends.length = device::no_length;
  EXPECT_FALSE(device::send_packets<true>(ends.out, 1, Unit{}));
  EXPECT_NE(device::missing_packets<true>(ends.in, 1, Unit{}), device::no_link);
  Lanes lanes(ends, true, true, 1);
  EXPECT_FALSE(lanes.send(1));
  Ends stored({16, 4}, 1);
  stored.use_stores(1);
  stored.length = device::no_length;
  EXPECT_FALSE(device::send_counted_stores(stored.out, 1, Unit{}, false));
}

}  // namespace
}  // namespace tca::test
