// A ping-pong between the first and the last rank.
#include "model/program.hpp"
#include "model/steps.hpp"

namespace tca::tool {

namespace {

des::Task play(Stage& stage, Steps& steps, std::uint32_t rank, std::uint64_t rounds) {
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const std::size_t way : {0U, 1U}) {
      des::Task step = steps.run({rank, way}, round + 1);
      co_await step;
    }
    if (rank == 0) stage.end_iteration(round);
  }
}

}  // namespace

void run_pingpong(Stage& stage, Scheme scheme, std::uint64_t bytes, std::uint64_t iterations) {
  const std::uint32_t last = stage.ranks() - 1;
  const bool mpi = scheme == Scheme::mpi || (scheme == Scheme::hybrid && !stage.reaches(0, last));
  Steps steps(stage);
  steps.put({0, 0}, {last, 0}, {.bytes = bytes}, mpi ? Carrier::mpi : Carrier::chain);
  steps.put({last, 1}, {0, 1}, {.bytes = bytes}, mpi ? Carrier::mpi : Carrier::chain);
  for (const std::uint32_t rank : {0U, last})
    stage.simulator().spawn(play(stage, steps, rank, iterations), {"rank", rank});
  stage.simulator().run();
}

}  // namespace tca::tool
