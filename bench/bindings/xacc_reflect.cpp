// What a reflect_do of a translated program costs beside a run of the halo by itself: xacc_reflect [cells along a side
// [steps]], under `tca run`. Both exchange the ghosts of an array of doubles shared out in blocks of rows, and take turns.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "runtime/runtime.hpp"

namespace {

constexpr xacc_place here{__FILE__, 0, "reflect_do"};

using Clock = std::chrono::steady_clock;

template <class Step>
double microseconds(std::int64_t steps, const Step& step) {
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 0; i < steps; ++i) step();
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / static_cast<double>(steps);
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The array of the directives: double a[n][n], a shadow of a row on both sides.
xacc_array distributed(std::int64_t n) {
  static xacc_nodes nodes;
  static xacc_template t;
  xacc_array a{};
  const std::int64_t all[] = {xacc_rest}, bounds[] = {0, n, 0, n}, formats[] = {XACC_BLOCK, 0, XACC_NONE, 0};
  const std::int64_t extents[] = {n, n};
  const xacc_align align[] = {{0, 0, 1, 1}, {1, 0, 0, 0}};
  xacc_nodes_make(&nodes, "p", 1, all, &here);
  xacc_template_make(&t, "t", 2, bounds, &here);
  xacc_distribute(&t, &nodes, formats, nullptr, &here);
  xacc_array_make(&a, "a", sizeof(double), 2, extents, &t, align, XACC_OWN, nullptr, &here);
  xacc_reflect_init(&a, nullptr, 0, &here);
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t n = argc > 1 ? std::atoll(argv[1]) : 512;
  const std::int64_t steps = argc > 2 ? std::atoll(argv[2]) : 2000;
  constexpr int turns = 101;
  xacc_start();
  tca::World& world = tca::xacc::Runtime::get().world();
  xacc_array a = distributed(n);
  const tca::Grid grid(world.size(), {world.size(), 1});
  tca::Halo halo(world, "by itself", grid, {a.extent[0] - 2, n}, {.width = {{1, 1}, {0, 0}}});
  const tca::raw::Window window(world, a.extent[0] * n, sizeof(double), "by itself");
  halo.add(window);
  halo.commit();

  std::vector<double> by_directive, by_itself, ratios;
  for (int turn = 0; turn < turns; ++turn) {
    const auto directive = [&] {
      by_directive.push_back(microseconds(steps, [&] { xacc_reflect_do(&a, 0, -1, &here); }));
    };
    const auto itself = [&] { by_itself.push_back(microseconds(steps, [&] { halo.run(); })); };
    if (turn % 2 == 0)
      directive(), itself();
    else
      itself(), directive();
    ratios.push_back(by_directive.back() / by_itself.back());
  }
  if (world.rank() == 0)
    fmt::print(
        "{} ranks, {} bytes from one: reflect_do {:.3f} us, the halo's run {:.3f} us; ratio {:.3f} (median "
        "of {} turns)\n",
        world.size(), halo.bytes(), median(by_directive), median(by_itself), median(ratios), turns);
  return 0;
}
