// The smallest program: a world of one rank that writes to itself.
#include <tca/tca.hpp>

int main() {
  tca::World world = tca::World::init();
  auto window = world.window<int>(2);
  auto chain = world.chain("self");
  chain.put(window.on(world.rank()).at(1), window.at(0), tca::block(1)).expect(world.rank()).commit();
  window[0] = 42;
  chain.start();
  chain.wait();
  return window[1] == 42 ? 0 : 1;
}
