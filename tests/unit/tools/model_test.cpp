// Tests `tca model`: its programs do the same as the scorecard's, its ledger accounts for all time, and it
// says what it cannot run.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <regex>
#include <sstream>

#include "model/grid.hpp"
#include "model/run.hpp"
#include "own_folder.hpp"
#include "scorecard/lab.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

ModelResult run_on(const std::string& machine, const std::string& program, const std::string& scheme,
                   std::int64_t ranks = 0) {
  ModelOptions options;
  options.program = program;
  options.machine = machine;
  options.scheme = scheme;
  options.ranks = ranks;
  options.fidelity = "tlp";
  options.bytes = 4096;
  options.size = "XS";
  options.extent = 16;
  return run_model(options);
}

std::string error_of(const ModelOptions& options) {
  try {
    run_model(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return {};
}

// The scorecard has its own ping-pong, which knows more kinds of buffers. Both must agree.
TEST(Model, PingpongIsTheScorecards) {
  const net::Machine machine = net::read_machine("ha-pacs-tca");
  RunSettings settings;
  settings.bytes = 4096;
  for (const char* scheme : {"direct", "mpi"}) {
    settings.scheme = scheme;
    EXPECT_NEAR(run_on("ha-pacs-tca", "pingpong", scheme).mean_us / run_pingpong(machine, settings), 1, 0.01)
        << scheme;
  }
}

// The parameters are a machine and a scheme. In the cases, 0 ranks stands for the program's default.
class Fidelity : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Fidelity, TrainsAgreeWithPackets) {
  const auto& [name, scheme] = GetParam();
  const net::Machine machine = net::read_machine(name);
  double greatest = 0;
  int cases = 0;
  for (const std::string program : {"himeno", "halo", "pingpong", "bcast", "allgather", "allreduce"}) {
    if (std::string_view(scheme) == "rma" && !exchanges_faces(program)) continue;
    for (const std::int64_t ranks : {0, 2, 4, 8}) {
      if (ranks > machine.max_ranks()) continue;
      for (const auto& [extent, bytes] : {std::pair{8, 64}, {16, 4096}, {32, 16384}, {64, 65536}}) {
        if (program == "himeno" && extent > 8) continue;
        ModelOptions options{.program = program, .machine = name, .scheme = scheme, .size = "XS"};
        options.ranks = ranks;
        options.bytes = bytes;
        options.extent = extent;
        options.fidelity = "tlp";
        const double packets = run_model(options).mean_us;
        options.fidelity = "train";
        const double apart = run_model(options).mean_us / packets - 1;
        greatest = std::max(greatest, std::abs(apart));
        ++cases;
        EXPECT_LT(std::abs(apart), 0.05) << program << ", " << ranks << " ranks, " << bytes << " bytes";
      }
    }
  }
  EXPECT_GT(cases, 0);
  std::printf("%s, %s: %d cases, greatest difference %.3f %%\n", name, scheme, cases, greatest * 100);
}

INSTANTIATE_TEST_SUITE_P(EveryScheme, Fidelity,
                         testing::Combine(testing::Values("ha-pacs-tca", "peach3", "quong", "h200-cluster"),
                                          testing::Values("direct", "mpi", "rma", "hybrid")));
INSTANTIATE_TEST_SUITE_P(MpiAlone, Fidelity,
                         testing::Combine(testing::Values("ha-pacs"), testing::Values("mpi", "rma")));
INSTANTIATE_TEST_SUITE_P(OneNode, Fidelity,
                         testing::Combine(testing::Values("dgx-h200"), testing::Values("direct")));

TEST(Model, WindowsSaveTheHandshake) {
  ModelOptions options{.program = "halo", .ranks = 2, .extent = 64, .gpu = 2};
  options.scheme = "mpi";
  const double two_sided = run_model(options).mean_us;
  options.scheme = "rma";
  EXPECT_LT(run_model(options).mean_us, two_sided);
}

// Runs every program on every machine with every scheme that it has there. The ledger must account for all of
// a rank's time.
TEST(Model, EverythingRunsAndAllTimeIsAccountedFor) {
  for (const char* name : {"ha-pacs", "ha-pacs-tca", "peach3", "quong", "dgx-h200", "h200-cluster"}) {
    const net::Machine machine = net::read_machine(name);
    for (const std::string& scheme : schemes_of(machine)) {
      for (const char* program : {"himeno", "halo", "pingpong", "bcast", "allgather", "allreduce"}) {
        if (scheme == "rma" && !exchanges_faces(program)) continue;
        const ModelResult result = run_on(name, program, scheme);
        EXPECT_GT(result.mean_us, 0) << name << ' ' << program << ' ' << scheme;
        if (!exchanges_faces(program)) continue;
        double sum = 0;
        for (const CostUse& use : result.spent) sum += use.mean_us;
        EXPECT_LE(sum, result.mean_us * 1.0001) << name << ' ' << program << ' ' << scheme;
        EXPECT_GE(sum, result.mean_us * 0.9) << name << ' ' << program << ' ' << scheme;
      }
    }
  }
}

TEST(Model, NeighboursOfATorusStandSideBySide) {
  const net::Machine machine = net::read_machine("torus-32k");
  const std::vector<net::RankPlace> places = place_ranks(machine, 64, {4, 4, 4});
  EXPECT_EQ(places[1].node, 1u);
  EXPECT_EQ(places[4].node, 32u);
  EXPECT_EQ(places[16].node, 1024u);
}

// The library's choice: few bytes take few rounds, and many take little work a rank.
TEST(Model, ACollectiveTakesTheLibrarysAlgorithmUnlessToldOtherwise) {
  ModelOptions options{.program = "allreduce", .fidelity = "tlp", .ranks = 12, .bytes = 8};
  const ModelResult small = run_model(options);
  options.bytes = 1 << 20;
  const ModelResult large = run_model(options);
  EXPECT_NE(small.algorithm, large.algorithm);
  EXPECT_GT(large.spent[static_cast<std::size_t>(Cost::kernels)].mean_us, 0);  // which combine
  options.algorithm = small.algorithm;
  const ModelResult forced = run_model(options);
  EXPECT_EQ(forced.algorithm, small.algorithm);
  EXPECT_GT(forced.mean_us, large.mean_us);
}

// Of a ring every rank sends a block in each of p - 1 rounds, so all links of the ring are in use.
TEST(Model, AnAllgatherByARingGoesRound) {
  ModelOptions options{.program = "allgather", .algorithm = "ring", .fidelity = "tlp", .ranks = 8};
  options.bytes = 1 << 16;
  const double ring = run_model(options).mean_us;
  options.bytes = 1 << 17;
  EXPECT_NEAR(run_model(options).mean_us / ring, 2, 0.2);
}

TEST(Model, HybridIsNeverMuchSlowerThanEither) {
  for (const std::int64_t bytes : {64, 1 << 14, 1 << 20}) {
    ModelOptions options{.program = "bcast", .algorithm = "binomial", .fidelity = "tlp", .ranks = 8};
    options.bytes = bytes;
    options.scheme = "hybrid";
    const double hybrid = run_model(options).mean_us;
    for (const char* scheme : {"direct", "mpi"}) {
      options.scheme = scheme;
      EXPECT_LT(hybrid, run_model(options).mean_us * 1.1) << scheme << ", " << bytes << " bytes";
    }
  }
}

TEST(Model, ADirectAllgatherTakesTheChannelsThatThereAre) {
  ModelOptions options{.program = "allgather", .scheme = "direct", .ranks = 4, .bytes = 4096};
  options.overrides["units/peach2/dma/channels"] = 1;
  EXPECT_GT(run_model(options).mean_us, 0);
}

TEST(Model, HimenosExtentIsTheOneAskedFor) {
  EXPECT_EQ(run_model({.grid = "2x1x1", .size = "65x64x64", .ranks = 2}).n, 65);
}

TEST(Model, ANumberOfTheMachineChangesWhatDependsOnIt) {
  ModelOptions options{.program = "pingpong", .fidelity = "tlp", .bytes = 8};
  const double before = run_model(options).mean_us;
  const net::Machine machine = net::read_machine(options.machine);
  const auto latency = std::ranges::find(machine.numbers, "links/cable/latency", &net::MachineNumber::key);
  ASSERT_NE(latency, machine.numbers.end());
  ASSERT_EQ(latency->unit, "us");
  options.overrides["links/cable/latency"] = latency->value + 1;
  EXPECT_NEAR(run_model(options).mean_us, before + 1, 1e-6);
}

// The order in which a machine file names the ends of a wire must not matter.
TEST(Model, WiresHaveNoDirection) {
  const test::OwnFolder folder;
  ModelOptions options{.program = "pingpong", .machine = "dgx-h200", .fidelity = "tlp", .bytes = 1 << 20};
  const double there = run_model(options).mean_us;
  options.machine = folder / "turned.toml";
  std::ifstream in(net::find_machine("dgx-h200"));
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::regex wire(R"re(\["([a-z0-9]+)", "([a-z0-9]+)", "([a-z-]+)"\])re");
  std::ofstream(options.machine) << std::regex_replace(text, wire, R"re(["$2", "$1", "$3"])re");
  EXPECT_EQ(run_model(options).mean_us, there);
}

TEST(Model, WritesATimelineAndAPicture) {
  ModelOptions options{.program = "halo", .grid = "2x2x1", .ranks = 4, .extent = 16};
  const test::OwnFolder folder;
  options.trace = folder / "trace.json";
  options.links = folder / "links.svg";
  run_model(options);
  std::stringstream trace, links;
  trace << std::ifstream(options.trace).rdbuf();
  links << std::ifstream(options.links).rdbuf();
  EXPECT_NE(trace.str().find("\"name\":\"rank 3\""), std::string::npos);
  EXPECT_NE(trace.str().find("\"cat\":\"DMA\""), std::string::npos);
  EXPECT_NE(links.str().find("peach: node 0 to node"), std::string::npos);
}

TEST(Model, SaysWhatItCannotRun) {
  EXPECT_EQ(error_of({.ranks = 65}),
            "65 ranks on ha-pacs-tca: it has room for 1 to 64 (64 nodes, 1 rank each)");
  EXPECT_EQ(error_of({.scheme = "direct", .ranks = 32}),
            "direct: on ha-pacs-tca it reaches 16 ranks, not 32; further ones take mpi, rma or hybrid");
  EXPECT_EQ(error_of({.machine = "dgx-h200", .scheme = "mpi"}),
            "dgx-h200 has no scheme `mpi`; it has direct");
  EXPECT_EQ(error_of({.program = "bcast", .scheme = "rma"}),
            "rma is for himeno and halo; bcast has direct, mpi, hybrid");
  EXPECT_EQ(error_of({.grid = "2x3x1"}), "--grid 2x3x1 holds 6 ranks, not 16");
  EXPECT_EQ(error_of({.grid = "1024,1024,1024"}), "--grid 1024,1024,1024 holds 1073741824 ranks, not 16");
  EXPECT_EQ(error_of({.grid = "2x0x8"}), "--grid 2x0x8: each number must be from 1 to 16777216");
  EXPECT_EQ(error_of({.grid = "2x8"}), "--grid 2x8: give three numbers of ranks, such as 2x2x1, or auto");
  EXPECT_EQ(error_of({.grid = "16x1x1", .size = "8x64x64"}),
            "the grid 16x1x1 has more ranks along a dimension than the 8x64x64 cells");
  EXPECT_EQ(error_of({.program = "bcast", .algorithm = "pairwise", .ranks = 12}).substr(0, 45),
            "--algorithm pairwise: for 12 ranks there are ");
  EXPECT_EQ(error_of({.overrides = {{"links/cabel/latency", 1}}}).substr(0, 78),
            "ha-pacs-tca has no number `links/cabel/latency`; did you mean `links/cable/lat");
}

// Everything that a rank of a solver does is in its ledger, and both ways send the same bytes.
// Within boxes of GPUs NVLink is faster than the network.
TEST(Model, SolversAndTransformsRunInBoxesAndBetweenThem) {
  const std::map<std::string, std::string> sizes{{"cg", "20000x64"}, {"qcd", "8x8x8x8"}, {"fft", "32x32x32"}};
  for (const auto& [program, size] : sizes) {
    ModelOptions options;
    options.program = program;
    options.machine = "h200-cluster";
    options.ranks = 16;
    options.size = size;
    options.iterations = 2;
    options.scheme = "hybrid";
    const ModelResult hybrid = run_model(options);
    options.scheme = "mpi";
    const ModelResult network = run_model(options);

    EXPECT_EQ(hybrid.bytes, network.bytes) << program;
    EXPECT_GT(hybrid.bytes, 0U) << program;
    EXPECT_LT(hybrid.mean_us, network.mean_us) << program;
    double spent = 0;
    for (const CostUse& use : hybrid.spent) spent += use.mean_us;
    EXPECT_LE(spent, hybrid.mean_us * 1.0001) << program;
    EXPECT_GT(spent, hybrid.mean_us * 0.8) << program;
  }
}

TEST(Model, RefusesSizesThatAreNone) {
  ModelOptions options;
  options.machine = "dgx-h200";
  options.program = "qcd";
  options.size = "8x8x8";
  EXPECT_EQ(error_of(options), "--size 8x8x8: give 4 extents, such as 32x32x32x64");
  options.program = "fft";
  options.size = "2x2x2";
  EXPECT_EQ(error_of(options), "--size 2x2x2: too small for 8 ranks");
  options.program = "cg";
  options.size = "S";
  options.ranks = 6;
  EXPECT_EQ(error_of(options), "6 ranks: cg takes a power of two");
}

}  // namespace
}  // namespace tca::tool
