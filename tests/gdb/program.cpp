// What a debugger is shown; printers_test.py stops it in `look`.
#include <tca/tca.hpp>

#include "base/layout/shape.hpp"
#include "core/chain/chain_state.hpp"  // so that its debug information is here, whatever the library was compiled with

using tca::core::ChainState;

[[gnu::noinline]] void look(const char* when) { asm volatile("" : : "r"(when) : "memory"); }

int main() {
  const tca::Layout row = tca::block(64);
  const tca::Layout rows = tca::block_stride(8, 16, 128);
  [[maybe_unused]] const tca::Layout column = tca::stride(10, 32);
  const tca::Layout box = tca::subarray({8, 8, 8}, {1, 2, 3}, {4, 4, 4});
  tca::base::Shape shape{.run = 4, .loop_count = 1};
  shape.loops[0] = {.count = 10, .to_pitch = 128, .from_pitch = 4};

  tca::World world = tca::World::init();
  auto u = world.window<int>(3);
  for (int i = 0; i < 3; ++i) u[static_cast<std::size_t>(i)] = 7 + i;
  auto moved = world.window<int>(1);
  const auto taken = std::move(moved);

  tca::Chain chain = world.chain("faces");
  chain.put(u.on(0).at(1), u.at(0), tca::block(1)).expect(0);
  look("draft");
  chain.commit();
  chain.run();
  chain.start();
  look("running");
  chain.wait();
  look("over");
  return sizeof(ChainState) == 0 ? 1
                                 : static_cast<int>(row.run() * rows.run() * box.run() * 0 + shape.run * 0);
}
