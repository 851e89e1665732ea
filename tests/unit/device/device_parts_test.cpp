// Tests the division of work among parts: every chunk and every segment belongs to exactly one part, however
// many parts there are.
#include <gtest/gtest.h>

#include <map>

#include "device_ranks.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

// A warp of the part with this number, which never has to wait for others.
struct Alone {
  Word index_, count_;
  [[nodiscard]] Word index() const { return index_; }
  [[nodiscard]] Word count() const { return count_; }
};

// An item, and the number of a unit within it.
using Unit = std::pair<Word, Word>;

// A random table of items, some without units, and the list of all units.
template <class Item>
struct Units {
  Units(std::mt19937& random, Word Item::*end) {
    items.resize(random_in(random, 1, 20));
    for (Word i = 0; i < items.size(); ++i) {
      const Word units = random_in(random, 0, 3) == 0 ? 0 : random_in(random, 1, 9);
      items[i].link = i;
      for (Word unit = 0; unit < units; ++unit) all.push_back({i, unit});
      items[i].*end = count();
    }
    table.count = static_cast<Word>(items.size());
    for (Word i = 0; i < table.count && i < table.inlined; ++i) table.items[i] = items[i];
    table.more = items.size() > table.inlined ? &items[table.inlined] : nullptr;
  }
  [[nodiscard]] Word count() const { return static_cast<Word>(all.size()); }

  std::vector<Item> items;
  device::Table<Item> table;
  std::vector<Unit> all;
};

TEST(DeviceParts, ShareChunks) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (int round = 0; round < 300; ++round) {
    const Units<device::LlPut> units(random, &device::LlPut::end_chunk);
    const Word parts = random_in(random, 1, 40);
    std::map<Unit, int> met;
    for (Word part = 0; part < parts; ++part) {
      device::Chunks<Alone> chunks(units.table, units.count(), Alone{part, parts});
      for (Word chunk = part; chunks.next(); chunk += parts) {
        ASSERT_LT(chunk, units.count());
        ASSERT_EQ(Unit(chunks.put.link, chunks.chunk), units.all[chunk]) << part << " of " << parts;
        ++met[units.all[chunk]];
      }
    }
    ASSERT_EQ(met.size(), units.all.size());
    for (const auto& [unit, times] : met) ASSERT_EQ(times, 1);
  }
}

TEST(DeviceParts, FindSegments) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (int round = 0; round < 300; ++round) {
    const Units<device::Arrivals> units(random, &device::Arrivals::end_segment);
    for (Word s = 0; s < units.count(); ++s) {
      const device::Segment<device::Arrivals> segment = device::find_segment(units.table, s);
      ASSERT_EQ(Unit(segment.item.link, segment.number), units.all[s]);
    }
  }
}

// Sends and receives step 1 part after part, all in one thread. What is carried never or twice shows in the
// bytes.
void run_parts_in_turn(DeviceRanks& ranks, const std::vector<Word>& parts) {
  const auto each_part = [&](auto call) {
    for (int rank = 0; rank < static_cast<int>(parts.size()); ++rank) {
      const Word count = parts[static_cast<std::size_t>(rank)];
      for (Word part = 0; part < count; ++part) {
        Team team(1);
        const HostBlock block{team, part, count, 0, 1};
        call(ranks[rank].chain, block);
      }
    }
  };
  each_part([](const DeviceChain& chain, const HostBlock& block) {
    ASSERT_TRUE(device::post_ready(chain, 1, block, device::PartsStart::apart));
  });
  each_part([](const DeviceChain& chain, const HostBlock& block) {
    ASSERT_TRUE(device::send_packets(chain, 1, HostWarp{block, false}));
    ASSERT_TRUE(device::send_stores(chain, 1, block, false));
  });
  each_part([](const DeviceChain& chain, const HostBlock& block) {
    ASSERT_TRUE(device::receive_packets(chain, 1, HostWarp{block, false}));
    ASSERT_TRUE(device::receive_stores(chain, 1, block));
  });
}

TEST(DeviceParts, NeedNotBeAsManyAtBothEnds) {
  const Seed seed;
  SCOPED_TRACE(seed.how_to_repeat());
  std::mt19937 random(seed.value());
  for (int round = 0; round < 300; ++round) {
    std::vector<DevicePut> puts;
    for (Word i = random_in(random, 1, 20); i > 0; --i) {
      const bool back = random_in(random, 0, 2) == 0;
      const Carrier carrier = random_in(random, 0, 1) == 0 ? Carrier::packets : Carrier::stores;
      puts.push_back(random_device_put(random, back ? 1 : 0, back ? 0 : 1, carrier));
    }
    DeviceRanks ranks(2, puts);
    for (const DeviceRank::Unit& unit : ranks[0].units_out) unit.put->fill(unit.number, 1, 0, 1);
    for (const DeviceRank::Unit& unit : ranks[1].units_out) unit.put->fill(unit.number, 1, 0, 1);
    run_parts_in_turn(ranks, {random_in(random, 1, 40), random_in(random, 1, 40)});
    for (const int rank : {0, 1}) {
      for (const DeviceRank::Unit& unit : ranks[rank].units_in) {
        ASSERT_EQ(unit.put->wrong_byte(unit.number, 1, 0, 1), "");
        ASSERT_TRUE(unit.put->gaps_are_untouched());
      }
    }
  }
}

}  // namespace
}  // namespace tca::test
