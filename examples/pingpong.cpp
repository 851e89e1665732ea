// The smallest ping-pong: the first and the last rank send a number back and forth.
//
//   tca run -n 2 -- ./pingpong      or: mpirun -n 2 ./pingpong      or alone: it sends to itself
#include <chrono>
#include <cstdio>

#include "tca/tca.hpp"

int main() try {
  auto world = tca::World::init();
  const int me = world.rank();
  const int last = world.size() - 1;
  auto number = world.window<long>(2);  // 0: what I send, 1: what I receive

  // The transfers are described once. Every rank commits every chain, even one in which it has no part.
  auto ping = world.chain("ping");
  if (me == 0) ping.put(number.on(last).at(1), number.at(0), tca::block(1));
  if (me == last) ping.expect(0);
  ping.commit();

  auto pong = world.chain("pong");
  if (me == last) pong.put(number.on(0).at(1), number.at(0), tca::block(1));
  if (me == 0) pong.expect(last);
  pong.commit();

  constexpr long rounds = 10'000;
  const auto begin = std::chrono::steady_clock::now();
  for (long round = 0; round < rounds; ++round) {
    if (me == 0) number[0] = round;
    ping.start();
    ping.wait();
    if (me == last) number[0] = number[1] + 1;
    pong.start();
    pong.wait();
    if (me == 0 && number[1] != round + 1) {
      std::printf("wrong: %ld came back for %ld\n", number[1], round);
      return 1;
    }
  }
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  if (me == 0) std::printf("%ld rounds, %.2f us one way\n", rounds, time.count() / (2.0 * rounds));
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
