// Tests what only sub-clusters of GPUs with MPI between them have: one chain over both fabrics, on streams
// and in graphs, messages in several chunks, and what kernels are refused.
#include "coll_on_stream.hpp"
#include "mpi/mpi_ranks.hpp"
#include "ring.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

std::string run_hybrid(int ranks, const Ranks::Body& body) {
  return mpi_backend("cuda+mpi", 2, {}).make()->run(ranks, body, {.time_limit = std::chrono::seconds(25)});
}

// Two ranks form a sub-cluster. Each rank reaches one neighbour by kernels and the other over MPI, or both
// over MPI.
class Hybrid : public testing::TestWithParam<const char*> {
 protected:
  void run(const std::function<void(Ring&)>& body) {
    EXPECT_EQ(run_hybrid(4,
                         [&](World& world) {
                           Ring ring(world, {.channel = GetParam()});
                           body(ring);
                           ring.finish();
                           world.barrier();
                         }),
              "");
  }
};

TEST_P(Hybrid, ByTheHost) {
  run([](Ring& ring) {
    for (long s = 1; s <= 50; ++s) ring.by_host(s);
  });
}
TEST_P(Hybrid, OnAStream) {
  run([](Ring& ring) {
    for (long s = 1; s <= 100; ++s) ring.by_stream(s, s % 3 == 0);
  });
}
TEST_P(Hybrid, InAGraphMixedWithTheOthers) {
  run([](Ring& ring) {
    const Replay graph = ring.capture(4);
    for (int round = 0; round < 20; ++round) {
      graph.launch();
      if (round % 3 == 0) ring.by_stream(7'000'000 + round, round % 2 == 0);
      if (round % 5 == 0) {
        ok(cudaStreamSynchronize(ring.stream));
        ring.by_host(9'000'000 + round);
      }
    }
    ok(cudaStreamSynchronize(ring.stream));
  });
}
INSTANTIATE_TEST_SUITE_P(Gpu, Hybrid, testing::Values("", "mpi"),
                         [](const auto& way) { return *way.param == 0 ? "both" : "mpi_alone"; });

struct Large {
  const char* name;
  Layout layout;
  // The layout spans `elements` elements and contains the first `run` of every `pitch`.
  std::size_t elements, run, pitch;
};

// Sends more than a chunk, whole chunks and odd ends, with the next step following at once.
TEST(HybridLarge, MessagesOfSeveralChunks) {
  constexpr std::size_t mebi = std::size_t{1} << 20;
  for (const Large& large :
       {Large{"block", block(5 * mebi + 13), 5 * mebi + 13, 5 * mebi + 13, 5 * mebi + 13},
        Large{"block-stride", block_stride(1000, 3001, 4001), 999 * 4001 + 3001, 3001, 4001},
        Large{"stride", stride(mebi + 1, 3), 3 * mebi + 1, 1, 3}}) {
    const auto body = [&](World& world) {
      const int me = world.rank(), partner = (me + 2) % 4;
      const auto elements = static_cast<std::int64_t>(large.elements);
      const Window<std::uint8_t> from = world.window<std::uint8_t>(elements),
                                 to = world.window<std::uint8_t>(elements);
      Chain chain = world.chain(large.name);
      chain.put(to.on(partner).at(0), from.at(0), large.layout).expect(partner).commit();
      cudaStream_t stream;
      ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      std::vector<std::uint8_t> bytes(large.elements);
      const auto value = [](int rank, int step, std::size_t i) {
        return static_cast<std::uint8_t>((i * 2654435761U >> 13) +
                                         static_cast<std::size_t>(16 * rank + step));
      };
      for (int step = 1; step <= 6; ++step) {
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(me, step, i);
        from.write(0, bytes);
        if (step % 2 == 0) {
          chain.start(stream);
          chain.wait(stream);
          ok(cudaStreamSynchronize(stream));
        } else {
          chain.start();
          chain.wait();
        }
        const std::vector<std::uint8_t> got = contents(to);
        for (std::size_t i = 0; i < got.size(); ++i) {
          const std::uint8_t want = i % large.pitch < large.run ? value(partner, step, i) : std::uint8_t{0};
          require(got[i] == want, "{}: byte {} of step {} is {}, not {}", large.name, i, step, got[i], want);
        }
      }
      cudaStreamDestroy(stream);
      world.check();
      world.barrier();
    };
    EXPECT_EQ(run_hybrid(4, body), "") << large.name;
  }
}

TEST(HybridCollectives, OfEveryKind) {
  for (const CollectiveKind kind :
       {CollectiveKind::broadcast, CollectiveKind::all_gather, CollectiveKind::all_reduce,
        CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    for (const std::int64_t count : {1, 1000}) {
      const auto body = [&](World& world) { check_collective(world, {.kind = kind, .count = count}); };
      EXPECT_EQ(run_hybrid(4, body), "");
    }
  }
}

// Covers reductions, where the GPU combines what one chain has brought before the next one starts.
TEST(HybridCollectives, OnStreamsAndInGraphs) {
  for (const CollectiveKind kind :
       {CollectiveKind::barrier, CollectiveKind::broadcast, CollectiveKind::all_gather,
        CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    for (const std::int64_t count : {1, 37, 1000}) {
      for (const By by : {By::turns, By::graph}) {
        const auto body = [&](World& world) {
          check(world,
                {.kind = kind,
                 .type = "double",
                 .count = kind == CollectiveKind::barrier ? 0 : count,
                 .steps = 4},
                by);
        };
        EXPECT_EQ(run_hybrid(4, body), "");
      }
    }
  }
}

TEST(HybridCollectives, CombineEveryTypeAndOperationOnTheGpu) {
  const auto body = [](World& world) {
    for (const char* type : {"float", "double", "int", "long"}) {
      for (const ReduceOp op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product}) {
        for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter})
          check(world, {.kind = kind, .type = type, .count = 130, .op = op, .steps = 2}, By::stream);
      }
    }
  };
  EXPECT_EQ(run_hybrid(4, body), "");
}

TEST(HybridCollectives, ByEveryAlgorithm) {
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter}) {
    for (const std::string& algorithm : coll_algorithms(kind, 4)) {
      const auto body = [&](World& world) {
        check(world, {.kind = kind, .type = "long", .algorithm = algorithm, .count = 100, .steps = 3},
              By::stream);
      };
      EXPECT_EQ(run_hybrid(4, body), "") << algorithm;
    }
  }
}

TEST(HybridCollectives, RefuseAStreamWhereTheHostCombines) {
  const auto body = [](World& world) {
    AllReduce<double> sum(world, "norm", 4, [](double a, double b) { return a + b; });
    sum.run(nullptr);
  };
  const std::string message = run_hybrid(4, body);
  EXPECT_NE(message.find("run of the allreduce 'norm' on a stream: it goes by"), std::string::npos)
      << message;
}

void expect_refusal(const Ranks::Body& body, const std::string& words) {
  const std::string message = run_hybrid(4, body);
  EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(HybridRefusals, KernelsStayInTheirSubCluster) {
  const auto chain_to = [](World& world, int distance) {
    const int size = world.size(), me = world.rank(), to = distance == 1 ? me ^ 1 : (me + 2) % size;
    const Window<int> window = world.window<int>(2);
    Chain chain = world.chain("one put");
    chain.put(window.on(to).at(0), window.at(1), block(1)).expect(to).commit();
    return chain;
  };
  EXPECT_EQ(run_hybrid(4, [&](World& world) { return chain_to(world, 1).device(); }), "");
  expect_refusal([&](World& world) { return chain_to(world, 2).device(); },
                 "no kernel can drive what goes over the fabric mpi");
  expect_refusal([](World& world) { return world.team("all", 1); }, "do not reach rank");
}

}  // namespace
}  // namespace tca::test
