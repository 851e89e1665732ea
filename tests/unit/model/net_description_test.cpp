// Tests that impossible machines are refused with a message that says what is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "messages.hpp"
#include "model/net/plan.hpp"
#include "net_machines.hpp"

namespace tca::test {
namespace {

using namespace net;

TEST(Descriptions, OfTheTestsAreSound) {
  EXPECT_NO_THROW(check(peach_machine(two_rings(), 64)));
  EXPECT_NO_THROW(check(torus_machine(4, 4, 4)));
  EXPECT_NO_THROW(check(box_machine({TopologyKind::fat_tree, {4, 2, 2}, {}}, 8)));
  EXPECT_NO_THROW(check(ape_machine()));
}

struct Flaw {
  const char* name;
  void (*make)(Description&);
  std::vector<std::string_view> says;
};

class Flaws : public testing::TestWithParam<Flaw> {};

TEST_P(Flaws, AreNamed) {
  Description machine = peach_machine(two_rings(), 16);
  GetParam().make(machine);
  for (const std::string_view part : GetParam().says) {
    EXPECT_TRUE(refuses(Errc::invalid_argument, {part}, [&] { check(machine); })) << GetParam().name;
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfAMachine, Flaws,
    testing::Values(
        Flaw{"no nodes", [](Description& m) { m.nodes = 0; }, {"machine 'peach'", "no nodes"}},
        Flaw{"no rate", [](Description& m) { m.links[1].bytes_per_s = 0; }, {"link 'cable' carries nothing"}},
        Flaw{"no payload",
             [](Description& m) { m.links[0].payload_bytes = 0; },
             {"link 'gen2'", "without payload"}},
        Flaw{
            "negative", [](Description& m) { m.links[0].latency = -1; }, {"link 'gen2'", "negative latency"}},
        Flaw{"one credit",
             [](Description& m) { m.links[1].credits = 1; },
             {"link 'cable' has one credit", "'tca'"}},
        Flaw{"cut off",
             [](Description& m) { m.node.wires.erase(m.node.wires.begin() + 2); },
             {"no wires", "'gpu1'"}},
        Flaw{"no such unit", [](Description& m) { m.node.wires[0].a = 99; }, {"a wire joins units 99"}},
        Flaw{"no such link",
             [](Description& m) { m.node.wires[0].back = 9; },
             {"'host' to 'socket0'", "no kind"}},
        Flaw{"no memory", [](Description& m) { m.node.units[1].memory.reset(); }, {"unit 'gpu0'", "memory"}},
        Flaw{"not a NIC", [](Description& m) { m.interconnects[0].nic = 0; }, {"'tca' has no NIC"}},
        Flaw{"no tags", [](Description& m) { m.node.units[6].dma->tags = 0; }, {"'peach2' needs", "tags"}},
        Flaw{"ill fitting", [](Description& m) { m.nodes = 24; }, {"joins 16 nodes", "24"}},
        Flaw{"larger than counts",
             [](Description& m) {
               m.interconnects[0].topology = {TopologyKind::torus, {1300, 2501, 1321}, {}};
             },
             {"torus of interconnect 'tca' has more nodes than the machine's 16"}},
        Flaw{"too many interconnects",
             [](Description& m) { m.interconnects.resize(256, m.interconnects[0]); },
             {"there are 256 interconnects", "255 are the most"}},
        Flaw{"three rings", [](Description& m) { m.interconnects[0].topology.size[1] = 3; }, {"has 3 rings"}},
        Flaw{"one size",
             [](Description& m) { m.interconnects[0].topology.size.pop_back(); },
             {"1 sizes instead of 2"}},
        Flaw{"an order",
             [](Description& m) { m.interconnects[0].topology.order[3] = 0; },
             {"order of interconnect 'tca'"}}),
    [](const auto& flaw) {
      std::string name = flaw.param.name;
      std::replace(name.begin(), name.end(), ' ', '_');
      return name;
    });

TEST(Descriptions, HaveNoMoreKindsOfLinksThanCanBeNumbered) {
  Description machine = peach_machine(two_rings(), 16);
  const std::size_t ports = Plan(machine).classes().size() - machine.links.size();
  machine.links.resize(256 - ports, machine.links[0]);
  EXPECT_NO_THROW(Plan{machine});
  machine.links.push_back(machine.links[0]);
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"machine 'peach' has 257 kinds of links", "256 are the most"},
                      [&] { Plan{machine}; }));
}

TEST(Descriptions, NamesAreLookedUp) {
  const Description machine = peach_machine(two_rings(), 16);
  EXPECT_EQ(find_unit(machine.node, "gpu1"), 2u);
  EXPECT_EQ(find_link(machine, "cable"), 1u);
  EXPECT_EQ(find_interconnect(machine, "tca"), 0u);
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"no unit 'gpu9'", "gpu0, gpu1"},
                      [&] { find_unit(machine.node, "gpu9"); }));
}

TEST(Descriptions, PcieRates) {
  EXPECT_DOUBLE_EQ(pcie_bytes_per_s(2, 8), 4e9);
  EXPECT_NEAR(pcie_bytes_per_s(3, 8), 7.877e9, 1e6);
  EXPECT_EQ(pcie_bytes_per_s(0, 8), 0);
  EXPECT_EQ(pcie_bytes_per_s(3, 3), 0);
}

}  // namespace
}  // namespace tca::test
