// Tests produced puts between ranks of several parts, played by threads of the host: every element arrives whole,
// in its step, whoever writes and reads it in whatever order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <numeric>
#include <random>
#include <span>
#include <thread>
#include <utility>

#include "device_ranks.hpp"
#include "seed.hpp"
#include "tca/device/produced.hpp"

namespace tca::test {
namespace {

using device::Mistake;
using device::Produced;

template <std::size_t bytes>
struct Element {
  std::array<unsigned char, bytes> bytes_;
  bool operator==(const Element&) const = default;
};

template <std::size_t bytes>
Element<bytes> value_of(std::size_t put, Word i, Word step) {
  std::minstd_rand random(static_cast<unsigned>(1 + put * 7919 + i * 104729 + step * 1299709));
  Element<bytes> value{};
  for (unsigned char& byte : value.bytes_) byte = static_cast<unsigned char>(random() >> 8);
  return value;
}

struct Put {
  int from = 0, to = 1;
  Word elements = 70;  // three lots
};

// Both ends of a put of elements of so many bytes, and their memory.
struct PutRoom {
  PutRoom(const Put& of, std::size_t bytes, bool guarded, Word first_step) : put(of) {
    const Word lots = device::lots_of(put.elements);
    const Word buffer = lots * device::elements_per_lot * device::packets_of_element(bytes);
    packets.resize(2 * buffer);
    acks.assign(lots, first_step);
    written.assign(put.elements, first_step);
    sent = {.packets = packets.data(),
            .acks = guarded ? acks.data() : nullptr,
            .elements = put.elements,
            .buffer = buffer,
            .link = static_cast<Word>(put.to)};
    come = sent;
    come.link = static_cast<Word>(put.from);
  }

  Put put;
  std::vector<device::Packet> packets;
  std::vector<Word> acks, written;
  Produced sent, come;
  device::ElementCheck sent_check, come_check;
};

struct Rank {
  DeviceProducedChain chain;
  std::vector<Produced> ends;
  std::vector<PutRoom*> out, in;
  std::vector<Word> waiting, gone;
  Word abort = 0, gave_up = 0, over = 0, mistakes = 0;
  Mistake mistake;
};

template <std::size_t bytes>
class Ranks {
 public:
  using T = Element<bytes>;

  Ranks(int count, const std::vector<Put>& puts, bool guarded = true, bool checked = false,
        Word first_step = 0, double limit_s = 20)
      : first_step_(first_step), ranks_(static_cast<std::size_t>(count)) {
    for (const Put& put : puts) rooms_.push_back(std::make_unique<PutRoom>(put, bytes, guarded, first_step));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Rank& rank = ranks_[r];
      rank.waiting.resize(ranks_.size());
      rank.gone.resize(ranks_.size());
      rank.chain.limits = {.abort = &rank.abort,
                           .gave_up = &rank.gave_up,
                           .waiting = rank.waiting.data(),
                           .limit_ns = static_cast<std::uint64_t>(limit_s * 1e9),
                           .chain = 7,
                           .gone = rank.gone.data(),
                           .over = &rank.over};
      for (const auto& room : rooms_) {
        const auto check = [&](Produced& end, device::ElementCheck& one, bool sending) {
          if (!checked) return;
          one = {.written = sending ? room->written.data() : nullptr,
                 .mistakes = &rank.mistakes,
                 .told = &rank.mistake,
                 .over = &rank.over,
                 .chain = 7,
                 .sending = sending ? 1U : 0U};
          end.check = &one;
        };
        if (room->put.from == static_cast<int>(r)) {
          check(room->sent, room->sent_check, true);
          rank.out.push_back(room.get());
        }
        if (room->put.to == static_cast<int>(r)) {
          check(room->come, room->come_check, false);
          rank.in.push_back(room.get());
        }
      }
      Word lots_out = 0, lots_in = 0;
      for (PutRoom* room : rank.out) {
        room->sent.first_lot = std::exchange(lots_out, lots_out + device::lots_of(room->sent.elements));
        rank.ends.push_back(room->sent);
      }
      for (PutRoom* room : rank.in) {
        room->come.first_lot = std::exchange(lots_in, lots_in + device::lots_of(room->come.elements));
        rank.ends.push_back(room->come);
      }
      rank.chain.produced = rank.ends.data();
      rank.chain.produced_out = static_cast<Word>(rank.out.size());
      rank.chain.produced_in = static_cast<Word>(rank.in.size());
      rank.chain.produced_guarded = guarded ? 1 : 0;
      rank.chain.produced_checked = checked ? 1 : 0;
    }
  }

  Rank& operator[](std::size_t rank) { return ranks_[rank]; }
  DeviceProducedPut<T> put(std::size_t number) { return {rooms_[number]->sent}; }
  DeviceProducedArrival<T> arrival(std::size_t number) { return {rooms_[number]->come}; }

  // A lane of a part, and what it does in a step. Elements come in an order of its own.
  struct Lane {
    Ranks& all;
    std::size_t rank;
    HostBlock block;
    std::minstd_rand random;
    Word step;
    bool good = true;

    void dawdle() {
      if (random() % 40 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
    bool owns(Word i) const { return i / device::elements_per_lot % block.parts() == block.part(); }
    // An element's number among those of all ends, of which the parts take lots in turn.
    static Word among_all(const Produced& end, Word i) {
      return end.first_lot * device::elements_per_lot + i;
    }
    bool is_mine(Word i) const { return owns(i) && i % block.lanes() == block.lane(); }

    void write(const PutRoom& room, std::size_t number, Word i, Word of_step) {
      DeviceProducedPut<T>{room.sent}.write(i, value_of<bytes>(number, i, of_step), of_step);
    }
    void read(const PutRoom& room, std::size_t number, Word i, Word of_step) {
      T value;
      const bool come = DeviceProducedArrival<T>{room.come}.read(i, value, of_step, all[rank].chain.limits);
      good = good && come && value == value_of<bytes>(number, i, of_step);
    }
    // Writes and reads everything for which `mine` is true, mixed.
    template <class Mine>
    void move(const Mine& mine) {
      std::vector<std::array<std::size_t, 3>> work;  // sending, number, element
      for (std::size_t n = 0; n < all.rooms_.size(); ++n) {
        const Put& put = all.rooms_[n]->put;
        for (Word i = 0; i < put.elements; ++i) {
          const PutRoom& room = *all.rooms_[n];
          if (put.from == static_cast<int>(rank) && mine(among_all(room.sent, i))) work.push_back({1, n, i});
          if (put.to == static_cast<int>(rank) && mine(among_all(room.come, i))) work.push_back({0, n, i});
        }
      }
      std::shuffle(work.begin(), work.end(), random);
      // Whoever reads first what its partner writes last waits for ever, if that one does the same.
      std::stable_partition(work.begin(), work.end(), [](const auto& one) { return one[0] == 1; });
      for (const auto& [sending, n, i] : work) {
        dawdle();
        if (!good) return;
        if (sending == 1)
          write(*all.rooms_[n], n, static_cast<Word>(i), step);
        else
          read(*all.rooms_[n], n, static_cast<Word>(i), step);
      }
    }

    // As ProducedBlockChain::start and ProducedGridChain::start do; `barrier` is of the rank's parts.
    void release() {
      if (all[rank].chain.produced_checked != 0) device::check_elements(all[rank].chain, step - 1, block);
      device::acknowledge_elements(device::acks_of_arrived(all[rank].chain, block), step - 1, block);
    }
    void await_room(Word of_step) {
      const bool mine = device::await_room_for_elements(device::acks_of_sent(all[rank].chain, block),
                                                        all[rank].chain.limits, of_step, block);
      good = block.all(good && mine);
    }
    void start_of_block() {
      await_room(step + 1);
      block.sync();
      ++step;
      release();
    }
    void start_of_grid(Barrier& barrier) {
      await_room(step + 1);
      block.sync();
      if (block.lane() == 0) barrier.arrive_and_wait();
      block.sync();
      ++step;
      release();
    }
  };

  // Runs act(lane, barrier of its rank's parts) on all lanes of all parts of all ranks. Returns whether all went
  // well.
  template <class Act>
  bool run(const std::vector<Word>& parts, Word lanes, unsigned seed, const Act& act) {
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<Team>> teams;
    std::vector<std::unique_ptr<Barrier>> barriers;
    std::atomic<bool> good = true;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      barriers.push_back(std::make_unique<Barrier>(parts[r]));
      for (Word p = 0; p < parts[r]; ++p) {
        teams.push_back(std::make_unique<Team>(lanes));
        for (Word l = 0; l < lanes; ++l) {
          threads.emplace_back([&, r, p, l, &team = *teams.back(), &barrier = *barriers.back()] {
            Lane lane{*this,
                      r,
                      {team, p, parts[r], l, lanes},
                      std::minstd_rand(seed + static_cast<unsigned>(r * 10007 + p * 101 + l)),
                      first_step_};
            act(lane, barrier);
            if (!lane.good) good = false;
          });
        }
      }
    }
    for (std::thread& thread : threads) thread.join();
    return good;
  }

 private:
  Word first_step_;
  std::vector<std::unique_ptr<PutRoom>> rooms_;
  std::vector<Rank> ranks_;
};

class DeviceProduced : public testing::Test {
 protected:
  Seed seed_;
  testing::ScopedTrace trace_{__FILE__, __LINE__, seed_.how_to_repeat()};

  template <std::size_t bytes>
  void expect_elements(Ranks<bytes>& ranks, const std::vector<Word>& parts, Word lanes = 1, Word steps = 60) {
    EXPECT_TRUE(ranks.run(parts, lanes, seed_.value(), [&](auto& lane, Barrier&) {
      for (Word n = 0; n < steps; ++n) {
        lane.start_of_block();
        lane.move([&](Word i) { return lane.is_mine(i); });
        lane.good = lane.block.all(lane.good);
        if (!lane.good) return;
      }
    }));
  }
};

// Only the acknowledgements keep the sender from running ahead.
TEST_F(DeviceProduced, OneWay) {
  Ranks<8> ranks(2, {{0, 1}});
  expect_elements(ranks, {2, 3});
  Ranks<20> with_lanes(2, {{0, 1, 100}});
  expect_elements(with_lanes, {2, 1}, 3);
}

TEST_F(DeviceProduced, MutualAndInARing) {
  Ranks<12> mutual(2, {{0, 1, 64}, {1, 0, 40}, {0, 1, 1}});
  expect_elements(mutual, {3, 2});
  Ranks<16> ring(3, {{0, 1}, {1, 2}, {2, 0}, {1, 1, 33}});
  expect_elements(ring, {2, 1, 2});
}

TEST_F(DeviceProduced, ElementsOfAnySize) {
  const std::vector<Put> puts{{0, 1, 33}, {1, 0, 5}};
  const auto expect_size = [&]<std::size_t bytes>(std::integral_constant<std::size_t, bytes>) {
    Ranks<bytes> ranks(2, puts);
    expect_elements(ranks, {1, 2}, 1, 10);
  };
  expect_size(std::integral_constant<std::size_t, 1>());
  expect_size(std::integral_constant<std::size_t, 11>());
  expect_size(std::integral_constant<std::size_t, 13>());
  expect_size(std::integral_constant<std::size_t, 96>());
}

TEST_F(DeviceProduced, StepsWrap) {
  Ranks<8> ranks(2, {{0, 1}, {1, 0, 3}}, true, false, ~Word{0} - 20);
  expect_elements(ranks, {2, 2});
}

// Behind the barrier of a start, any part writes and reads any element.
TEST_F(DeviceProduced, AnyBlockOfAGridMovesAnyElement) {
  Ranks<24> ranks(2, {{0, 1}, {1, 0, 40}, {0, 1, 5}});
  EXPECT_TRUE(ranks.run({3, 2}, 1, seed_.value(), [&](auto& lane, Barrier& barrier) {
    for (Word n = 0; n < 60; ++n) {
      lane.start_of_grid(barrier);
      lane.move([&](Word i) { return (i * 7 + n) % lane.block.parts() == lane.block.part(); });
      lane.good = lane.block.all(lane.good);
      if (!lane.good) return;
    }
  }));
}

// Without a guard, element i goes again once element i of the step before has come from there.
TEST_F(DeviceProduced, WithoutAGuardPartnersTakeTurns) {
  Ranks<96> ranks(2, {{0, 1}, {1, 0}}, false);
  EXPECT_TRUE(ranks.run({2, 3}, 1, seed_.value(), [&](auto& lane, Barrier&) {
    const std::size_t out = lane.rank, in = 1 - lane.rank;
    std::vector<Word> own;
    for (Word i = 0; i < 70; ++i)
      if (lane.is_mine(i)) own.push_back(i);
    for (const Word i : own) lane.write(*lane.all[lane.rank].out[0], out, i, 1);
    for (Word step = 1; step < 100; ++step) {
      std::shuffle(own.begin(), own.end(), lane.random);
      for (const Word i : own) {
        lane.dawdle();
        lane.read(*lane.all[lane.rank].in[0], in, i, step);
        if (!lane.good) return;
        lane.write(*lane.all[lane.rank].out[0], out, i, step + 1);
      }
    }
  }));
}

// Several at a time: those of a lane, whole and once, however many are left for the last time.
TEST_F(DeviceProduced, ElementsAreReadTogether) {
  Ranks<20> ranks(2, {{0, 1}}, false, true, 0, 0.05);
  const device::WaitLimits& limits = ranks[1].chain.limits;
  for (Word i = 0; i < 70; ++i)
    if (i != 69) ranks.put(0).write(i, value_of<20>(0, i, 1), 1);
  const auto read = [&](Word first, Word stride, Word end) {
    std::vector<Word> seen;
    const bool come =
        ranks.arrival(0).read_every<4>(first, stride, end, 1, limits, [&](Word i, const Element<20>& value) {
          EXPECT_EQ(value, value_of<20>(0, i, 1)) << i;
          seen.push_back(i);
        });
    return std::pair(come, seen);
  };

  EXPECT_EQ(read(2, 13, 60), std::pair(true, std::vector<Word>{2, 15, 28, 41, 54}));
  EXPECT_EQ(read(7, 1, 7), std::pair(true, std::vector<Word>{}));
  EXPECT_EQ(ranks[1].mistake.kind, Mistake::none);
  EXPECT_FALSE(read(60, 3, 70).first);
  EXPECT_EQ(ranks[1].mistake.kind, Mistake::not_come);
  EXPECT_EQ(ranks[1].mistake.element, 69U);
}

// A signal orders what was stored before it, whatever kind of store that was.
TEST_F(DeviceProduced, ASignalFollowsWhatWasStored) {
  Ranks<8> ranks(2, {});
  Word raised = 0;
  std::vector<Word> stored(100);
  const DeviceExpectedSignal expected{&raised, 0};
  std::thread sender([&] {
    std::iota(stored.begin(), stored.end(), 1U);
    DeviceProducedSignal{&raised}.raise(1);
  });
  EXPECT_TRUE(expected.await(1, ranks[1].chain.limits));
  for (Word i = 0; i < 100; ++i) EXPECT_EQ(stored[i], i + 1);
  sender.join();
  Ranks<8> late(2, {}, false, false, 0, 0.02);
  EXPECT_FALSE(expected.await(2, late[1].chain.limits));
  EXPECT_EQ(late[1].waiting[0], 2U);
}

// What is not written ends by the time limit, with the rank's name; which element it was only a chain that checks
// them says.
TEST_F(DeviceProduced, AnElementThatDoesNotComeEndsByTheTimeLimit) {
  for (const bool checked : {false, true}) {
    Ranks<20> ranks(2, {{0, 1}}, true, checked, 0, 0.05);
    for (Word i = 0; i < 70; ++i)
      if (i != 41) ranks.put(0).write(i, value_of<20>(0, i, 1), 1);
    Element<20> value;
    Rank& reader = ranks[1];
    for (Word i = 0; i < 70; ++i)
      EXPECT_EQ(ranks.arrival(0).read(i, value, 1, reader.chain.limits), i != 41) << i;
    EXPECT_EQ(reader.gave_up, 7U);
    EXPECT_EQ(reader.waiting[0], 1U);
    EXPECT_EQ(reader.mistake.kind, checked ? Mistake::not_come : Mistake::none);
    EXPECT_EQ(reader.mistake.element, checked ? 41U : 0U);
  }
}

TEST_F(DeviceProduced, TheCheckedModeNamesTheElement) {
  const auto expect_mistake = [](const Rank& rank, Word kind, Word element, Word step) {
    EXPECT_EQ(rank.mistake.chain, 7U);
    EXPECT_EQ(rank.mistake.kind, kind);
    EXPECT_EQ(rank.mistake.element, element);
    EXPECT_EQ(rank.mistake.elements, 70U);
    EXPECT_EQ(rank.mistake.step, step);
    EXPECT_EQ(rank.over, 1U) << "its waits go on";
  };
  const auto checked = [] { return std::make_unique<Ranks<8>>(2, std::vector<Put>{{0, 1}}, true, true); };
  const auto all_but = [](Ranks<8>& ranks, Word left_out, Word step) {
    for (Word i = 0; i < 70; ++i)
      if (i != left_out) ranks.put(0).write(i, {}, step);
  };
  {
    const auto ranks = checked();
    all_but(*ranks, 70, 1);
    all_but(*ranks, 70, 2);
    EXPECT_EQ((*ranks)[0].mistake.chain, 0U);
    ranks->put(0).write(9, {}, 2);
    ranks->put(0).write(10, {}, 2);  // only the first one is told
    expect_mistake((*ranks)[0], Mistake::twice, 9, 2);
  }
  {
    const auto ranks = checked();
    ranks->put(0).write(70, {}, 1);
    expect_mistake((*ranks)[0], Mistake::out_of_range, 70, 1);
    EXPECT_EQ((*ranks)[0].mistake.sending, 1U);
  }
  {
    const auto ranks = checked();
    Element<8> value;
    EXPECT_FALSE(ranks->arrival(0).read(75, value, 1, (*ranks)[1].chain.limits));
    expect_mistake((*ranks)[1], Mistake::out_of_range, 75, 1);
    EXPECT_EQ((*ranks)[1].mistake.sending, 0U);
  }
  {
    const auto ranks = checked();
    all_but(*ranks, 33, 1);
    Team team(1);
    device::check_elements((*ranks)[0].chain, 1, HostBlock{team, 0, 2, 0, 1});
    EXPECT_EQ((*ranks)[0].mistake.chain, 0U) << "that lot is the other part's";
    device::check_elements((*ranks)[0].chain, 1, HostBlock{team, 1, 2, 0, 1});
    expect_mistake((*ranks)[0], Mistake::not_written, 33, 1);
  }
}

// Without the checks, an element out of range goes nowhere, neither into another's packets nor behind them.
TEST_F(DeviceProduced, AnElementOutOfRangeIsStoredNowhere) {
  Ranks<8> ranks(2, {{0, 1}});
  for (const Word i : {70U, 95U, 96U, 1U << 31, ~Word{0}}) ranks.put(0).write(i, {}, 1);
  for (const device::Packet& packet : std::span(ranks.put(0).packets, std::size_t{2} * ranks.put(0).buffer))
    EXPECT_FALSE(packet.carries(1));
  Element<8> value;
  EXPECT_FALSE(ranks.arrival(0).read(70, value, 1, ranks[1].chain.limits));
  EXPECT_EQ(ranks[1].waiting[0], 1U);
  EXPECT_EQ(ranks[1].gave_up, 7U);
}

}  // namespace
}  // namespace tca::test
