#include "model/nic/ape.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace tca::net {

namespace {

constexpr std::uint32_t notice_bytes = 16;  // size of a command and of an event

const ApeKind& ape_of(const Network& network, std::uint32_t interconnect) {
  const Description& machine = network.machine();
  const UnitKind& nic = machine.node.units[network.nic(0, interconnect).unit];
  if (!nic.ape) {
    base::fail(Errc::invalid_argument, "machine '{}': the NIC '{}' is no APEnet+ card", machine.name,
               nic.name);
  }
  return *nic.ape;
}

std::uint64_t requests_in(std::uint32_t window, const ApeKind& kind) {
  return std::max<std::uint64_t>(window / kind.request_bytes, 1);
}

}  // namespace

Ape::Card::Card(des::Simulator& simulator, const ApeKind& kind, std::uint32_t node)
    : turn(simulator, {"the card of node", node}, 1),
      engines(simulator, {"a DMA engine of node", node}, kind.engines),
      host_window(simulator, {"the host's read window at node", node}, requests_in(kind.host_window, kind)),
      gpu_window(simulator, {"the GPU's read window at node", node}, requests_in(kind.gpu_window, kind)) {}

Ape::Ape(Network& network, std::uint32_t interconnect, std::uint32_t host)
    : network_(network),
      simulator_(network.simulator()),
      interconnect_(interconnect),
      host_(host),
      ape_(ape_of(network, interconnect)),
      cards_(network.nodes()) {}

Ape::Card& Ape::card(std::uint32_t node) {
  std::unique_ptr<Card>& card = cards_.at(node);
  if (!card) card = std::make_unique<Card>(simulator_, ape_, node);
  return *card;
}

void Ape::put(const ApePut& put) { simulator_.spawn(run(put), {"APEnet+ card of node", put.from.node}); }

des::Task Ape::run(ApePut put) {
  const std::uint32_t node = put.from.node;
  des::Counter posted(simulator_, {"a command for the card of node", node});
  network_.send({.from = {node, host_},
                 .to = network_.nic(node, interconnect_),
                 .interconnect = interconnect_,
                 .bytes = notice_bytes,
                 .arrived = &posted});
  co_await posted.reached(1);

  Card& own = card(node);
  co_await own.turn.acquire();
  co_await simulator_.sleep(ape_.start);
  const bool gpu = network_.is_device(put.from);
  const std::uint64_t packets = (put.bytes + ape_.packet_bytes - 1) / ape_.packet_bytes;
  des::Counter read(simulator_, {"packets to be read at node", node});
  auto written =
      std::make_unique<des::Counter>(simulator_, des::Label{"packets to be written at node", put.to.node});
  des::Counter& arrivals = *written;
  simulator_.spawn(announce(put, packets, std::move(written)), {"the end of a put of node", node});

  for (std::uint64_t at = 0; at < put.bytes; at += ape_.packet_bytes) {
    if (!gpu) co_await own.engines.acquire();
    const auto bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(ape_.packet_bytes, put.bytes - at));
    auto load = std::make_unique<Load>(simulator_, node, bytes);
    des::Task asked = network_.ask({.from = put.from,
                                    .to = network_.nic(node, interconnect_),
                                    .interconnect = Transfer::inside,
                                    .rows = {.bytes = bytes},
                                    .packet_bytes = ape_.request_bytes,
                                    .request_bytes = ape_.request_bytes,
                                    .request_gap = gpu ? ape_.gpu_request_gap : 0,
                                    .tags = gpu ? &own.gpu_window : &own.host_window,
                                    .arrived = &load->here},
                                   load->passage);
    co_await asked;
    simulator_.spawn(send_packet(put, std::move(load), read, arrivals), {"a packet of node", node});
  }
  co_await read.reached(packets);
  own.turn.release();
  if (put.sent != nullptr) put.sent->add();
}

// Sends a packet once its data is in the card. DMA engines read host memory, each with a dead time after
// every packet. GPU memory is read with requests, as many at a time as the window has room for.
des::Task Ape::send_packet(ApePut put, std::unique_ptr<Load> load, des::Counter& read,
                           des::Counter& written) {
  co_await load->here.reached(1);
  const std::uint32_t node = put.from.node;
  network_.send({.from = network_.nic(node, interconnect_),
                 .to = put.to,
                 .interconnect = interconnect_,
                 .bytes = load->bytes,
                 .arrived = &written,
                 .concerns = put.concerns});
  read.add();
  if (network_.is_device(put.from)) co_return;
  co_await simulator_.sleep(ape_.engine_gap);
  card(node).engines.release();
}

// Tells the receiver's host about the put once the card there has written the last packet.
des::Task Ape::announce(ApePut put, std::uint64_t packets, std::unique_ptr<des::Counter> written) {
  co_await written->reached(packets);
  if (put.arrived == nullptr) co_return;
  network_.send({.from = network_.nic(put.to.node, interconnect_),
                 .to = {put.to.node, host_},
                 .interconnect = Transfer::inside,
                 .bytes = notice_bytes,
                 .arrived = put.arrived});
}

}  // namespace tca::net
