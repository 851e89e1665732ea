// Compares the virtual clock of a program with the model driven directly: both must give the time that the
// hardware needs.
#include <gtest/gtest.h>

#include "model/machine/machine.hpp"
#include "model/nic/peach.hpp"
#include "tca/tca.hpp"

namespace tca {
namespace {

constexpr int rounds = 3;

struct Side {
  Side(des::Simulator& simulator, std::uint32_t at)
      : node(at), arrived(simulator, {"a message for node", at}), sent(simulator, {"the flag of node", at}) {}
  std::uint32_t node;
  net::DmaChain chain;
  des::Counter arrived, sent;
};

des::Task play(des::Simulator& simulator, net::Peach& peach, const net::HostKind& host, Side& own,
               bool begins) {
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (const bool sends : {begins, !begins}) {
      if (sends) {
        co_await simulator.sleep(host.post);
        peach.start(own.node, 0, own.chain);
      } else {
        co_await own.arrived.reached(round);
        co_await simulator.sleep(host.poll);
      }
    }
  }
}

double direct_us(std::uint64_t bytes) {
  const net::Machine machine = net::read_machine("ha-pacs-tca");
  des::Simulator simulator;
  net::Network network(simulator, machine.network);
  net::Peach peach(network, network.interconnect("peach"), net::find_unit(machine.network.node, "host"));
  Side here(simulator, 0), there(simulator, 1);
  const net::Endpoint a = network.endpoint(0, "gpu0"), b = network.endpoint(1, "gpu0");
  here.chain.descriptors = {
      {.from = a, .to = b, .rows = {.bytes = bytes}, .arrived = &there.arrived, .sent = &here.sent}};
  there.chain.descriptors = {
      {.from = b, .to = a, .rows = {.bytes = bytes}, .arrived = &here.arrived, .sent = &there.sent}};
  simulator.spawn(play(simulator, peach, machine.host, here, true), {"rank", 0});
  simulator.spawn(play(simulator, peach, machine.host, there, false), {"rank", 1});
  simulator.run();
  return des::to_us(simulator.now());
}

double program_us(std::int64_t bytes) {
  double us = 0;
  World::run_threads(
      2,
      [&](World& world) {
        const int me = world.rank();
        const Window<char> out = world.window<char>(bytes), in = world.window<char>(bytes);
        // There is a chain for each direction, unguarded: a rank that answers has read what it answers.
        Chain there = world.chain("there", {.guarded = false, .time_limit = {}, .channel = "tca"});
        Chain back = world.chain("back", {.guarded = false, .time_limit = {}, .channel = "tca"});
        if (me == 0) {
          there.put(in.on(1).at(0), out.at(0), block(bytes)).commit();
          back.expect(1).commit();
        } else {
          there.expect(0).commit();
          back.put(in.on(0).at(0), out.at(0), block(bytes)).commit();
        }
        world.barrier();
        const double begin = world.now().count();
        for (int round = 1; round <= rounds; ++round) {
          if (me == 0) {
            out[0] = static_cast<char>(round);
            there.start();
            back.start();
            back.wait();
            there.wait();
            EXPECT_EQ(in[0], static_cast<char>(round + 10));
          } else {
            there.start();
            there.wait();
            EXPECT_EQ(in[0], static_cast<char>(round));
            out[0] = static_cast<char>(in[0] + 10);
            back.start();
            if (round == rounds) continue;
            back.wait();
          }
        }
        if (me == 0) us = (world.now().count() - begin) * 1e6;
        if (me == 1) back.wait();
      },
      {.fabric = "sim"});
  return us;
}

TEST(SimPingPong, TakesAsLongAsTheHardwareDrivenDirectly) {
  for (const std::int64_t bytes : {8, 4096, 262'144}) {
    const double direct = direct_us(static_cast<std::uint64_t>(bytes)), program = program_us(bytes);
    EXPECT_NEAR(program, direct, 1e-6 * direct) << bytes << " bytes";
    std::printf("%lld bytes, one way: %.3f us driven directly, %.3f us by the program\n",
                static_cast<long long>(bytes), direct / 2 / rounds, program / 2 / rounds);
  }
}

}  // namespace
}  // namespace tca
