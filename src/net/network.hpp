// A machine's network in simulated time, as agents use it: data is moved, packets are sent, and counters tell when
// something is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "des/wait.hpp"
#include "net/trains.hpp"

namespace tca::net {

// Runs of bytes; how far apart they lie does not matter to a NIC, which sends each by itself.
struct Rows {
  std::uint64_t bytes = 0;  // of one
  std::uint64_t count = 1;

  std::uint64_t total() const { return bytes * count; }
};

// Data that a NIC reads out of a memory of its node and writes into a memory anywhere.
struct Transfer {
  Endpoint from, to;
  std::uint32_t interconnect = 0;  // its NIC in from.node does it; or `inside`, see below
  Rows rows;
  std::uint32_t packet_bytes = 0;  // most data in a packet
  // Most data that the NIC asks for at a time. 0: the memory's side sends unasked, packet by packet.
  std::uint32_t request_bytes = 0;
  des::Time request_gap = 0;        // least time between two requests of the NIC
  des::Time row_gap = 0;            // lost between rows
  std::uint32_t window = 0;         // requests (or unasked packets) under way, unless `tags` are shared:
  des::Semaphore* tags = nullptr;   // with other transfers
  des::Counter* arrived = nullptr;  // one more when the last byte is seen at `to`

  // Without a NIC: from one memory of a node into another, over its wires; or from one into a NIC that asks for it.
  static constexpr std::uint32_t inside = Packet::inside;
};

// Of a transfer: whether its data is on its way, so that its source may be overwritten. Lives until then.
class Passage {
 public:
  Passage(des::Simulator& simulator, des::Label name) : passed_(simulator, name) {}
  auto passed() { return passed_.wait(); }

 private:
  friend class Network;
  std::uint64_t requests_ = 0;  // whose data has not passed
  des::Signal passed_;
};

// One small packet: a processor's store, a flag, a doorbell.
struct Word {
  Endpoint from, to;
  std::uint32_t interconnect = 0;  // over which it leaves its node, or Transfer::inside
  std::uint32_t bytes = 0;
  des::Counter* arrived = nullptr;  // one more when it is seen at `to`
};

struct LinkUse {
  std::string name;
  double bytes_per_s;  // of the link
  des::Time busy;      // time spent sending
  std::uint64_t packets;
};

class Network final : public Sink, public Rider {
 public:
  Network(des::Simulator& simulator, const Description& description, Fidelity fidelity = Fidelity::tlp);

  des::Simulator& simulator() const { return simulator_; }
  const Description& machine() const { return plan_.machine(); }
  std::uint32_t nodes() const { return machine().nodes; }

  // Throws Error{invalid_argument} for a node that there is not, or a unit, naming those that there are.
  Endpoint endpoint(std::uint32_t node, std::string_view unit) const;
  std::uint32_t interconnect(std::string_view name) const;
  Endpoint nic(std::uint32_t node, std::uint32_t interconnect) const;
  bool is_device(Endpoint at) const;
  // Of two nodes: whether the same instance of an interconnect has both (sub-clusters), and how many hops apart they are there.
  bool joined(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const;
  std::uint32_t distance(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const;
  // The wire on which what a unit sends to another one of its node leaves.
  const LinkClass& wire(Endpoint from, std::uint32_t to_unit) const;

  // To be awaited: goes on when the source may be overwritten. Throws Error{invalid_argument} when no route leads there.
  des::Task transfer(Transfer transfer);
  // The same in two steps: goes on when all has been asked for; `passage` tells the rest.
  des::Task ask(Transfer transfer, Passage& passage);

  // Posted: returns at once.
  void send(const Word& word);

  const Plan& plan() const { return plan_; }
  const Traffic& traffic() const { return traffic_; }
  LinkUse use(LinkId link) const;
  std::size_t bytes() const;  // of memory that the state takes

  void passed(const Packet& packet, std::uint32_t node) override;
  void arrived(const Packet& packet, Endpoint at) override;
  void prepare(std::uint32_t message, unsigned stage) const override;
  void train_issued(std::uint32_t message) override;
  void train_passed(std::uint32_t message) override;
  void train_arrived(std::uint32_t message) override;
  void train_fell_apart(std::uint32_t message, const Progress& progress) override;
  Packet train_packet(std::uint32_t message, bool request) const override;
  const Trains* trains() const {
    return trains_ ? &*trains_ : nullptr;
  }  // null when every packet is modelled

 private:
  // An agent that waits for its train to have sent all requests, or for a part of them when it falls apart.
  struct Boarding {
    Boarding(des::Simulator& simulator, des::Label name) : over(simulator, name) {}
    des::Signal over;
    std::uint64_t requests = 0;  // sent
    des::Time ready = 0;         // when the next may be
    bool has_tag = false;        // for the next
  };

  // What the packets of a transfer or word have in common.
  struct Message {
    std::uint64_t to_arrive = 0;  // bytes
    Endpoint from, to;
    Packet packet{};  // as they leave the source
    std::uint32_t packet_bytes = 0;
    std::uint32_t asker = 0;  // the unit that asks for the data
    Passage* passage = nullptr;
    Boarding* boarding = nullptr;
    TrainId train = no_train;  // that claims its links
    des::Semaphore* tags = nullptr;
    des::Counter* arrived = nullptr;
    std::uint32_t next_free = 0;
  };

  std::uint32_t open(const Message& message);
  void close(std::uint32_t message);
  Packet packet_from(Endpoint from, Endpoint to, std::uint32_t interconnect) const;
  void board(std::uint32_t message, const Transfer& transfer, Boarding& boarding);
  Packet request_packet(std::uint32_t message, std::uint32_t bytes) const;
  void request(std::uint32_t message, std::uint32_t bytes, des::Time gap);
  void answer(std::uint32_t message, std::uint32_t bytes);
  void finish_request(Message& message);
  void finish(std::uint32_t message);
  void check_place(Endpoint at) const;
  void check_transfer(const Transfer& transfer) const;

  des::Simulator& simulator_;
  Plan plan_;
  Traffic traffic_;
  std::optional<Trains> trains_;
  des::LargeVector<Message> messages_;
  std::uint32_t free_message_ = UINT32_MAX;
};

}  // namespace tca::net
