// Tests what happens over time: restarts, many chains, partners that run ahead or lag behind.
#include <algorithm>
#include <numeric>
#include <optional>
#include <random>
#include <thread>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;

// Returns a value that tells writer, chain and step apart.
std::int64_t value(int rank, std::int64_t chain, std::int64_t step) {
  return (step * 1000 + chain) * 100 + rank;
}

// A chain by which a rank sends `count` values to `to` and receives as many from `from` (-1: none).
class Pipe {
 public:
  Pipe(World& world, std::string name, int from, int to, std::int64_t count, ChainOptions options = {})
      : world_(world),
        from_(from),
        source_(world.window<std::int64_t>(count)),
        target_(world.window<std::int64_t>(count)),
        chain_(world.chain(std::move(name), std::move(options))) {
    if (to >= 0) chain_.put(target_.on(to).at(0), source_.at(0), block(count));
    if (from >= 0) chain_.expect(from);
    chain_.commit();
  }

  void start(std::int64_t number, std::int64_t step) {
    number_ = number;
    step_ = step;
    fill(source_, 0, static_cast<std::int64_t>(source_.size()), value(world_.rank(), number, step));
    chain_.start();
  }
  bool test() { return chain_.test(); }
  Chain& chain() { return chain_; }
  void wait() { chain_.wait(); }
  void check() const {
    if (from_ < 0) return;
    for (const std::int64_t have : contents(target_)) {
      require(have == value(from_, number_, step_), "chain {} of rank {} holds {} after step {}, not {}",
              number_, world_.rank(), have, step_, value(from_, number_, step_));
    }
  }

 private:
  World& world_;
  int from_;
  std::int64_t number_ = 0, step_ = 0;
  Window<std::int64_t> source_, target_;
  Chain chain_;
};

int left(const World& world) { return (world.rank() + world.size() - 1) % world.size(); }
int right(const World& world) { return (world.rank() + 1) % world.size(); }

TEST_P(FabricTest, ThousandsOfRestarts) {
  std::vector<Plan> plans;
  for (const std::string& channel : channels()) {
    for (const bool guarded : {true, false}) {
      Plan plan{.ranks = 2, .element_bytes = 8, .guarded = guarded, .channel = channel, .steps = steps(4000)};
      plan.puts = {{0, 1, stride_cells(3, 2), block_cells(3), 0, 1},
                   {1, 0, block_cells(2), block_cells(2), 0, 0}};
      plan.fit(2);
      plans.push_back(plan);
    }
  }
  run_plans(2, plans);
}

// A fabric may try several ways of moving large puts. The steps suffice for it to try them all.
TEST_P(FabricTest, LargePutsOverAndOver) {
  std::vector<Plan> plans;
  for (const std::string& channel : channels()) {
    Plan plan{.ranks = 2, .element_bytes = 8, .channel = channel, .steps = steps(100)};
    plan.puts = {{0, 1, block_stride_cells(40, 33, 70), block_stride_cells(40, 33, 71), 3, 1},
                 {0, 1, block_cells(2500), block_cells(2500), 2900, 2900},
                 {0, 1, stride_cells(100, 3), stride_cells(100, 2), 5500, 5500},
                 {1, 0, block_stride_cells(40, 33, 70), block_cells(1320), 0, 5}};
    plan.fit(2);
    plans.push_back(plan);
  }
  run_plans(2, plans);
}

TEST_P(FabricTest, ManyChainsInAnyOrder) {
  constexpr std::size_t chains = 24;
  for (const std::string& channel : channels()) {
    SCOPED_TRACE("channel " + channel);
    run(3, [&](World& world) {
      std::vector<Pipe> pipes;
      for (std::size_t i = 0; i < chains; ++i) {
        const bool clockwise = i % 2 == 0;
        pipes.emplace_back(world, fmt::format("pipe {}", i), clockwise ? left(world) : right(world),
                           clockwise ? right(world) : left(world), static_cast<std::int64_t>(1 + i * i),
                           ChainOptions{.channel = channel, .reroute = i % 3 == 0});
      }
      std::mt19937 random(static_cast<unsigned>(world.rank()));
      std::vector<std::size_t> order(chains);
      std::iota(order.begin(), order.end(), std::size_t{0});
      for (int step = 1; step <= steps(60); ++step) {
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) pipes[i].start(static_cast<std::int64_t>(i), step);
        std::shuffle(order.begin(), order.end(), random);
        for (const std::size_t i : order) {
          pipes[i].wait();
          pipes[i].check();
        }
      }
    });
  }
}

// Each rank polls only the chain by which it receives. The chain by which it sends still has work to do.
TEST_P(FabricTest, PollingOneChainDrivesTheOthers) {
  for (const std::string& channel : channels()) {
    run(2, [&](World& world) {
      const int me = world.rank();
      const ChainOptions options{.guarded = true, .time_limit = {}, .channel = channel};
      std::vector<Pipe> pipes;
      for (int from = 0; from < 2; ++from) {
        pipes.emplace_back(world, fmt::format("from {}", from), me == from ? -1 : from,
                           me == from ? 1 - me : -1, 1, options);
      }
      Pipe &mine = pipes[static_cast<std::size_t>(me)], &theirs = pipes[static_cast<std::size_t>(1 - me)];
      for (int step = 1; step <= 5; ++step) {
        mine.start(0, step);
        world.barrier();  // each rank has started to send, and no partner is ready
        theirs.start(0, step);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!theirs.test()) {
          require(std::chrono::steady_clock::now() < end, "testing one chain never sends what another owes");
          std::this_thread::yield();
        }
        theirs.check();
        mine.wait();
      }
    });
  }
}

// A rank that calls a collective between start and wait still does its part of the step.
TEST_P(FabricTest, ACollectiveBetweenStartAndWait) {
  for (const std::string& channel : channels()) {
    run(2, [&](World& world) {
      Pipe pipe(world, "pipe", left(world), right(world), 500,
                {.guarded = true, .time_limit = {}, .channel = channel});
      for (int step = 1; step <= 4; ++step) {
        const bool first = world.rank() == step % 2;
        if (!first) std::this_thread::sleep_for(std::chrono::milliseconds(3));
        pipe.start(0, step);
        if (first) world.barrier();
        pipe.wait();
        pipe.check();
        if (!first) world.barrier();
      }
    });
  }
}

TEST_P(FabricTest, TestInsteadOfWait) {
  for (const std::string& channel : channels()) {
    run(3, [&](World& world) {
      Pipe pipe(world, "ring", left(world), right(world), 40,
                {.guarded = true, .time_limit = {}, .channel = channel});
      for (int step = 1; step <= steps(300); ++step) {
        pipe.start(0, step);
        while (!pipe.test()) std::this_thread::yield();
        pipe.check();
        pipe.wait();  // the step is finished, so this returns at once
      }
    });
  }
}

// Slots and rings of destroyed chains are reused. The sizes alternate, so that they are reused for others.
TEST_P(FabricTest, ChainsRecreatedHundredsOfTimes) {
  for (const std::string& channel : channels()) {
    run(3, [&](World& world) {
      const Window<std::int64_t> source = world.window<std::int64_t>(300),
                                 target = world.window<std::int64_t>(300);
      for (int round = 1; round <= steps(250); ++round) {
        const std::int64_t count = round % 3 == 0 ? 300 : round % 3;
        Chain chain =
            world.chain("recreated", {.guarded = round % 5 != 0, .time_limit = {}, .channel = channel});
        chain.put(target.on(right(world)).at(0), source.at(0), block(count)).expect(left(world)).commit();
        for (int step = 0; step < 1 + round % 3; ++step) {
          std::vector<std::int64_t> values;
          for (std::int64_t i = 0; i < count; ++i) values.push_back(value(world.rank(), i, round));
          source.write(0, values);
          chain.start();
          chain.wait();
        }
        const std::vector<std::int64_t> arrived = contents(target);
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t have = arrived[static_cast<std::size_t>(i)];
          require(have == value(left(world), i, round), "element {} is {} in round {}", i, have, round);
        }
        world.barrier();
      }
    });
  }
}

// Ranks drop their handles at different times. A window lives on in the chains that use it, and its memory
// lives on while a partner may still write to it.
TEST_P(FabricTest, WindowsAndChainsOutliveTheirHandles) {
  run(3, [&](World& world) {
    std::vector<Pipe> kept;
    for (int round = 1; round <= steps(60); ++round) {
      Pipe pipe(world, fmt::format("round {}", round), left(world), right(world), 700);
      for (int step = 1; step <= 2; ++step) {
        pipe.start(round, step);
        pipe.wait();
        pipe.check();
      }
      if (round % 4 == world.rank()) kept.push_back(std::move(pipe));
      if (round % 9 == 0) kept.clear();
    }
  });
}

// Values go round through a window that only the chains still refer to.
TEST_P(FabricTest, AChainKeepsItsWindows) {
  run(2, [&](World& world) {
    const Window<int> ends = world.window<int>(8);
    std::optional<Window<int>> middle = world.window<int>(4);
    Chain there = world.chain("there"), back = world.chain("back");
    there.put(middle->on(right(world)).at(0), ends.at(0), block(4)).expect(left(world)).commit();
    back.put(ends.on(left(world)).at(4), middle->at(0), block(4)).expect(right(world)).commit();
    middle.reset();
    for (int step = 1; step <= 20; ++step) {
      fill(ends, 0, 4, 10 * step + world.rank());
      for (Chain* const chain : {&there, &back}) {
        chain->start();
        chain->wait();
      }
      for (const int have : contents(ends))
        require(have == 10 * step + world.rank(), "step {}: {}", step, have);
    }
  });
}

// A sender whose bytes are on their way may destroy a chain and commit the next one before the receiver
// starts the last step. That start must not touch the memory that the sender has since reused.
TEST_P(FabricTest, AReceiverMayLagBehindADestroyedChain) {
  const int count = steps(40);
  std::vector<std::string> that_run_ahead;
  for (const std::string& channel : channels())
    if (channel.ends_with("staged") || channel == "mpi/datatype" || channel == "mpi/packed")
      that_run_ahead.push_back(channel);
  if (that_run_ahead.empty()) GTEST_SKIP() << "no channel here takes bytes before their receiver starts";
  for (const std::string& channel : that_run_ahead) {
    run(2, [&](World& world) {
      const bool sends = world.rank() == 0;
      const auto make_pipe = [&](const char* name) {
        return Pipe(world, name, sends ? -1 : 0, sends ? 1 : -1, 3,
                    {.guarded = true, .time_limit = {}, .channel = channel});
      };
      const auto step = [](Pipe& pipe, int number, int n) {
        pipe.start(number, n);
        pipe.wait();
        pipe.check();
      };
      std::optional<Pipe> first = make_pipe("first");
      for (int n = 1; n < count; ++n) step(*first, 1, n);
      if (sends) {
        step(*first, 1, count);
        first.reset();
      }
      Pipe second = make_pipe("second");
      if (!sends) {
        step(*first, 1, count);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      for (int n = 1; n < count; ++n) step(second, 2, n);
    });
  }
}

// The receiver lags. What it reads after step n must still be step n's data, whatever the protocol.
TEST_P(FabricTest, ASenderNeverOverrunsAReceiver) {
  for (const std::string& channel : channels()) {
    run(2, [&](World& world) {
      const bool sends = world.rank() == 0;
      Pipe pipe(world, "one way", sends ? -1 : 0, sends ? 1 : -1, 33,
                {.guarded = true, .time_limit = {}, .channel = channel});
      std::mt19937 random(7);
      for (int step = 1; step <= steps(400); ++step) {
        if (!sends && random() % 8 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        pipe.start(0, step);
        pipe.wait();
        if (!sends && random() % 8 == 0)
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
        pipe.check();
      }
    });
  }
}

// A partner may be late and still come: the step is not lost with the error, nor is the world.
TEST_P(FabricTest, AStepGoesOnAfterItsTimeLimit) {
  if (GetParam().name.starts_with("cuda")) GTEST_SKIP() << "GPUs give up for good";
  run(2, [](World& world) {
    Chain told = world.chain("told");
    if (world.rank() == 0) told.signal(1);
    if (world.rank() == 1) told.expect(0);
    told.commit();
    Pipe late(world, "late", 1 - world.rank(), 1 - world.rank(), 3, {.time_limit = 400ms});
    if (world.rank() == 0) {
      late.start(0, 1);
      const Caught error = caught([&] { late.wait(); });
      require(error.code == Errc::timed_out && says(error.message, {"step 1 of chain 'late'"}), "{}",
              error.message);
      told.run();
    } else {
      told.start();
      // A modelled machine has no clock for this: it tells both ranks that they wait for each other.
      while (caught([&] { told.wait(); }).code == Errc::timed_out) continue;
      late.start(0, 1);
    }
    late.wait();
    late.check();
    world.barrier();
    Pipe next(world, "next", 1 - world.rank(), 1 - world.rank(), 3);
    next.start(1, 1);
    next.wait();
    next.check();
  });
}

// Where steps are checked, that a forgotten start leaves old ghosts is an error.
TEST_P(FabricTest, AForgottenStartIsAnErrorWhereStepsAreChecked) {
  const auto body = [](World& world) {
    const auto refused = [](const char* what, const std::function<void()>& call) {
      const Caught error = caught(call);
      require(error.code == Errc::invalid_argument && says(error.message, {what, "call start first"}), "{}",
              error.message);
    };
    Halo halo(world, "ghosts", Grid(world.size(), {0}, {true}), {4});
    halo.add(world.window<int>(halo.elements())).commit();
    refused("wait of chain 'ghosts' without a start: no step", [&] { halo.wait(); });
    halo.start();
    while (!halo.test()) continue;
    halo.wait();
    refused("wait of chain 'ghosts' without a start: its step 1 was waited for", [&] { halo.wait(); });
    refused("test of chain 'ghosts' without a start", [&] { return halo.test(); });
    AllReduce<double> sum(world, "sum");
    refused("test of the allreduce 'sum' without a start", [&] { return sum.test(); });
    require(sum.reduce(1) == world.size(), "the sum is wrong");
    refused("wait of the allreduce 'sum' without a start", [&] { sum.wait(); });
    halo.run();
  };
  EXPECT_EQ(GetParam().make()->run(2, body, {.time_limit = 25s, .check_steps = true}), "");
}

// The caller's limit ends a wait, not the step, which then goes on as if nobody had waited.
TEST_P(FabricTest, WaitForEndsAtTheCallersLimit) {
  run(2, [](World& world) {
    const int me = world.rank();
    Pipe pipe(world, "late", me == 1 ? 0 : -1, me == 0 ? 1 : -1, 5);
    Chain& chain = pipe.chain();
    if (me == 1) {
      pipe.start(1, 1);
      for (const auto limit : {0ms, 1ms, 20ms})
        require(!chain.wait_for(limit), "the step has finished before its partner has started it");
    }
    world.barrier();
    if (me == 0) pipe.start(1, 1);
    while (!chain.wait_for(10ms)) {
    }
    pipe.check();
    require(chain.wait_for(0ms) && chain.test(), "the step has not finished");
    pipe.start(1, 2);
    pipe.wait();
    pipe.check();
  });
}

// No wait is long enough to look for lost ranks itself.
TEST_P(FabricTest, ManyShortWaitsFindARankThatIsLost) {
  if (GetParam().name.find("mpi") != std::string::npos)
    GTEST_SKIP() << "ranks leave together; see mpi_ends_test.cpp";
  run(2, [](World& world) {
    const int me = world.rank();
    Pipe pipe(world, "left", me == 1 ? 0 : -1, me == 0 ? 1 : -1, 5);
    if (me == 1) pipe.start(1, 1);
    world.barrier();
    if (me == 0) return;
    for (const std::chrono::nanoseconds limit : {0ns, 1000ns, 1000000ns}) {
      const Caught error = caught_while_looking([&] { return pipe.chain().wait_for(limit); });
      require(error.code == Errc::rank_lost && error.fields.missing == std::vector<int>{0}, "{}: {}",
              limit.count(), error.message);
    }
  });
}

}  // namespace
}  // namespace tca::test
