// Models GPUs of one node with a resident engine on each. The engine waits for its host's doorbell, stores
// the data into the memory of the other GPU over the wires of the node, and then stores a flag. The engine
// there passes the flag on to its host.
#pragma once

#include <vector>

#include "model/net/network.hpp"

namespace tca::net {

// One put. `arrived` grows by one when all data is there and the target's host has been told. `sent` grows by
// one when the sender's host knows that the sources of all puts started together may be overwritten.
struct EnginePut {
  Endpoint from, to;  // two memories of a node
  std::vector<Rows> rows;
  des::Counter* arrived = nullptr;
  des::Counter* sent = nullptr;
};

class Engines {
 public:
  // `host` is the unit of each node whose processor drives the engines.
  Engines(Network& network, std::uint32_t host);

  // The host rings the doorbell of a memory's engine and continues. Puts that are started together are
  // stored side by side.
  void start(Endpoint memory, std::vector<EnginePut> puts);

  // Sends a few bytes to the host of another memory: the host has the engine of its own memory `from` store
  // them.
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
