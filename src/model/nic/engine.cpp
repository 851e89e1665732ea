#include "model/nic/engine.hpp"

#include <utility>

namespace tca::net {

namespace {

constexpr std::uint32_t word_bytes = 8;  // size of a doorbell and of a flag

}  // namespace

Engines::Engines(Network& network, std::uint32_t host)
    : network_(network), simulator_(network.simulator()), host_(host) {}

void Engines::start(Endpoint memory, std::vector<EnginePut> puts) {
  simulator_.spawn(run(memory, std::move(puts)), {"an engine of node", memory.node});
}

void Engines::store(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived) {
  simulator_.spawn(relay(from, to, bytes, arrived), {"an engine of node", from.node});
}

des::Task Engines::run(Endpoint memory, std::vector<EnginePut> puts) {
  des::Counter rung(simulator_, {"the doorbell of an engine of node", memory.node});
  word(host(memory), memory, word_bytes, rung);
  co_await rung.reached(1);
  des::Group stores(simulator_, {"the stores of an engine of node", memory.node});
  for (const EnginePut& put : puts) stores.spawn(write(put), {"a put of node", memory.node});
  co_await stores.done();
  for (const EnginePut& put : puts)
    if (put.sent != nullptr) word(memory, host(memory), word_bytes, *put.sent);
}

des::Task Engines::write(const EnginePut& put) {
  const LinkClass& wire = network_.wire(put.from, put.to.unit);
  for (const Rows& rows : put.rows) {
    des::Task stored = network_.transfer({.from = put.from,
                                          .to = put.to,
                                          .interconnect = Transfer::inside,
                                          .rows = rows,
                                          .packet_bytes = wire.payload_bytes,
                                          .window = wire.credits});
    co_await stored;
  }
  if (put.arrived != nullptr)
    simulator_.spawn(announce(put.from, put.to, put.arrived), {"a flag of node", put.from.node});
}

des::Task Engines::announce(Endpoint from, Endpoint to, des::Counter* arrived) {
  des::Counter flag(simulator_, {"the flag of an engine of node", from.node});
  word(from, to, word_bytes, flag);
  co_await flag.reached(1);
  word(to, host(to), word_bytes, *arrived);
}

des::Task Engines::relay(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived) {
  des::Counter here(simulator_, {"a word for an engine of node", from.node});
  word(host(from), from, bytes, here);
  co_await here.reached(1);
  word(from, to, bytes, here);
  co_await here.reached(2);
  word(to, host(to), bytes, arrived);
}

void Engines::word(Endpoint from, Endpoint to, std::uint32_t bytes, des::Counter& arrived) {
  network_.send(
      {.from = from, .to = to, .interconnect = Transfer::inside, .bytes = bytes, .arrived = &arrived});
}

}  // namespace tca::net
