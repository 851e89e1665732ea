// Tests puts by MPI's windows on a modelled machine: a program that moves bytes takes as long as the model's
// own exchange of faces.
#include <array>

#include "messages.hpp"
#include "model/run.hpp"

namespace tca::test {
namespace {

constexpr int steps = 3;

// Returns the time that `tca model halo` gives for both faces of a cube of doubles between two ranks, each of
// which is the other's neighbour on both sides.
double model_us(const std::string& machine, const std::string& scheme, std::int64_t extent) {
  tool::ModelOptions options{.program = "halo", .machine = machine, .scheme = scheme, .fidelity = "tlp"};
  options.ranks = 2;
  options.extent = extent;
  options.iterations = steps;
  return tool::run_model(options).mean_us;
}

// Uses one chain per face, since a step of a chain sends all that goes to one rank as one message.
double program_us(const std::string& machine, const std::string& route, std::int64_t extent) {
  double us = 0;
  const auto body = [&](World& world) {
    const int other = 1 - world.rank();
    const std::int64_t face = extent * extent;
    const Window<double> out = world.window<double>(2 * face), in = world.window<double>(2 * face);
    std::array<Chain, 2> faces{
        world.chain("one side", {.guarded = true, .time_limit = {}, .channel = route}),
        world.chain("other side", {.guarded = true, .time_limit = {}, .channel = route})};
    for (const int side : {0, 1}) {
      Chain& chain = faces[static_cast<std::size_t>(side)];
      chain.put(in.on(other).at(side * face), out.at(side * face), block(face)).expect(other).commit();
    }
    world.barrier();
    const double begin = world.now().count();
    for (int step = 1; step <= steps; ++step) {
      std::fill_n(out.data(), 2 * face, 10 * step + world.rank());
      for (Chain& chain : faces) chain.start();
      for (Chain& chain : faces) chain.wait();
      for (std::int64_t i = 0; i < 2 * face; ++i)
        ASSERT_EQ(in[static_cast<std::size_t>(i)], 10 * step + other) << i;
    }
    world.barrier();
    if (other == 1) us = (world.now().count() - begin) * 1e6 / steps;
  };
  World::run_threads(2, body, {.fabric = "sim", .machine = machine});
  return us;
}

TEST(SimRma, TakesAsLongAsInTheModel) {
  for (const std::string machine : {"ha-pacs-tca", "quong"}) {
    for (const std::int64_t extent : {1, 16, 64, 192}) {  // 8 B to 288 KiB
      const double model = model_us(machine, "rma", extent), program = program_us(machine, "rma", extent);
      EXPECT_NEAR(program / model, 1, 0.001) << machine << ", " << extent;
      EXPECT_NE(program, program_us(machine, "mpi", extent)) << machine << ", " << extent;
      std::printf("%s, two faces of %lld B: %.3f us in the model, %.3f us by the program\n", machine.c_str(),
                  static_cast<long long>(8 * extent * extent), model, program);
    }
  }
}

// The route rma is not taken unless asked for, and not where there is no MPI or no second node.
TEST(SimRma, IsTakenWhereItIsAskedFor) {
  std::string explained;
  const auto between = [&](const std::string& machine, int to, const std::string& route) {
    World::run_threads(to + 1,
                       [&](World& world) {
                         const Window<char> window = world.window<char>(1 << 17);
                         Chain chain =
                             world.chain("large", {.guarded = true, .time_limit = {}, .channel = route});
                         if (world.rank() == 0) chain.put(window.on(to).at(0), window.at(0), block(1 << 17));
                         if (world.rank() == to) chain.expect(0);
                         chain.commit();
                         if (world.rank() == 0) explained = chain.explain();
                       },
                       {.fabric = "sim", .machine = machine});
  };
  between("h200-cluster", 8, "rma");
  EXPECT_TRUE(says(explained, {"sim/rma", "forced to channel 'rma'"}));
  between("h200-cluster", 8, "");
  EXPECT_TRUE(says(explained, {"sim/mpi "}));
  for (const std::string machine : {"dgx-h200", "h200-cluster"})
    EXPECT_TRUE(refuses(Errc::refused,
                        {"channel 'rma' is none of the channels that reach rank 1", "which are sim/nvlink"},
                        [&] { between(machine, 1, "rma"); }));
}

}  // namespace
}  // namespace tca::test
