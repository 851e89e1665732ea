// What a step costs in C and in C++, in turn:
//   c_calls [STEPS [TURNS]]                     ranks are threads
//   tca run -n 2 -- c_calls [STEPS [TURNS]]     two processes; rank 0 prints
// Two ranks put 8 bytes to each other. A rank alone puts to itself, where nothing but the calls and a few stores takes
// time. With --json it prints the times of each turn, for languages.py.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tca/tca.h"
#include "tca/tca.hpp"

namespace {

using Clock = std::chrono::steady_clock;

struct Work {
  int steps = 200'000;
  double time = 0;  // of rank 0, in ns a step
};

double nanoseconds(Clock::time_point begin, int steps) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / steps;
}

void in_cpp(tca::World& world, Work& work) {
  const int other = (world.rank() + 1) % world.size();
  const tca::raw::Window u(world, 2, 8);
  tca::Chain chain = world.chain("step");
  chain.put(u.on(other).at(1), u.at(0), tca::block(1)).expect(other).commit();
  for (int i = 0; i < work.steps / 10; ++i) chain.run();
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < work.steps; ++i) chain.run();
  if (world.rank() == 0) work.time = nanoseconds(begin, work.steps);
}

void check(tca_status status) {
  if (status == TCA_OK) return;
  fmt::print(stderr, "{}\n", tca_last_message());
  std::exit(status);
}

tca_status in_c(tca_world* world, void* context) {
  Work& work = *static_cast<Work*>(context);
  int me = 0, size = 0;
  tca_window* u = nullptr;
  tca_chain* chain = nullptr;
  tca_layout one{};
  check(tca_world_rank(world, &me));
  check(tca_world_size(world, &size));
  const int other = (me + 1) % size;
  check(tca_window_create(world, 2, 8, nullptr, &u));
  check(tca_chain_create(world, "step", nullptr, &chain));
  check(tca_layout_block(1, &one));
  check(tca_chain_put(chain, tca_at(u, other, 1), &one, tca_here(u, 0), nullptr));
  check(tca_chain_expect(chain, other));
  check(tca_chain_commit(chain));
  for (int i = 0; i < work.steps / 10; ++i) check(tca_chain_run(chain));
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < work.steps; ++i) check(tca_chain_run(chain));
  if (me == 0) work.time = nanoseconds(begin, work.steps);
  check(tca_chain_free(chain));
  return tca_window_free(u);
}

struct Times {
  int ranks;
  std::string_view language;
  std::vector<double> turns = {};
};

double median(std::vector<double> times) {
  std::ranges::nth_element(times, times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2));
  return times[times.size() / 2];
}

void print(const Times& times) {
  fmt::print("{} rank{}: run() {:.1f} ns in {} (median of {} turns), least {:.1f}\n", times.ranks,
             times.ranks == 1 ? "" : "s", median(times.turns), times.language, times.turns.size(),
             std::ranges::min(times.turns));
}

void print(const std::vector<Times>& all, bool as_json) {
  if (!as_json) {
    for (const Times& times : all) print(times);
    return;
  }
  nlohmann::json lines = nlohmann::json::array();
  for (const Times& times : all)
    lines.push_back({{"ranks", times.ranks}, {"language", times.language}, {"ns", times.turns}});
  fmt::print("{}\n", nlohmann::json{{"compiler", "GCC " __VERSION__}, {"times", lines}}.dump());
}

template <class Cpp, class C>
std::vector<Times> in_turn(int ranks, int turns, Work& work, Cpp&& cpp, C&& c) {
  Times of_cpp{ranks, "c++"}, of_c{ranks, "c"};
  for (int turn = 0; turn < turns; ++turn) {
    cpp();
    of_cpp.turns.push_back(work.time);
    c();
    of_c.turns.push_back(work.time);
  }
  return {of_cpp, of_c};
}

std::vector<Times> among_threads(int ranks, int turns, Work work) {
  return in_turn(
      ranks, turns, work,
      [&] { tca::World::run_threads(ranks, [&](tca::World& world) { in_cpp(world, work); }); },
      [&] { check(tca_world_run_threads(ranks, in_c, &work, nullptr)); });
}

std::vector<Times> among_processes(int ranks, int turns, Work work) {
  return in_turn(
      ranks, turns, work,
      [&] {
        tca::World world = tca::World::init();
        in_cpp(world, work);
      },
      [&] {
        tca_world* world = nullptr;
        check(tca_world_init(nullptr, &world));
        check(in_c(world, &work));
        check(tca_world_free(world));
      });
}

struct Seat {
  int rank, size;
};

Seat seat() {
  const tca::World world = tca::World::init();
  return {world.rank(), world.size()};
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  const bool as_json = std::erase(words, "--json") > 0;
  Work work;
  int turns = 21;
  if (!words.empty()) work.steps = std::atoi(words[0].data());
  if (words.size() > 1) turns = std::atoi(words[1].data());
  const auto [rank, size] = seat();
  if (size > 1) {
    const std::vector<Times> all = among_processes(size, turns, work);
    if (rank == 0) print(all, as_json);
    return 0;
  }
  std::vector<Times> all = among_threads(1, turns, work);
  const std::vector<Times> two = among_threads(2, turns, work);
  all.insert(all.end(), two.begin(), two.end());
  print(all, as_json);
}
