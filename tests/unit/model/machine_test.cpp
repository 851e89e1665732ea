// Tests the machines that come with OpenTCA, and the errors for machines whose parts do not fit together.
#include "model/machine/machine.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include "tca/error.hpp"

namespace tca::net {
namespace {

const std::vector<std::string> machines{"dgx-h100",    "dgx-h200", "h200-4096", "h200-cluster", "ha-pacs",
                                        "ha-pacs-tca", "peach3",   "quong-v5",  "quong",        "torus-32k"};

TEST(Machine, TheListHasThoseThatComeWithTheProject) {
  const std::vector<std::string> list = list_machines();
  for (const std::string& name : machines) EXPECT_NE(std::ranges::find(list, name), list.end()) << name;
}

TEST(Machine, EachIsReadAndEachNumberHasASource) {
  for (const std::string& name : machines) {
    const Machine machine = read_machine(name);
    EXPECT_EQ(machine.name, name);
    EXPECT_FALSE(machine.title.empty());
    EXPECT_GT(machine.numbers.size(), 30u) << name;
    for (const MachineNumber& number : machine.numbers) {
      EXPECT_FALSE(number.source.empty()) << number.key;
      EXPECT_GT(number.place.line, 0) << number.key;
    }
  }
}

TEST(Machine, Shapes) {
  EXPECT_EQ(read_machine("ha-pacs").max_ranks(), 268u);
  EXPECT_EQ(read_machine("ha-pacs-tca").max_ranks(), 64u);
  EXPECT_EQ(read_machine("ha-pacs-tca").network.interconnects.front().topology.nodes(), 16u);
  EXPECT_EQ(read_machine("peach3").max_ranks(), 2u);
  EXPECT_EQ(read_machine("quong").max_ranks(), 16u);
  EXPECT_EQ(read_machine("dgx-h200").max_ranks(), 8u);
  EXPECT_EQ(read_machine("h200-cluster").max_ranks(), 256u);
  EXPECT_EQ(read_machine("torus-32k").max_ranks(), 32768u);
}

TEST(Machine, RanksFillANodeThenTheNext) {
  const Machine box = read_machine("h200-cluster");
  EXPECT_EQ(place_of_rank(box, 9).node, 1u);
  EXPECT_EQ(box.network.node.units[place_of_rank(box, 9).unit].name, "gpu1");
}

TEST(Machine, TooManyRanks) {
  const Machine box = read_machine("dgx-h200");
  EXPECT_NO_THROW(check_ranks(box, 8));
  try {
    check_ranks(box, 9);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "9 ranks on dgx-h200: it has room for 1 to 8 (1 node, 8 ranks each)");
  }
}

TEST(Machine, UnknownMachine) {
  try {
    read_machine("ha-pac");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("there is no machine `ha-pac`; there are "), std::string::npos);
  }
}

TEST(Machine, UnknownLibrary) {
  try {
    find_mpi(read_machine("quong"), "openmpi");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "quong has no MPI library `openmpi`; it has mvapich2");
  }
}

TEST(Machine, ALibraryThatIsLikeAnother) {
  const Machine machine = read_machine("ha-pacs-tca");
  const MpiLibrary& both = find_mpi(machine, "mvapich2-gdr-2.2");
  const MpiLibrary& tuned = find_mpi(machine, "mvapich2-gdr-2.2-tuned");
  EXPECT_EQ(tuned.write_direct_limit, 8192);
  EXPECT_EQ(both.write_direct_limit, 256 << 10);
  EXPECT_EQ(tuned.send, both.send);
  EXPECT_EQ(find_mpi(machine, "mvapich2-gdr-2.0-tuned").rails.size(), 1u);
}

// Replaces `what` by `by` in a machine's text. Returns the error of reading it.
std::string error_after(const std::string& name, const std::string& what, const std::string& by) {
  std::ifstream in(find_machine(name));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  text.replace(at, what.size(), by);
  try {
    read_machine(MachineFile(text, "m.toml"));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_TRUE(std::regex_search(error.what(), std::regex("^[^ :]+:[0-9]+:[0-9]+: "))) << error.what();
    return error.what();
  }
  return {};
}

void expect_error(const std::string& error, const std::string& words) {
  EXPECT_NE(error.find(words), std::string::npos) << error;
}

TEST(Machine, TopologyThatDoesNotDivideTheNodes) {
  expect_error(error_after("ha-pacs-tca", "[8, 2]", "[9, 2]"), "64 nodes cannot be made up of parts of 18");
}

TEST(Machine, TopologyOfTheWrongDimensions) {
  expect_error(error_after("quong", "[4, 2, 2]", "[4, 2, 2, 1]"), "a torus has 1 to 3 extents, not 4");
}

TEST(Machine, DoubleRingOfThreeRings) {
  expect_error(error_after("ha-pacs-tca", "[8, 2]", "[4, 4]"), "a double_ring has two rings");
}

TEST(Machine, OrderThatNamesANodeTwice) {
  const std::string error = error_after("ha-pacs-tca", "[1, 3, 5,", "[1, 1, 5,");
  expect_error(error, "`order` does not name each of the 16 nodes of the topology once");
  EXPECT_FALSE(error.starts_with("m.toml:1:1:")) << error;
}

TEST(Machine, TwoUnitsOfOneName) {
  expect_error(error_after("ha-pacs-tca", "[units.socket0]", "[units.gpu0]"),
               "there is a unit `gpu0` already");
}

TEST(Machine, SwitchesOfAStarThatAreMissing) {
  expect_error(error_after("quong", "switch.hop = ", "switchhop = "),
               "[interconnects.ib0.switch] lacks `hop`");
}

TEST(Machine, SwitchesThatATopologyDoesNotHave) {
  expect_error(error_after("quong", "topology = \"star\"", "topology = \"ring\""), "a ring has no switches");
}

TEST(Machine, CyclesOfOneCredit) {
  const MachineFile file(
      "extends = \"quong\"\n[links.torus]\ncredits = { value = 1, fitted = \"fit: a choice\" }\n", "m.toml");
  try {
    read_machine(file);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("m.toml:3:11: a link around the cycles"), 0u) << error.what();
  }
}

TEST(Machine, MoreInlinedThanAPacketHolds) {
  expect_error(error_after("ha-pacs-tca", "inline_limit = { value = 16, unit = \"B\"",
                           "inline_limit = { value = 5, unit = \"GiB\""),
               "`inline_limit` is 5368709120 bytes, and can be 1 GiB at most");
}

TEST(Machine, RateBesideAGeneration) {
  expect_error(error_after("ha-pacs-tca", "[links.cable]",
                           "[links.cable]\nrate = { value = 4, unit = \"GB/s\", published = \"S1\" }"),
               "[links.cable] has `generation` and `lanes` already; leave `rate` out");
}

TEST(Machine, FollowersThatCannotFollow) {
  const std::string before = "fitted = \"fit: same as gpu/launch\"";
  expect_error(error_after("ha-pacs-tca", before, "fitted = \"fit: same as gpu/lunch\""),
               "which is no number of this machine; did you mean `gpu/launch`?");
  expect_error(error_after("ha-pacs-tca", before, "fitted = \"fit: same as gpu/peak\""),
               "whose unit is \"Tflop/s\", not \"us\"");
  expect_error(error_after("ha-pacs-tca", before, "fitted = \"fit: same as links/qpi-to-0/latency\""),
               "which follows links/qpi-to-1/latency itself; name a number that follows none");
}

TEST(Machine, MisspeltTopology) {
  expect_error(error_after("quong", "topology = \"torus\"", "topology = \"tours\""),
               "did you mean \"torus\"?");
}

TEST(Machine, WireToAUnitThatThereIsNot) {
  expect_error(error_after("quong", "[\"ape\", \"chipset\"", "[\"apee\", \"chipset\""),
               "there is no unit `apee`; there are host, ");
}

TEST(Machine, UnitWithoutAWire) {
  expect_error(error_after("quong", "  [\"hca\", \"chipset\", \"card-bus\"],\n", ""), "hca");
}

TEST(Machine, NicThatIsNone) {
  expect_error(error_after("quong", "nic = \"ape\"", "nic = \"host\""), "`host` has not the role of a nic");
}

TEST(Machine, RankThatComputesInABridge) {
  expect_error(error_after("quong", "ranks = [\"gpu0\"]", "ranks = [\"chipset\"]"), "`chipset` is none");
}

TEST(Machine, TwoRanksInOneMemory) {
  expect_error(error_after("quong", "ranks = [\"gpu0\"]", "ranks = [\"gpu0\", \"gpu0\"]"),
               "`ranks` names `gpu0` more than once");
}

TEST(Machine, TopologyOfMoreNodesThanThereAre) {
  expect_error(error_after("quong", "[4, 2, 2]", "[16, 16, 16]"),
               "a torus of 16 x 16 x 16 has more nodes than the machine's 16");
}

TEST(Machine, LanesThatPcieDoesNotHave) {
  expect_error(error_after("quong", "lanes = { value = 8", "lanes = { value = 7"),
               "PCIe has no links of 7 lanes");
}

TEST(Machine, ShareAboveOne) {
  expect_error(error_after("quong", "memory_share = { value = 0.7", "memory_share = { value = 1.7"),
               "so 1 at most");
}

TEST(Machine, LibraryThatIsLikeItself) {
  expect_error(error_after("ha-pacs-tca", "like = \"mvapich2-gdr-2.0\"", "like = \"mvapich2-gdr-2.0-tuned\""),
               "is like itself");
}

TEST(Machine, LibraryWithoutAName) {
  expect_error(error_after("h200-cluster", "[mpi.cuda-aware]", "[mpi.\"\"]"), "a table of [mpi] has no name");
}

TEST(Machine, ChunkOfNothing) {
  expect_error(error_after("dgx-h100", "chunk = { value = 384,", "chunk = { value = 0,"),
               "`chunk` is 0 bytes; it can be 1 to 65536");
}

TEST(Machine, LibraryOnARailThatThereIsNot) {
  expect_error(error_after("quong", "rails = [\"ib0\"]", "rails = [\"ib7\"]"),
               "there is no interconnect `ib7`");
}

TEST(Machine, LibraryOnOneRailTwice) {
  expect_error(error_after("quong", "rails = [\"ib0\"]", "rails = [\"ib0\", \"ib0\"]"),
               "`rails` names `ib0` more than once");
}

TEST(Machine, RateOutOfRange) {
  const auto with = [](const std::string& rate) {
    return error_after("quong", "rate = { value = 4.0, unit = \"GB/s\"", "rate = " + rate);
  };
  expect_error(with("{ value = 1, unit = \"B/s\""), "`rate` is 1 B/s; the model has 1 MB/s to 1000 TB/s");
  expect_error(with("{ value = 1001, unit = \"TB/s\""), "`rate` is 1.001e+15 B/s");
}

TEST(Machine, AUnitsNearestHost) {
  const Machine machine = read_machine("ha-pacs-tca");
  const NodeKind& node = machine.network.node;
  EXPECT_EQ(nearest_host(node, find_unit(node, "gpu0")), find_unit(node, "host"));
  EXPECT_EQ(nearest_host(node, find_unit(node, "gpu2")), find_unit(node, "host1"));
}

TEST(Machine, DefaultLibraryThatThereIsNot) {
  expect_error(error_after("quong", "default_mpi = \"mvapich2\"", "default_mpi = \"mvapich3\""),
               "[mpi] has no `mvapich3`");
}

TEST(Machine, OverridesReachTheModel) {
  const Machine faster = read_machine("quong", {{"gpu/launch", 1.0}});
  EXPECT_EQ(faster.gpu.launch, 1'000'000);
}

TEST(Machine, RooflineOfAKernel) {
  const GpuKind gpu{.memory_bytes_per_s = 100e9, .memory_share = 0.5, .flops_per_s = 1e12};
  EXPECT_EQ(kernel_time(gpu, 50e3, 0), 1'000'000);    // 1 us of memory traffic
  EXPECT_EQ(kernel_time(gpu, 50e3, 4e6), 4'000'000);  // 4 us of arithmetic
}

}  // namespace
}  // namespace tca::net
