// Models the APEnet+ card, a NIC on a torus. It cuts messages into packets of a few KB and reads them from
// host or GPU memory. At the receiver it translates virtual addresses into physical ones, on its Nios II
// processor or in hardware, before it writes the packets.
#pragma once

#include <memory>
#include <vector>

#include "model/net/network.hpp"

namespace tca::net {

// One put. `arrived` grows by one when all data is in the target's memory and its host has been told; `sent`
// grows by one when the source may be overwritten.
struct ApePut {
  Endpoint from, to;
  std::uint64_t bytes = 0;
  des::Counter* arrived = nullptr;
  des::Counter* sent = nullptr;
  const des::Counter* concerns = nullptr;  // passed to Losses if a packet is lost
};

class Ape {
 public:
  // Models the NICs of an interconnect. `host` is the unit of each node whose processor drives them. Throws
  // Error{invalid_argument} if those NICs are not APEnet+ cards.
  Ape(Network& network, std::uint32_t interconnect, std::uint32_t host);

  // The host posts the put and continues. A card processes its puts one after another.
  void put(const ApePut& put);

 private:
  struct Card {
    Card(des::Simulator& simulator, const ApeKind& kind, std::uint32_t node);
    des::Semaphore turn;     // held by the put that the card is reading
    des::Semaphore engines;  // DMA engines, which read host memory
    des::Semaphore host_window, gpu_window;
  };

  // The data of a packet on its way into the card.
  struct Load {
    Load(des::Simulator& simulator, std::uint32_t node, std::uint32_t size)
        : passage(simulator, {"a packet's data at node", node}),
          here(simulator, {"a packet's data at node", node}),
          bytes(size) {}
    Passage passage;
    des::Counter here;
    std::uint32_t bytes;
  };

  Card& card(std::uint32_t node);
  des::Task run(ApePut put);
  des::Task send_packet(ApePut put, std::unique_ptr<Load> load, des::Counter& read, des::Counter& written);
  des::Task announce(ApePut put, std::uint64_t packets, std::unique_ptr<des::Counter> written);

  Network& network_;
  des::Simulator& simulator_;
  std::uint32_t interconnect_;
  std::uint32_t host_;
  const ApeKind& ape_;
  std::vector<std::unique_ptr<Card>> cards_;  // by node; each is created for the node's first put
};

}  // namespace tca::net
