// The four ways to start a chain: by the host, on a stream, in a CUDA graph, and from kernels; alone and mixed. Every rank
// sends a strided face to its right neighbour and one to its left; each step's values tell rank and step apart.
#include <gtest/gtest.h>

#include "field.hpp"
#include "ranks.hpp"

namespace tca::test {
namespace {

void ok(cudaError_t result) { require(result == cudaSuccess, "CUDA: {}", cudaGetErrorString(result)); }

class Ring {
 public:
  Ring(World& world, const ChainOptions& options)
      : rank(world.rank()),
        left((rank + world.size() - 1) % world.size()),
        right((rank + 1) % world.size()),
        u(world.window<long>(rows * pitch)),
        chain(world.chain("ring", options)) {
    const Layout face = block_stride(rows, width, pitch);
    chain.put(u.on(left).at(pitch - width), u.at(width), face);
    chain.put(u.on(right).at(0), u.at(pitch - 2 * width), face);
    chain.expect(left);
    if (left != right) chain.expect(right);
    chain.commit();
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    here = {u.data(), rank, left, right, nullptr};
    ok(cudaMallocHost(&here.wrong, sizeof *here.wrong));
    ok(cudaMalloc(&step, sizeof *step));
    *here.wrong = 0;
  }
  ~Ring() {
    cudaStreamDestroy(stream);
    cudaFreeHost(here.wrong);
    cudaFree(step);
  }

  void by_host(long s) {
    write_faces(here, s, stream);
    ok(cudaStreamSynchronize(stream));
    chain.start();
    chain.wait();
    check_ghosts(here, s, stream);
    ok(cudaStreamSynchronize(stream));
  }
  void by_stream(long s, bool fused) {
    write_faces(here, s, stream);
    if (fused) {
      chain.exchange(stream);
    } else {
      chain.start(stream);
      chain.wait(stream);
    }
    check_ghosts(here, s, stream);
  }
  void by_kernel(long s, int steps) { ok(run_steps(chain.device(), here, s, steps, stream)); }
  cudaGraphExec_t capture(int steps) {
    cudaGraph_t graph;
    ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < steps; ++i) {
      write_next_faces(here, step, stream);
      if (i % 2 == 0) {
        chain.exchange(stream);
      } else {
        chain.start(stream);
        chain.wait(stream);
      }
      check_next_ghosts(here, step, stream);
    }
    ok(cudaStreamEndCapture(stream, &graph));
    cudaGraphExec_t exec;
    ok(cudaGraphInstantiate(&exec, graph, 0));
    ok(cudaGraphDestroy(graph));
    return exec;
  }
  void finish(World& world) {
    ok(cudaStreamSynchronize(stream));
    world.check();
    require(*here.wrong == 0, "rank {}: {} ghost elements are wrong", rank, *here.wrong);
  }

  int rank, left, right;
  Window<long> u;
  Chain chain;
  cudaStream_t stream{};
  Field here{};
  long* step = nullptr;
};

struct Way {
  int ranks;
  bool guarded;
  const char* route;
};
class Starts : public testing::TestWithParam<Way> {
 protected:
  void run(const std::function<void(World&, Ring&)>& body) {
    const Way way = GetParam();
    const std::string failure = thread_ranks("cuda")->run(way.ranks, [&](World& world) {
      Ring ring(world, {.guarded = way.guarded, .route = way.route});
      body(world, ring);
      ring.finish(world);
      world.barrier();
    });
    EXPECT_EQ(failure, "");
  }
};

TEST_P(Starts, ByTheHost) {
  run([](World&, Ring& ring) {
    for (long s = 1; s <= 100; ++s) ring.by_host(s);
  });
}
TEST_P(Starts, OnAStream) {
  run([](World&, Ring& ring) {
    for (long s = 1; s <= 1000; ++s) ring.by_stream(s, s % 3 == 0);
  });
}
TEST_P(Starts, InAKernel) {
  run([](World&, Ring& ring) { ring.by_kernel(1, 2000); });
}
TEST_P(Starts, InAGraphMixedWithTheOthers) {
  run([](World&, Ring& ring) {
    cudaGraphExec_t exec = ring.capture(6);
    ok(cudaMemsetAsync(ring.step, 0, sizeof(long), ring.stream));
    for (int round = 0; round < 200; ++round) {
      ok(cudaGraphLaunch(exec, ring.stream));
      if (round % 3 == 0) ring.by_stream(7'000'000 + round, round % 2 == 0);
      if (round % 7 == 0) ring.by_kernel(8'000'000 + round, 3);
      if (round % 50 == 0) {
        ok(cudaStreamSynchronize(ring.stream));
        ring.by_host(9'000'000 + round);
      }
    }
    ok(cudaStreamSynchronize(ring.stream));
    ok(cudaGraphExecDestroy(exec));
  });
}

// Unguarded stores into a ghost that is read between steps would be the caller's mistake; lines never land early.
INSTANTIATE_TEST_SUITE_P(Cuda, Starts,
                         testing::Values(Way{2, true, "ll"}, Way{2, true, "direct"},
                                         Way{2, true, "copy_engine"}, Way{3, true, "ll"},
                                         Way{3, true, "direct"}, Way{2, false, "ll"}, Way{4, true, ""}));

}  // namespace
}  // namespace tca::test
