// What a step costs in C and in C++: c_calls [steps]. Two ranks are threads that put 8 bytes to each other,
// and one rank alone puts to itself, where nothing but the calls and a few stores takes time. Both languages
// take turns.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "tca/tca.h"
#include "tca/tca.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::time_point begin, int steps) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / steps;
}

double in_cpp(int ranks, int steps) {
  double time = 0;
  tca::World::run_threads(ranks, [&](tca::World& world) {
    const int other = (world.rank() + 1) % ranks;
    const tca::raw::Window u(world, 2, 8);
    tca::Chain chain = world.chain("step");
    chain.put(u.on(other).at(1), u.at(0), tca::block(1)).expect(other).commit();
    for (int i = 0; i < steps / 10; ++i) chain.run();
    const Clock::time_point begin = Clock::now();
    for (int i = 0; i < steps; ++i) chain.run();
    if (world.rank() == 0) time = nanoseconds(begin, steps);
  });
  return time;
}

void check(tca_status status) {
  if (status == TCA_OK) return;
  fmt::print(stderr, "{}\n", tca_last_message());
  std::exit(status);
}

struct Measured {
  int ranks, steps;
  double time;
};

tca_status in_c_body(tca_world* world, void* context) {
  Measured& all = *static_cast<Measured*>(context);
  int me = 0;
  tca_window* u = nullptr;
  tca_chain* chain = nullptr;
  tca_layout one{};
  check(tca_world_rank(world, &me));
  const int other = (me + 1) % all.ranks;
  check(tca_window_create(world, 2, 8, nullptr, &u));
  check(tca_chain_create(world, "step", nullptr, &chain));
  check(tca_layout_block(1, &one));
  check(tca_chain_put(chain, tca_at(u, other, 1), &one, tca_here(u, 0), nullptr));
  check(tca_chain_expect(chain, other));
  check(tca_chain_commit(chain));
  for (int i = 0; i < all.steps / 10; ++i) check(tca_chain_run(chain));
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < all.steps; ++i) check(tca_chain_run(chain));
  if (me == 0) all.time = nanoseconds(begin, all.steps);
  check(tca_chain_free(chain));
  return tca_window_free(u);
}

double in_c(int ranks, int steps) {
  Measured all{ranks, steps, 0};
  check(tca_world_run_threads(ranks, in_c_body, &all, nullptr));
  return all.time;
}

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = argc > 1 ? std::atoi(argv[1]) : 200'000;
  constexpr int turns = 21;
  for (const int ranks : {1, 2}) {
    std::vector<double> cpp, c;
    for (int turn = 0; turn < turns; ++turn) {
      cpp.push_back(in_cpp(ranks, steps));
      c.push_back(in_c(ranks, steps));
    }
    const double least_cpp = std::ranges::min(cpp), least_c = std::ranges::min(c);
    fmt::print("{} rank{}: run() {:.1f} ns in C++, {:.1f} ns in C (medians of {}), least {:.1f} and {:.1f}\n",
               ranks, ranks == 1 ? " " : "s", median(cpp), median(c), turns, least_cpp, least_c);
  }
}
