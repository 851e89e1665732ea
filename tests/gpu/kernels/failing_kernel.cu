// Exchanges between ranks. In step 5, a kernel of rank 1's program that does not use OpenTCA stores to an
// invalid address. Usage:
//   failing_kernel host|engine|stream
#include <cstdio>
#include <string>

#include "tca/tca.hpp"

namespace {

__global__ void store_nowhere() { *reinterpret_cast<volatile int*>(16) = 1; }

void exchange(const std::string& way) {
  tca::World world = tca::World::init({.fabric = "cuda", .engine_blocks = way == "engine" ? 1 : 0});
  tca::Window<double> u = world.window<double>(64);
  const int other = 1 - world.rank();
  tca::Chain chain = world.chain("pair");
  chain.put(u.on(other).at(0), u.at(32), tca::block(32)).expect(other).commit();
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  for (int step = 1; step <= 1'000'000; ++step) {  // it takes milliseconds until the fault is noticed
    if (step == 5 && world.rank() == 1) store_nowhere<<<1, 1, 0, stream>>>();
    if (way == "stream") {
      chain.run(stream);
      cudaStreamSynchronize(stream);
      world.check();
    } else {
      chain.start();
      chain.wait();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    exchange(argc > 1 ? argv[1] : "host");
  } catch (const tca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
  return 0;
}
