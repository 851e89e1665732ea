// The hubs of an interconnect in RTL, with the cables between them and the memories of their nodes as PCIe shows them:
// packets are carried by the network, reads answered, and writes land.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "model/net/network.hpp"
#include "model/rtl/board.hpp"
#include "model/rtl/memory_map.hpp"

namespace tca::rtl {

// What can go wrong with the answer to a read.
enum class Fault : std::uint8_t { unsupported, abort, poisoned, lost };

class Hubs final : public net::Consignee, public des::Handler, private Outside {
 public:
  // `host` is the unit of each node whose processor drives the hub. Throws Error{invalid_argument} if the
  // NICs of the interconnect do not exist in RTL, or if it is larger than their address map.
  Hubs(net::Network& network, std::uint32_t interconnect, std::uint32_t host);

  net::Endpoint nic(std::uint32_t node) const { return network_.nic(node, interconnect_); }
  net::Endpoint host(std::uint32_t node) const { return {node, host_}; }
  // The number of a node in its sub-cluster.
  std::uint32_t number(std::uint32_t node) const { return node % group_; }
  // Throws Error{invalid_argument} if no hub reaches a memory.
  Target target(net::Endpoint memory) const;
  NodeMemory& memory(std::uint32_t node) { return this->node(node).memory; }

  // The offset of the word in the host's memory with which a channel of its hub reports the end of a chain.
  std::uint64_t done_box(std::uint32_t node, std::uint32_t channel);

  // The host stores up to 256 bytes to an address, which may be one of its own hub's registers, and
  // continues.
  void store(std::uint32_t node, std::uint64_t address, std::span<const std::byte> bytes);

  // Of a node's reads, the one after the next `reads` fails.
  void spoil(std::uint32_t node, std::uint32_t reads, Fault fault) {
    this->node(node).trouble = {reads, fault};
  }

  // Awaits the landing of what a hub has sent to a memory of its node so far.
  auto landed(std::uint32_t node, Target target) {
    Arrivals& arrivals = this->node(node).arrivals[static_cast<std::size_t>(target)];
    return arrivals.landed.reached(arrivals.sent);
  }

  void take(std::uint64_t load, net::Endpoint at, des::Time tail) override;
  void handle(const des::Event& event) override;

 private:
  struct Leaving {
    std::uint32_t port, load;
  };
  struct Trouble {
    std::uint32_t reads;
    Fault fault;
  };
  // Writes to a memory, which land in order.
  struct Arrivals {
    explicit Arrivals(des::Simulator& simulator) : landed(simulator, {"the landing of a hub's writes"}) {}
    std::uint64_t sent = 0;
    des::Counter landed;
  };
  struct Node {
    explicit Node(des::Simulator& simulator)
        : arrivals{Arrivals(simulator), Arrivals(simulator), Arrivals(simulator)} {}
    std::unique_ptr<Board> board;
    std::array<Arrivals, 3> arrivals;  // by target
    NodeMemory memory;
    std::deque<Leaving> leaving;
    des::Time host_free = 0;  // when the wire to the host has sent everything
    std::uint32_t events = 0;
    std::optional<Trouble> trouble;
  };
  struct Cable {
    net::Steps steps{};
    std::uint32_t to = 0;  // node
  };

  Node& node(std::uint32_t number);
  void set_up(std::uint32_t number);
  std::uint32_t port_to(std::uint32_t from, std::uint32_t to) const;
  Cable cable(std::uint32_t node, std::uint32_t port) const;
  void leave(std::uint32_t node, std::uint32_t port, std::uint32_t load) override;
  void make_room(std::uint32_t node, std::uint32_t port) override;
  void wake(std::uint32_t node, des::Time at) override;
  void depart(std::uint32_t node);
  void depart_to_host(std::uint32_t node, std::uint32_t load);
  void send(net::Parcel parcel, std::uint32_t load);
  void answer(net::Endpoint memory, const Tlp& read);
  void answer(net::Endpoint memory, Tlp part, bool first);
  void write(net::Endpoint memory, const Tlp& tlp);
  std::optional<Fault> fault(std::uint32_t node);

  net::Network& network_;
  des::Simulator& simulator_;
  std::uint32_t interconnect_, host_;
  std::uint32_t group_;  // nodes of a sub-cluster
  const net::RtlKind& kind_;
  std::uint32_t objects_;  // two for each node: its clock, and what leaves it
  Loads loads_;
  std::vector<std::unique_ptr<Node>> nodes_;  // each is made when something happens there
};

}  // namespace tca::rtl
