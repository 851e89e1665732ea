// Misuse: dropping what a call is made for.
#include "tca/tca.hpp"

void dropped_results(tca::World& world, tca::Halo& halo, tca::AllReduce<double>& sum) {
#ifdef TCA_MISUSE
#pragma GCC diagnostic error "-Wunused-result"
  tca::World::init();
  world.window<double>(8);
  world.chain("faces");
  world.all_gather(1);
  halo.index({0, 0});
  halo.test();
  halo.explain();
  sum.reduce(1);
#else
  const tca::World another = tca::World::init();
  const auto window = world.window<double>(8);
  const auto chain = world.chain("faces");
  const auto ranks = world.all_gather(1);
  const bool done = halo.index({0, 0}) > 0 && halo.test() && !halo.explain().empty() && sum.reduce(1) > 0;
  static_cast<void>(done);
#endif
}
