// A small program: a world of one rank that writes to itself, sums, and is refused.
#include <stdexcept>
#include <string>
#include <tca/tca.hpp>

namespace {

bool writes(tca::World& world) {
  auto window = world.window<int>(2);
  auto chain = world.chain("self");
  chain.put(window.on(world.rank()).at(1), window.at(0), tca::block(1)).expect(world.rank()).commit();
  window[0] = 42;
  chain.start();
  chain.wait();
  return window[1] == 42;
}

bool sums(tca::World& world) { return tca::AllReduce<double>(world, "sum").reduce(2.5) == 2.5; }

// The library throws, and the program knows the type of what it catches.
bool is_refused(tca::World& world) {
  tca::Chain chain = world.chain("refused");
  try {
    chain.expect(7);
  } catch (const std::runtime_error& error) {
    const auto* const known = dynamic_cast<const tca::Error*>(&error);
    return known != nullptr && known->code() == tca::Errc::invalid_argument;
  }
  return false;
}

bool is_caught(tca::World& world) {
  try {
    world.chain("late").start();
  } catch (const tca::Error& error) {
    return std::string(error.what()).find("late") != std::string::npos;
  }
  return false;
}

}  // namespace

int main() {
  tca::World world = tca::World::init();
  return writes(world) && sums(world) && is_refused(world) && is_caught(world) ? 0 : 1;
}
