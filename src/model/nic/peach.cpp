#include "model/nic/peach.hpp"

#include <deque>

#include "base/fail.hpp"

namespace tca::net {

namespace {

constexpr std::uint32_t flag_bytes = 8;  // size of a doorbell and of a flag

const DmaKind& dma_of(const Network& network, std::uint32_t interconnect) {
  const Description& machine = network.machine();
  const UnitKind& nic = machine.node.units[network.nic(0, interconnect).unit];
  if (!nic.dma) {
    base::fail(Errc::invalid_argument, "machine '{}': the NIC '{}' has no DMA controller that walks chains",
               machine.name, nic.name);
  }
  return *nic.dma;
}

}  // namespace

Peach::Engine::Engine(des::Simulator& simulator, const DmaKind& kind, std::uint32_t node)
    : tags(simulator, {"a tag for reading at node", node}, kind.tags) {
  for (std::uint32_t channel = 0; channel < kind.channels; ++channel) {
    const des::Label name{"DMA channel", node, channel};
    channels.push_back(std::make_unique<des::Semaphore>(simulator, name, 1));
  }
}

Peach::Peach(Network& network, std::uint32_t interconnect, std::uint32_t host)
    : network_(network),
      simulator_(network.simulator()),
      interconnect_(interconnect),
      host_(host),
      dma_(dma_of(network, interconnect)),
      engines_(network.nodes()) {}

Peach::Engine& Peach::engine(std::uint32_t node) {
  std::unique_ptr<Engine>& engine = engines_.at(node);
  if (!engine) engine = std::make_unique<Engine>(simulator_, dma_, node);
  return *engine;
}

void Peach::start(std::uint32_t node, std::uint32_t channel, const DmaChain& chain) {
  if (channel >= dma_.channels) {
    base::fail(Errc::invalid_argument,
               "node {} was to start a chain on DMA channel {}; it has channels 0 to {}", node, channel,
               dma_.channels - 1);
  }
  simulator_.spawn(run(node, channel, chain), {"DMA channel", node, channel}, des::AgentKind::worker);
}

void Peach::store(std::uint32_t node, Endpoint to, std::uint32_t bytes, des::Counter* arrived) {
  network_.send(
      {.from = {node, host_}, .to = to, .interconnect = interconnect_, .bytes = bytes, .arrived = arrived});
}

des::Task Peach::run(std::uint32_t node, std::uint32_t channel, const DmaChain& chain) {
  const Endpoint nic = network_.nic(node, interconnect_);
  des::Counter doorbell(simulator_, {"the doorbell of node", node});
  store(node, nic, flag_bytes, &doorbell);
  co_await doorbell.reached(1);

  Engine& own = engine(node);
  des::Semaphore& turn = *own.channels[channel];
  co_await turn.acquire();
  co_await simulator_.sleep(dma_.start);
  // All of a chain avoids the same faults: a flag that took a different path from its data could announce
  // what was lost.
  const View view = network_.view(node);
  std::deque<Passage> data;
  for (const Descriptor& descriptor : chain.descriptors) {
    if (!data.empty()) co_await simulator_.sleep(dma_.chain_gap);
    co_await simulator_.sleep(dma_.internal_fetch);
    co_await simulator_.sleep(dma_.decode);

    Passage& passage = data.emplace_back(simulator_, des::Label{"data of DMA channel", node, channel});
    des::Task asked = network_.ask({.from = descriptor.from,
                                    .to = descriptor.to,
                                    .interconnect = interconnect_,
                                    .rows = descriptor.rows,
                                    .packet_bytes = dma_.packet_bytes,
                                    .request_bytes = dma_.request_bytes,
                                    .request_gap = dma_.request_gap,
                                    .row_gap = dma_.row_gap,
                                    .tags = &own.tags,
                                    .tag_back = dma_.tag_back,
                                    .view = view},
                                   passage);
    co_await asked;
    if (descriptor.arrived != nullptr || descriptor.sent != nullptr) {
      simulator_.spawn(flag(node, descriptor, passage, view), {"flags of node", node});
    }
  }
  for (Passage& passage : data) co_await passage.passed();
  turn.release();
}

// Sends the flags of a descriptor after its last data.
des::Task Peach::flag(std::uint32_t node, Descriptor descriptor, Passage& data, View view) {
  co_await data.passed();
  co_await simulator_.sleep(dma_.notify);
  const Endpoint nic = network_.nic(node, interconnect_);
  const auto raise = [&](Endpoint at, des::Counter* counter) {
    if (counter == nullptr) return;
    network_.send({.from = nic,
                   .to = at,
                   .interconnect = interconnect_,
                   .bytes = flag_bytes,
                   .arrived = counter,
                   .view = view});
  };
  raise({descriptor.to.node, host_}, descriptor.arrived);
  raise({node, host_}, descriptor.sent);
}

}  // namespace tca::net
