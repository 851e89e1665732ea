// GPUs that share a box: a resident engine on each takes its host's word, stores the data into the other's memory over
// the wires of their node, and a flag behind it, which the engine there passes on to its host.
#pragma once

#include <vector>

#include "net/network.hpp"

namespace tca::net {

// `arrived` grows by one when all is there and the target's host has been told, `sent` when the own host knows that
// everything that was started together may be overwritten.
struct EnginePut {
  Endpoint from, to;  // two memories of a node
  std::vector<Rows> rows;
  des::Counter* arrived = nullptr;
  des::Counter* sent = nullptr;
};

class Engines {
 public:
  // `host`: the unit of each node whose processor drives them.
  Engines(Network& network, std::uint32_t host);

  // The host rings the doorbell of a memory's engine and goes on. What is started together is stored side by side.
  void start(Endpoint memory, std::vector<EnginePut> puts);

  // A few bytes that the host has the engine of a memory of its node store, for the host of another one.
  void store(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived);

 private:
  des::Task run(Endpoint memory, std::vector<EnginePut> puts);
  des::Task write(const EnginePut& put);
  des::Task announce(Endpoint from, Endpoint to, des::Counter* arrived);
  des::Task relay(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived);
  Endpoint host(Endpoint memory) const { return {memory.node, host_}; }
  void word(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived);

  Network& network_;
  des::Simulator& simulator_;
  std::uint32_t host_;
};

}  // namespace tca::net
