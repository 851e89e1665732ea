// Tests programs on modelled machines: their costs, and the errors they get when something is wrong.
#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <utility>

#include "core/world/run_threads.hpp"
#include "fabric/sim/model.hpp"
#include "fabric/sim/sim_fabric.hpp"
#include "messages.hpp"
#include "own_folder.hpp"

namespace tca::test {
namespace {

WorldOptions on(const std::string& machine) { return {.fabric = "sim", .machine = machine}; }

struct Outcome {
  std::vector<double> seconds;  // of each rank, at its end
  std::uint64_t hash = 0;       // of every event of the model
  std::uint64_t events = 0;
};

// Does the same as World::run_threads, and returns figures of the model. `fibers`: those that the ranks are; null where
// they are threads.
Outcome run_on(const std::string& machine, int ranks, const std::function<void(World&)>& body,
               base::Fibers* fibers = nullptr) {
  Outcome run{std::vector<double>(static_cast<std::size_t>(ranks))};
  const std::shared_ptr<sim::Model> model = sim::make_model(machine, ranks, {}, {}, fibers);
  const auto connect = [&](int rank) {
    boot::Connections made;
    made.control = sim::make_control(model, rank);
    made.fabrics.push_back(sim::make_fabric(model, *made.control));
    made.places = sim::find_places(*model);
    return made;
  };
  const auto timed = [&](World& world) {
    body(world);
    run.seconds[static_cast<std::size_t>(world.rank())] = world.now().count();
  };
  core::run_threads(ranks, connect, timed, {}, fibers);
  run.hash = model->simulator().hash();
  run.events = model->simulator().events();
  return run;
}

// Every rank puts `values` elements to every other rank, some of them strided, with computation in between.
void exchange_all(World& world, std::int64_t values, int steps) {
  const int me = world.rank(), size = world.size();
  const Window<int> window = world.window<int>(3 * values * size);
  Chain chain = world.chain("all");
  for (int other = 0; other < size; ++other) {
    if (other == me) continue;
    const Layout from = other % 2 == 0 ? stride(values, 2) : block(values);
    chain.put(window.on(other).at(values * me), block(values), window.at(values * size), from).expect(other);
  }
  chain.commit();
  for (int step = 1; step <= steps; ++step) {
    std::fill_n(window.data() + values * size, 2 * values, 100 * step + me);
    chain.start();
    world.compute(1e5 * (1 + me), 1e6);
    chain.wait();
    for (int other = 0; other < size; ++other) {
      if (other == me) continue;
      for (std::int64_t i = 0; i < values; ++i) {
        const int have = window[static_cast<std::size_t>(values * other + i)];
        if (have != 100 * step + other) throw Error(Errc::refused, fmt::format("{} of rank {}", have, other));
      }
    }
  }
}

TEST(SimWorld, RunsAreAllAlike) {
  for (const char* machine : {"ha-pacs-tca", "quong", "h200-cluster"}) {
    const auto body = [](World& world) { exchange_all(world, 300, 4); };
    const Outcome first = run_on(machine, 10, body), second = run_on(machine, 10, body);
    EXPECT_EQ(first.hash, second.hash) << machine;
    EXPECT_EQ(first.events, second.events) << machine;
    EXPECT_EQ(first.seconds, second.seconds) << machine;
    EXPECT_GT(first.seconds[0], 0) << machine;
    const Outcome other = run_on(machine, 10, [](World& world) { exchange_all(world, 301, 4); });
    EXPECT_NE(first.hash, other.hash) << machine;
  }
}

// Returns the explanation of each of rank 0's two puts on HA-PACS/TCA, within a window of 4 MiB. `draft` adds
// the puts, and what other ranks expect.
using Draft = std::function<void(World&, const Window<char>&, Chain&)>;
std::array<std::string, 2> two_puts_explained(int ranks, const Draft& draft) {
  std::string text;
  World::run_threads(
      ranks,
      [&](World& world) {
        const Window<char> window = world.window<char>(4 << 20);
        Chain chain = world.chain("two puts");
        draft(world, window, chain);
        chain.commit();
        if (world.rank() == 0) text = chain.explain();
      },
      on("ha-pacs-tca"));
  const std::size_t second = std::min(text.find("\n  1 "), text.size());
  return {text.substr(0, second), text.substr(second)};
}

// Ranks 0 to 15 are one sub-cluster of HA-PACS/TCA, the others another.
TEST(SimWorld, SubClustersAreJoinedByMpi) {
  const auto [near, far] = two_puts_explained(18, [](World& world, const Window<char>& window, Chain& chain) {
    exchange_all(world, 20, 2);
    for (const int to : {1, 17}) {
      if (world.rank() == 0) chain.put(window.on(to).at(0), window.at(0), block(32));
      if (world.rank() == to) chain.expect(0);
    }
  });
  EXPECT_TRUE(says(near, {"rank 1 ", "sim/tca ", "next best sim/mpi"}));
  EXPECT_TRUE(says(far, {"rank 17 ", "sim/mpi ", "the only channel"}));
}

// Where both channels are open, the controller takes rows straight from the array, and a large block goes
// over two adapters.
TEST(SimWorld, RowsGoDirectAndLargeBlocksOverTheNetwork) {
  constexpr std::int64_t mebibyte = 1 << 20;
  const auto [rows, large] =
      two_puts_explained(2, [](World& world, const Window<char>& window, Chain& chain) {
        if (world.rank() == 1) return void(chain.expect(0));
        chain.put(window.on(1).at(0), window.at(0), block_stride(256, 512, 4096));
        chain.put(window.on(1).at(2 * mebibyte), window.at(2 * mebibyte), block(mebibyte));
      });
  EXPECT_TRUE(says(rows, {"block-stride of 256 rows of 512", "sim/tca ", "next best sim/mpi"}));
  EXPECT_TRUE(says(large, {"block", "sim/mpi ", "next best sim/tca"}));
}

// Every rank puts to every other one, in a fixed order or beginning with the next rank.
double exchange_us(const std::string& machine, bool from_next) {
  constexpr std::int64_t values = 1024;
  const auto body = [&](World& world) {
    const int me = world.rank(), size = world.size();
    const Window<int> window = world.window<int>(2 * values * size);
    Chain chain = world.chain("everyone");
    for (int i = 0; i < size; ++i) {
      const int other = from_next ? (me + i) % size : i;
      if (other == me) continue;
      chain.put(window.on(other).at(values * me), window.at(values * (size + other)), block(values))
          .expect(other);
    }
    chain.commit();
    for (int step = 0; step < 10; ++step) {
      chain.start();
      chain.wait();
    }
  };
  const Outcome run = run_on(machine, 8, body);
  return *std::ranges::max_element(run.seconds) * 1e6;
}

TEST(SimWorld, PutsTakeTurnsAtPortsThatCollide) {
  const OwnFolder folder;
  const std::string path = folder / "turns_cost_nothing.toml";
  std::ofstream(path) << "extends = \"ha-pacs-tca\"\n[units.peach2]\n"
                         "collision = { value = 0, unit = \"ns\", fitted = \"fit: a test\" }\n";
  EXPECT_NE(exchange_us(path, false), exchange_us(path, true));
  EXPECT_EQ(exchange_us("ha-pacs-tca", false), exchange_us("ha-pacs-tca", true));
}

TEST(SimWorld, ARouteIsForced) {
  std::map<std::string, double> us;
  for (const std::string route : {"tca", "mpi", "rma"}) {
    World::run_threads(
        2,
        [&](World& world) {
          const Window<char> window = world.window<char>(16);
          Chain chain = world.chain("forced", {.guarded = true, .time_limit = {}, .channel = route});
          chain.put(window.on(1 - world.rank()).at(8), window.at(0), block(8));
          chain.expect(1 - world.rank()).commit();
          EXPECT_NE(chain.explain().find("sim/" + route), std::string::npos) << chain.explain();
          chain.start();
          chain.wait();
          if (world.rank() == 0) us[route] = world.now().count() * 1e6;
        },
        on("ha-pacs-tca"));
  }
  EXPECT_LT(us["tca"], us["mpi"]);
  EXPECT_NE(us["rma"], us["mpi"]);
  EXPECT_TRUE(refuses(
      Errc::refused, {"put 0 of rank 0: channel 'tca' is none of the channels that reach rank 16", "sim/mpi"},
      [] {
        World::run_threads(
            17,
            [](World& world) {
              const Window<char> window = world.window<char>(16);
              Chain chain = world.chain("forced", {.guarded = true, .time_limit = {}, .channel = "tca"});
              if (world.rank() == 0) chain.put(window.on(16).at(8), window.at(0), block(8));
              if (world.rank() == 16) chain.expect(0);
              chain.commit();
            },
            on("ha-pacs-tca"));
      }));
}

// One chain uses the switch between the GPUs of a box and the adapters between boxes.
TEST(SimWorld, AChainMixesChannels) {
  World::run_threads(
      12, [](World& world) { exchange_all(world, 500, 3); }, on("h200-cluster"));
}

TEST(SimWorld, ComputationTakesWhatTheMachineNeeds) {
  const net::Machine machine = net::read_machine("ha-pacs-tca");
  World::run_threads(
      1,
      [&](World& world) {
        const double begin = world.now().count();
        world.compute(1e9, 0);
        const double moved = world.now().count() - begin;
        const net::GpuKind& gpu = machine.gpu;
        EXPECT_NEAR(moved, des::to_us(gpu.launch + gpu.synchronise + net::kernel_time(gpu, 1e9, 0)) * 1e-6,
                    1e-9);
        EXPECT_TRUE(refuses(Errc::invalid_argument, {"World::compute", "-1"}, [&] { world.compute(-1, 0); }));
      },
      on("ha-pacs-tca"));
  World::run_threads(
      1,
      [](World& world) {
        world.compute(1e15, 1e15);
        EXPECT_NEAR(
            world.now().count(),
            std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(), 5);
      },
      {.fabric = "shm"});
}

// Only what does not overlap with computation adds to the time.
TEST(SimWorld, PutsTravelWhileARankComputes) {
  const auto seconds = [](bool overlap) {
    return run_on("ha-pacs-tca", 2,
                  [overlap](World& world) {
                    const Window<char> window = world.window<char>(2 << 16);
                    Chain chain = world.chain("large");
                    chain.put(window.on(1 - world.rank()).at(1 << 16), window.at(0), block(1 << 16));
                    chain.expect(1 - world.rank()).commit();
                    chain.start();
                    if (overlap) world.compute(2e8, 0);
                    chain.wait();
                    if (!overlap) world.compute(2e8, 0);
                  })
        .seconds[0];
  };
  const double apart = seconds(false), together = seconds(true);
  EXPECT_GT(apart - together, 20e-6);
}

// While rank 1 reads what has arrived, virtual time passes in which the next put could land.
TEST(SimWorld, NothingLandsBeforeItIsPermitted) {
  for (const auto& [machine, route] : {std::pair{"ha-pacs-tca", "tca"},
                                       {"ha-pacs-tca", "mpi"},
                                       {"ha-pacs-tca", "rma"},
                                       {"quong", "ape"},
                                       {"dgx-h200", "nvlink"}}) {
    World::run_threads(
        3,
        [&](World& world) {
          const int me = world.rank();
          const Window<int> window = world.window<int>(2);
          Chain data = world.chain("data", {.guarded = true, .time_limit = {}, .channel = route});
          Chain talk = world.chain("talk");
          if (me == 0) data.put(window.on(1).at(1), window.at(0), block(1));
          if (me == 1) data.expect(0);
          if (me > 0) talk.signal(3 - me).expect(3 - me);
          data.commit();
          talk.commit();
          for (int step = 1; step <= 10; ++step) {
            window[0] = step;
            data.start();
            data.wait();
            for (int i = 0; me > 0 && i < 20; ++i) {
              talk.start();
              talk.wait();
            }
            if (me == 1) {
              EXPECT_EQ(window[1], step) << machine << ", " << route;
            }
          }
        },
        on(machine));
  }
}

// Making and dropping windows takes no virtual time, while a value is on its way.
TEST(SimWorld, AValueOnItsWayToAWindowThatHasGoneLandsNowhere) {
  for (const char* machine : {"ha-pacs-tca", "quong", "dgx-h200"}) {
    World::run_threads(
        2,
        [&](World& world) {
          const int other = 1 - world.rank();
          std::vector<long> held(8, 7);
          world.window(held.data(), 8).on(other).at(5).put(1);
          const Window<long> next = world.window<long>(2);
          next.on(other).at(0).put(2);
          Chain chain = world.chain("signal");
          chain.signal(other).expect(other).commit();
          chain.start();
          chain.wait();
          EXPECT_EQ(held, std::vector<long>(8, 7)) << machine;
          EXPECT_EQ(next[0], 2) << machine;
        },
        on(machine));
  }
}

// Every rank puts to the next, three times.
void go_round(World& world) {
  const int ranks = world.size(), me = world.rank(), next = (me + 1) % ranks, last = (me + ranks - 1) % ranks;
  const Window<int> window = world.window<int>(2);
  Chain chain = world.chain("ring");
  chain.put(window.on(next).at(1), window.at(0), block(1)).expect(last).commit();
  for (int step = 1; step <= 3; ++step) {
    window[0] = 10 * me + step;
    chain.start();
    chain.wait();
    if (window[1] != 10 * last + step) throw Error(Errc::refused, fmt::format("rank {}: {}", me, window[1]));
  }
}

TEST(SimWorld, AThousandRanks) {
  constexpr int ranks = 1024;
  base::Fibers fibers(ranks);
  const Outcome run = run_on("torus-32k", ranks, go_round, base::Fibers::available ? &fibers : nullptr);
  EXPECT_GT(*std::ranges::min_element(run.seconds), 0);
}

TEST(SimWorld, FibersDoAsThreads) {
  if (!base::Fibers::available) GTEST_SKIP() << "sanitizers take the stack of a fiber for a bug";
  constexpr int ranks = 16;
  base::Fibers fibers(ranks);
  const Outcome by_threads = run_on("quong", ranks, go_round),
                by_fibers = run_on("quong", ranks, go_round, &fibers);
  EXPECT_EQ(by_fibers.hash, by_threads.hash);
  EXPECT_EQ(by_fibers.seconds, by_threads.seconds);
}

// One that fails ends the others, which wait for it.
TEST(SimWorld, ErrorsOfRanksThatAreFibers) {
  WorldOptions options = on("quong");
  options.fibers = true;
  std::vector<Caught> all(3);
  const auto body = [&](World& world) {
    const auto act = [&] {
      if (world.rank() == 1) throw Error(Errc::invalid_argument, "rank 1 gives up");
      world.barrier();
    };
    all[static_cast<std::size_t>(world.rank())] = caught(act);
    if (world.rank() == 1) act();
  };
  const Caught first = caught([&] { World::run_threads(3, body, options); });
  EXPECT_EQ(first.message, "rank 1 gives up");
  for (const int rank : {0, 2}) {
    const Caught& told = all[static_cast<std::size_t>(rank)];
    EXPECT_EQ(told.code, Errc::rank_lost);
    EXPECT_TRUE(says(told.message, {"rank 1 failed (rank 1 gives up)", "World::barrier"}));
  }
}

// The cost of a round is the model's time, whether or not the ranks share the cores of this host. If that
// mattered, a sum over 48 ranks would go from every rank to every other one, which takes five times as long.
// The prediction does not know overlap, hence the factor of 2.
TEST(SimWorld, CollectivesAreChosenByTheModel) {
  const auto seconds = [](const std::string& algorithm) {
    const auto body = [&](World& world) {
      AllReduce<double> sum(world, "sum", 1, ReduceOp::sum, {.algorithm = algorithm});
      for (int step = 0; step < 3; ++step) {
        if (sum.reduce(world.rank() + step) != 48 * 47 / 2 + 48 * step)
          throw Error(Errc::refused, "the sum is wrong");
      }
    };
    const Outcome run = run_on("ha-pacs-tca", 48, body);
    return *std::max_element(run.seconds.begin(), run.seconds.end());
  };
  const double chosen = seconds("");
  for (const char* algorithm : {"flat", "reduce_scatter_allgather", "recursive_doubling", "ring",
                                "hierarchical", "flat_to_leaders", "two_level"})
    EXPECT_LE(chosen, 2 * seconds(algorithm)) << algorithm;
}

TEST(SimWorld, ADeadlockTellsWhoWaitsForWhat) {
  const std::vector<Caught> all = caught_by_ranks(
      3,
      [](World& world) {
        const int me = world.rank();
        Chain faces = world.chain("faces");
        faces.signal((me + 1) % 3).expect((me + 2) % 3).commit();
        for (int step = 0; step < 2; ++step) {
          faces.start();
          faces.wait();
        }
        if (me != 2) {
          faces.start();
          faces.wait();
        }
        world.barrier();
      },
      on("ha-pacs-tca"));
  for (const Caught& error : all) {
    EXPECT_EQ(error.code, Errc::timed_out) << error.message;
    EXPECT_TRUE(
        says(error.message,
             {"deadlock: after ", " us of virtual time", "rank 0 waits in step 3 of chain 'faces' for rank 2",
              "rank 1 waits in World::barrier for rank 0", "rank 2 waits in World::barrier for rank 0"}));
  }
}

TEST(SimWorld, WhoWaitsForARankThatFailedIsTold) {
  std::vector<Caught> all(3);
  try {
    World::run_threads(
        3,
        [&](World& world) {
          const int me = world.rank();
          Chain chain = world.chain("faces");
          chain.signal((me + 1) % 3).expect((me + 2) % 3).commit();
          if (me == 1) throw std::runtime_error("disk full");
          all[static_cast<std::size_t>(me)] = caught([&] {
            for (;;) {
              chain.start();
              chain.wait();
            }
          });
          throw Error(all[static_cast<std::size_t>(me)].code, all[static_cast<std::size_t>(me)].message);
        },
        on("ha-pacs-tca"));
    FAIL() << "nothing was thrown";
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "disk full");
  }
  EXPECT_EQ(all[2].code, Errc::rank_lost);
  EXPECT_TRUE(says(all[2].message,
                   {"rank 1 failed (disk full) while rank 2 was waiting for it in step 1 of chain 'faces'"}));
  EXPECT_EQ(all[0].code, Errc::rank_lost);
}

TEST(SimWorld, AMachineThatCannotBeIsRefused) {
  const auto nothing = [](World&) {};
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"3 ranks on peach3", "room for 1 to 2"},
                      [&] { World::run_threads(3, nothing, on("peach3")); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"deep-thought"},
                      [&] { World::run_threads(2, nothing, on("deep-thought")); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument,
                      {"option fabric is 'simulated'", "shm, cuda, mpi, shm+mpi, cuda+mpi and sim"},
                      [&] { World::run_threads(2, nothing, {.fabric = "simulated"}); }));
}

// Writes a machine file that differs from its parent in some lines. Returns its path.
std::string changed(const OwnFolder& folder, const std::string& parent, const std::string& lines) {
  const std::string path = folder / ("changed-" + parent + ".toml");
  std::ofstream(path) << "extends = \"" << parent << "\"\n" << lines;
  return path;
}

TEST(SimWorld, AMachineWithNothingBetweenItsRanksIsRefused) {
  const OwnFolder folder;
  const std::string path = folder / "alone.toml";
  std::ifstream whole(net::find_machine("ha-pacs"));
  std::ofstream alone(path);
  // The machine's MPI library is the last table of its file.
  for (std::string line; std::getline(whole, line) && !line.starts_with("[mpi.");)
    if (!line.starts_with("default_mpi")) alone << line << '\n';
  alone.close();
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"nothing carries data between the ranks of alone"}, [&] {
    World::run_threads(
        2, [](World&) {}, on(path));
  }));
}

// Two tori lie side by side. The cards reach all of one torus, and MPI joins the two.
TEST(SimWorld, CardsReachAsFarAsTheirTorus) {
  const OwnFolder folder;
  const std::string two =
      changed(folder, "quong",
              "nodes = { value = 32, published = \"vicini13: a test\" }\n"
              "[interconnects.ib0]\nsize = { value = [32], published = \"vicini13: a test\" }\n");
  const std::shared_ptr<sim::Model> model = sim::make_model(two, 32);
  EXPECT_EQ(sim::find_places(*model).sub_cluster[15], 0);
  EXPECT_EQ(sim::find_places(*model).sub_cluster[16], 1);
  std::string explained;
  const auto body = [&](World& world) {
    const Window<char> window = world.window<char>(64);
    Chain chain = world.chain("two");
    for (const int to : {15, 16}) {
      if (world.rank() == 0) chain.put(window.on(to).at(0), window.at(0), block(32));
      if (world.rank() == to) chain.expect(0);
    }
    chain.commit();
    if (world.rank() == 0) explained = chain.explain();
    chain.start();
    chain.wait();
  };
  World::run_threads(32, body, on(two));
  const std::size_t second = explained.find("\n  1 ");
  EXPECT_TRUE(says(explained.substr(0, second), {"rank 15 ", "sim/ape "}));
  EXPECT_TRUE(says(explained.substr(second), {"rank 16 ", "sim/mpi ", "the only channel"}));
}

// One GPU sits beside its adapter, the next one across the box. The predictions must not depend on which is
// asked for first.
TEST(SimWorld, APredictionIsOfItsOwnRanks) {
  const base::Shape shape{.run = 65536};
  const auto ask = [&](std::array<int, 2> order) {
    const std::shared_ptr<sim::Model> model = sim::make_model("h200-cluster", 16);
    std::map<int, double> us;
    for (const int to : order) us[to] = model->predict_us(1, 0, to, shape);
    return us;
  };
  const std::map<int, double> there = ask({8, 9}), back = ask({9, 8});
  EXPECT_EQ(there, back);
  EXPECT_LT(there.at(8), there.at(9));
}

// NVLink is found whichever end of its wires is named first.
TEST(SimWorld, WiresHaveNoDirection) {
  const OwnFolder folder;
  const base::Shape shape{.run = 1 << 20};
  const std::string wires = R"(wires = [["nvswitch", "gpu0", "nvlink"], ["nvswitch", "gpu1", "nvlink"],
    ["root", "gpu0", "gpu-bus"], ["root", "gpu1", "gpu-bus"], ["root", "host", "memory-bus"]]
    ranks = ["gpu0", "gpu1"]
    [units.gpu]
    copies = { value = 2, published = "H200: a test" })";
  const std::shared_ptr<sim::Model> turned = sim::make_model(changed(folder, "dgx-h200", wires), 2),
                                    plain = sim::make_model("dgx-h200", 2);
  EXPECT_EQ(turned->predict_us(0, 0, 1, shape), plain->predict_us(0, 0, 1, shape));
}

// A rank's processor is the one on the socket of its GPU, as in `tca model`.
TEST(SimWorld, ARanksHostIsTheNearestOne) {
  const OwnFolder folder;
  const std::shared_ptr<sim::Model> model =
      sim::make_model(changed(folder, "ha-pacs-tca", "ranks = [\"gpu2\"]\n"), 2);
  const std::uint32_t host = model->hardware().place(1).host.unit;
  EXPECT_EQ(model->machine().network.node.units[host].name, "host1");
}

TEST(SimWorld, ComesUpAlone) {
  World world = World::init(on("dgx-h200"));
  EXPECT_EQ(world.size(), 1);
  EXPECT_TRUE(says(world.describe(), {"fabric sim on dgx-h200 (H200)"}));
  const Window<int> window = world.window<int>(4);
  Chain chain = world.chain("own");
  chain.put(window.on(0).at(2), window.at(0), block(2)).expect(0).commit();
  window[1] = 7;
  chain.start();
  chain.wait();
  EXPECT_EQ(window[3], 7);
  EXPECT_GT(world.now().count(), 0);
}

// Puts a block of this rank's to itself twice. Returns how long the second took, in us, and the explanation.
std::pair<double, std::string> put_to_itself(World& world, std::int64_t bytes, const std::string& channel) {
  const int me = world.rank();
  const Window<char> window = world.window<char>(2 * bytes);
  Chain chain = world.chain("own", {.channel = channel});
  chain.put(window.on(me).at(0), window.at(bytes), block(bytes)).expect(me).commit();
  double us = 0;
  for (const char value : {'a', 'b'}) {
    std::fill_n(window.data() + bytes, bytes, value);
    const double begin = world.now().count();
    chain.run();
    us = (world.now().count() - begin) * 1e6;
    EXPECT_EQ(std::count(window.data(), window.data() + bytes, value), bytes);
  }
  return {us, chain.explain()};
}

// A kernel copies faster, but has to be launched and waited for.
TEST(SimWorld, PeachBringsSmallBlocksToTheRankItself) {
  const auto body = [](World& world) {
    const auto [small_us, small] = put_to_itself(world, 4096, "");
    const auto [copied_us, copied] = put_to_itself(world, 4096, "sim/mpi");
    EXPECT_TRUE(says(small, {"sim/tca ", "next best sim/mpi"})) << small;
    EXPECT_LT(small_us, copied_us / 2);
    const auto [large_us, large] = put_to_itself(world, 1 << 20, "");
    EXPECT_TRUE(says(large, {"sim/mpi ", "next best sim/tca"})) << large;
    EXPECT_LT(large_us, put_to_itself(world, 1 << 20, "sim/tca").first);
  };
  World::run_threads(2, body, on("ha-pacs-tca"));
}

// Ranks 0 and 8 are in two boxes that only MPI joins. They start a chain of one value and one of many values
// in different orders.
TEST(SimWorld, ChainsOverMpiMayBeStartedInAnyOrder) {
  const auto body = [](World& world) {
    constexpr std::array<std::int64_t, 2> counts{1, 1 << 16};
    const Window<int> window = world.window<int>(4 << 16);
    const int me = world.rank();
    const bool plays = me % 8 == 0;
    std::array<Chain, 2> chains{world.chain("one"), world.chain("many")};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto at = static_cast<std::int64_t>(i) << 16, source = at + (2 << 16);
      if (plays) chains[i].put(window.on(8 - me).at(at), window.at(source), block(counts[i])).expect(8 - me);
      chains[i].commit();
    }
    for (int step = 0; plays && step < 3; ++step) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
        const std::size_t turn = me == 0 ? i : 1 - i;
        window[(2 + turn) << 16] = 10 * step + static_cast<int>(turn);
        chains[turn].start();
      }
      for (Chain& chain : chains) chain.wait();
      if (window[0] != 10 * step || window[1 << 16] != 10 * step + 1)
        throw Error(Errc::refused, "the other chain's value");
    }
  };
  EXPECT_NO_THROW(World::run_threads(9, body, on("h200-cluster")));
}

TEST(SimWorld, FidelityIsThatOfTheEnvironment) {
  const auto body = [](World& world) { exchange_all(world, 4096, 2); };
  const Outcome packets = run_on("ha-pacs-tca", 2, body);
  setenv("OPENTCA_FIDELITY", "train", 1);
  const Outcome trains = run_on("ha-pacs-tca", 2, body);
  setenv("OPENTCA_FIDELITY", "tpl", 1);
  EXPECT_THROW(sim::make_model("ha-pacs-tca", 2), Error);
  unsetenv("OPENTCA_FIDELITY");
  EXPECT_LT(trains.events, packets.events / 2);
  EXPECT_NEAR(trains.seconds[0] / packets.seconds[0], 1, 0.02);
}

// Flows do not know packets, so their times differ.
TEST(SimWorld, FidelityIsWhatTheProgramAsksFor) {
  const auto seconds_by = [](const std::string& fidelity) {
    WorldOptions options = on("ha-pacs-tca");
    options.fidelity = fidelity;
    double seconds = 0;
    const auto body = [&](World& world) {
      exchange_all(world, 4096, 2);
      if (world.rank() == 0) seconds = world.now().count();
    };
    World::run_threads(4, body, options);
    return seconds;
  };
  setenv("OPENTCA_FIDELITY", "flow", 1);
  const double packets = seconds_by("tlp");
  EXPECT_NE(seconds_by(""), packets);
  EXPECT_NEAR(seconds_by("train") / packets, 1, 0.02);
  unsetenv("OPENTCA_FIDELITY");
  EXPECT_EQ(seconds_by(""), packets);
  try {
    seconds_by("tpl");
    ADD_FAILURE() << "there is no fidelity tpl";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "option fidelity tpl: there are tlp, train, flow and rtl");
  }
}

}  // namespace
}  // namespace tca::test
