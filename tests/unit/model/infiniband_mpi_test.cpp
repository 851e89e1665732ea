// Tests MPI over InfiniBand in simulated time: the choice of protocol, and that the protocols' costs are in
// the right relation.
#include <gtest/gtest.h>

#include "model/machine/machine.hpp"
#include "model/mpi/mpi_agent.hpp"
#include "tca/error.hpp"

namespace tca::net {
namespace {

constexpr std::uint64_t kib = 1024;

MpiLibrary with_limits(std::int64_t read, std::int64_t write) {
  MpiLibrary library;
  library.inline_limit = 16;
  library.eager_limit = 8192;
  library.read_direct_limit = read;
  library.write_direct_limit = write;
  library.pipeline_from = 256 << 10;
  return library;
}

TEST(InfinibandMpi, WaysOfTheDefaultLimits) {
  const MpiLibrary library = with_limits(8192, 256 << 10);
  EXPECT_EQ(choose_way(library, 16), MpiWay::inlined);
  EXPECT_EQ(choose_way(library, 17), MpiWay::eager);
  EXPECT_EQ(choose_way(library, 8192), MpiWay::eager);
  EXPECT_EQ(choose_way(library, 8193), MpiWay::staged);
  EXPECT_EQ(choose_way(library, 256 << 10), MpiWay::staged);
  EXPECT_EQ(choose_way(library, (256 << 10) + 1), MpiWay::pipelined);
}

TEST(InfinibandMpi, HostsHaveALimitOfTheirOwnForWhatIsInlined) {
  MpiLibrary library = with_limits(8192, 256 << 10);
  library.host_inline_limit = 128;
  EXPECT_EQ(choose_way(library, 128, false), MpiWay::inlined);
  EXPECT_EQ(choose_way(library, 128), MpiWay::eager);
  EXPECT_EQ(choose_way(library, 129, false), MpiWay::eager);
}

TEST(InfinibandMpi, WaysOfFarLimits) {
  const MpiLibrary library = with_limits(512 << 10, 512 << 10);
  EXPECT_EQ(choose_way(library, 512 << 10), MpiWay::direct);
  EXPECT_EQ(choose_way(library, (512 << 10) + 1), MpiWay::pipelined);
}

TEST(InfinibandMpi, WaysOfReceiversThatAreNotWritten) {
  const MpiLibrary library = with_limits(8192, 8192);
  EXPECT_EQ(choose_way(library, 64 << 10), MpiWay::staged);
  EXPECT_EQ(choose_way(library, 512 << 10), MpiWay::pipelined);
}

class Messages : public testing::Test {
 protected:
  struct Result {
    double us;
    std::uint64_t hash;
  };

  // Sends one way between two nodes, from and into GPU `gpu`, by one of HA-PACS/TCA's libraries.
  Result one_way(const std::string& library, std::uint64_t bytes, int gpu, int messages = 1) {
    des::Simulator simulator;
    Network network(simulator, machine_.network, Fidelity::tlp);
    std::vector<Mpi::Rank> ranks;
    for (std::uint32_t node = 0; node < 2; ++node)
      ranks.push_back({network.endpoint(node, "gpu" + std::to_string(gpu)),
                       network.endpoint(node, gpu < 2 ? "host" : "host1")});
    Mpi mpi(network, machine_.host, find_mpi(machine_, library), ranks);
    simulator.spawn(sender(mpi, bytes, messages), {"rank", 0});
    simulator.spawn(receiver(mpi, bytes, messages), {"rank", 1});
    simulator.run();
    return {des::to_us(simulator.now()), simulator.hash()};
  }

  // Sends as many at once from host to host, and returns when all are there.
  static double between_hosts(const Machine& machine, std::uint64_t bytes, int messages) {
    des::Simulator simulator;
    Network network(simulator, machine.network, Fidelity::tlp);
    std::vector<Mpi::Rank> ranks;
    for (std::uint32_t node = 0; node < 2; ++node)
      ranks.push_back({network.endpoint(node, "host1"), network.endpoint(node, "host1")});
    Mpi mpi(network, machine.host, find_mpi(machine, "mvapich2-gdr-2.2"), ranks);
    for (int i = 0; i < messages; ++i) {
      simulator.spawn(sender(mpi, bytes, 1), {"rank", 0});
      simulator.spawn(receiver(mpi, bytes, 1), {"rank", 1});
    }
    simulator.run();
    return des::to_us(simulator.now());
  }

  static des::Task sender(Mpi& mpi, std::uint64_t bytes, int messages) {
    for (int i = 0; i < messages; ++i) {
      des::Task sent = mpi.send(0, 1, bytes);
      co_await sent;
    }
  }

  static des::Task receiver(Mpi& mpi, std::uint64_t bytes, int messages) {
    for (int i = 0; i < messages; ++i) {
      des::Task received = mpi.receive(0, 1, bytes);
      co_await received;
    }
  }

  Machine machine_ = read_machine("ha-pacs-tca");
};

TEST_F(Messages, LargerOnesTakeLonger) {
  double before = 0;
  for (const std::uint64_t bytes : {16ul, 1024ul, 8192ul, 16384ul, 262144ul, 1048576ul}) {
    const double us = one_way("mvapich2-gdr-2.2", bytes, 2).us;
    EXPECT_GT(us, before) << bytes;
    before = us;
  }
}

TEST_F(Messages, TwoRailsCarryMoreThanOne) {
  const double one = one_way("mvapich2-one-rail", 4096 * kib, 2).us;
  const double two = one_way("mvapich2-gdr-2.2", 4096 * kib, 2).us;
  EXPECT_GT(one, 1.2 * two);
}

TEST_F(Messages, WhatIsNotSplitTakesTheRailsInTurn) {
  Machine with_one = machine_;
  with_one.mpi.at("mvapich2-gdr-2.2").rails_in_turn = 1;

  const double on_two = between_hosts(machine_, 8 * kib, 20), on_one = between_hosts(with_one, 8 * kib, 20);

  EXPECT_GT(on_one, 1.5 * on_two);
}

// Out of the host's memory and into it, processors copy what is sent eagerly.
TEST_F(Messages, HostsCopyEagerMessagesAtBothEnds) {
  Machine free = machine_;
  double& rate = free.mpi.at("mvapich2-gdr-2.2").eager_copy_bytes_per_s;
  const double copy = des::to_us(copy_time(8 * kib, rate));
  rate = 0;

  const double copied = between_hosts(machine_, 8 * kib, 1), straight = between_hosts(free, 8 * kib, 1);

  EXPECT_NEAR(copied - straight, 2 * copy, 0.01);
}

TEST_F(Messages, QpiIsSlowForDevicesButNotForHosts) {
  EXPECT_GT(one_way("mvapich2-gdr-2.2", 256 * kib, 0).us, 5 * one_way("mvapich2-gdr-2.2", 256 * kib, 2).us);
  EXPECT_LT(one_way("mvapich2-gdr-2.2", 512 * kib, 0).us, 1.1 * one_way("mvapich2-gdr-2.2", 512 * kib, 2).us);
}

TEST_F(Messages, StagingCostsAndDirectReadingSavesIt) {
  EXPECT_GT(one_way("mvapich2-gdr-2.2", 16 * kib, 2).us,
            10 + one_way("mvapich2-gdr-2.2-far-limit", 16 * kib, 2).us);
}

TEST_F(Messages, WithoutGpuDirectTheSmallestGoesThroughHostMemoryTwice) {
  const double copies = 2 * des::to_us(machine_.host.copy_start);
  EXPECT_GT(one_way("mvapich2", 8, 2).us, copies);
}

TEST_F(Messages, ManyOfOnePairKeepTheirOrderAndEnd) {
  EXPECT_LT(one_way("mvapich2-gdr-2.2", 64, 2, 100).us, 100 * one_way("mvapich2-gdr-2.2", 64, 2).us);
}

TEST_F(Messages, SameModelSameEvents) {
  EXPECT_EQ(one_way("mvapich2-gdr-2.2", 512 * kib, 2).hash, one_way("mvapich2-gdr-2.2", 512 * kib, 2).hash);
}

TEST_F(Messages, AReceiveThatNobodySendsIsADeadlockThatNamesBoth) {
  des::Simulator simulator;
  Network network(simulator, machine_.network, Fidelity::tlp);
  const Mpi::Rank here{network.endpoint(0, "gpu2"), network.endpoint(0, "host1")};
  const Mpi::Rank there{network.endpoint(1, "gpu2"), network.endpoint(1, "host1")};
  Mpi mpi(network, machine_.host, find_mpi(machine_, ""), {here, there});
  simulator.spawn(receiver(mpi, 8, 1), {"rank", 1});
  try {
    simulator.run();
    FAIL() << "a receive ended without a send";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::timed_out);
    EXPECT_NE(std::string(error.what()).find("rank 1 waits for an MPI message, sender.receiver 0.1"),
              std::string::npos)
        << error.what();
  }
}

des::Task send_tagged(Mpi& mpi, std::uint64_t bytes, std::uint32_t tag) {
  des::Task sent = mpi.send(0, 1, bytes, tag);
  co_await sent;
}
des::Task receive_tagged(Mpi& mpi, std::uint64_t bytes, std::uint32_t tag, des::Time& end) {
  des::Task received = mpi.receive(0, 1, bytes, tag);
  co_await received;
  end = mpi.simulator().now();
}

// The tags match whatever the order of the calls at both ends.
TEST_F(Messages, TagsTellMessagesOfAPairApart) {
  des::Simulator simulator;
  Network network(simulator, machine_.network, Fidelity::tlp);
  const Mpi::Rank here{network.endpoint(0, "gpu2"), network.endpoint(0, "host1")};
  const Mpi::Rank there{network.endpoint(1, "gpu2"), network.endpoint(1, "host1")};
  Mpi mpi(network, machine_.host, find_mpi(machine_, ""), {here, there});
  des::Time small = 0, large = 0;
  simulator.spawn(send_tagged(mpi, 4096 * kib, 1), {"a sender"});
  simulator.spawn(send_tagged(mpi, 8, 2), {"a sender"});
  simulator.spawn(receive_tagged(mpi, 8, 2, small), {"a receiver"});
  simulator.spawn(receive_tagged(mpi, 4096 * kib, 1, large), {"a receiver"});
  simulator.run();
  EXPECT_LT(des::to_us(small), 10);
  EXPECT_GT(des::to_us(large), 500);
}

des::Task put_window(Mpi& mpi, std::uint64_t bytes) {
  des::Task put = mpi.put(0, 1, bytes);
  co_await put;
}
des::Task expose_window(Mpi& mpi, std::uint64_t bytes) {
  des::Task exposed = mpi.expose(0, 1, bytes);
  co_await exposed;
}

// There is no buffer at the receiver from which its processor would have to store into the GPU.
TEST_F(Messages, WindowsAreWrittenStraight) {
  for (const std::uint64_t bytes : {8 * kib, 64 * kib, 4096 * kib}) {
    des::Simulator simulator;
    Network network(simulator, machine_.network, Fidelity::tlp);
    const Mpi::Rank here{network.endpoint(0, "gpu2"), network.endpoint(0, "host1")};
    const Mpi::Rank there{network.endpoint(1, "gpu2"), network.endpoint(1, "host1")};
    Mpi mpi(network, machine_.host, find_mpi(machine_, ""), {here, there});
    simulator.spawn(put_window(mpi, bytes), {"rank", 0});
    simulator.spawn(expose_window(mpi, bytes), {"rank", 1});
    simulator.run();
    EXPECT_GT(des::to_us(simulator.now()), static_cast<double>(bytes) / 8e3);  // at no more than 8 GB/s
    EXPECT_LT(des::to_us(simulator.now()), one_way("", bytes, 2).us + 3) << bytes;
  }
}

// A message of one byte is not split, however many rails there are: neither when it travels with the request,
// nor when the receiver reads it.
TEST_F(Messages, OneByteIsOnePart) {
  for (const std::int64_t inline_limit : {16, 0}) {
    MpiLibrary library = find_mpi(machine_, "mvapich2-gdr-2.2");
    ASSERT_GT(library.rails.size(), 1u);
    library.split_from = 0;
    library.inline_limit = library.eager_limit = inline_limit;
    des::Simulator simulator;
    Network network(simulator, machine_.network, Fidelity::tlp);
    const Mpi::Rank here{network.endpoint(0, "gpu2"), network.endpoint(0, "host1")};
    const Mpi::Rank there{network.endpoint(1, "gpu2"), network.endpoint(1, "host1")};
    Mpi mpi(network, machine_.host, library, {here, there});
    simulator.spawn(put_window(mpi, 1), {"rank", 0});
    simulator.spawn(expose_window(mpi, 1), {"rank", 1});
    EXPECT_NO_THROW(simulator.run()) << inline_limit;
  }
}

}  // namespace
}  // namespace tca::net
