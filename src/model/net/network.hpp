// The network of a machine in simulated time, as agents use it: they move data and send packets, and
// counters tell them when something has arrived.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/des/wait.hpp"
#include "model/net/faults/damage.hpp"
#include "model/net/trains.hpp"

namespace tca::net {

// Runs of bytes. A NIC sends each run separately, so the distance between them does not matter.
struct Rows {
  std::uint64_t bytes = 0;  // of one run
  std::uint64_t count = 1;

  std::uint64_t total() const { return bytes * count; }
};

// A transfer of data that a NIC reads from a memory of its node and writes into a memory anywhere.
struct Transfer {
  Endpoint from, to;
  std::uint32_t interconnect = 0;  // its NIC in from.node moves the data; or `inside`, see below
  Rows rows;
  std::uint32_t packet_bytes = 0;  // most data in a packet
  // The most data that the NIC requests at a time. 0: the memory's side sends unrequested, packet by packet.
  std::uint32_t request_bytes = 0;
  des::Time request_gap = 0;       // least time between two requests of the NIC
  des::Time row_gap = 0;           // time lost between rows
  std::uint32_t window = 0;        // requests (or unrequested packets) under way; unused when `tags` is set
  des::Semaphore* tags = nullptr;  // a window shared with other transfers
  std::optional<des::Time> tag_back = {};  // like that of a DmaKind
  des::Counter* arrived = nullptr;         // grows by one when the last byte is visible at `to`
  std::optional<View> view = {};  // the faults that it avoids; empty: those that the source's hub knows now

  // A transfer within a node: from one memory into another over the node's wires, without a NIC; or from a
  // memory into a NIC that requests the data.
  static constexpr std::uint32_t inside = Packet::inside;
};

// Tells when all data of a transfer is on its way, so that its source may be overwritten. It must live
// until then.
class Passage {
 public:
  Passage(des::Simulator& simulator, des::Label name) : passed_(simulator, name) {}
  auto passed() { return passed_.wait(); }

 private:
  friend class Network;
  std::uint64_t requests_ = 0;  // requests whose data has not passed
  des::Signal passed_;
};

// One small packet: a processor's store, a flag, a doorbell.
struct Word {
  Endpoint from, to;
  std::uint32_t interconnect = 0;  // the one over which it leaves its node, or Transfer::inside
  std::uint32_t bytes = 0;
  des::Counter* arrived = nullptr;  // grows by one when the packet is visible at `to`
  std::optional<View> view = {};    // like that of a Transfer
  // Passed to Losses if the packet is lost; `arrived` if this is null.
  const des::Counter* concerns = nullptr;
};

// One packet of a NIC that is simulated in its own right, and so decides on each part of a path itself:
// over the wires of its node, or over one cable.
struct Parcel {
  Endpoint from;
  std::uint32_t to_unit = 0;                    // of the same node, or the NIC at the end of the cable
  std::uint32_t interconnect = Packet::inside;  // whose cable it takes
  Steps steps = {};                             // which one that is
  PacketKind kind = PacketKind::word;
  bool from_array = false;   // data out of a memory
  std::uint32_t bytes = 0;   // of data; for a request, the number requested
  des::Time gap = 0;         // for which it additionally occupies its port
  std::uint64_t number = 0;  // identifies it to the consignee
};

// Takes parcels at their destinations.
class Consignee {
 public:
  virtual ~Consignee() = default;
  // The parcel's head has arrived, or all of it if it is written into a memory; its last byte arrives at
  // `tail`.
  virtual void take(std::uint64_t number, Endpoint at, des::Time tail) = 0;
};

struct LinkUse {
  std::string name;
  double bytes_per_s;  // of the link
  des::Time busy;      // time spent sending
  std::uint64_t packets;
};

class Network final : public Sink, public TrainObserver {
 public:
  Network(des::Simulator& simulator, const Description& description, Fidelity fidelity = Fidelity::tlp);

  des::Simulator& simulator() const { return simulator_; }
  const Description& machine() const { return plan_.machine(); }
  Fidelity fidelity() const { return fidelity_; }
  std::uint32_t nodes() const { return machine().nodes; }

  // Throws Error{invalid_argument} for a node or unit that does not exist; the message says which exist.
  Endpoint endpoint(std::uint32_t node, std::string_view unit) const;
  std::uint32_t interconnect(std::string_view name) const;
  Endpoint nic(std::uint32_t node, std::uint32_t interconnect) const;
  bool is_device(Endpoint at) const;
  // Whether two nodes are in the same instance of an interconnect (a sub-cluster), and how many hops apart
  // they are in it.
  bool joined(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const;
  std::uint32_t distance(std::uint32_t from, std::uint32_t to, std::uint32_t interconnect) const;
  // Returns the wire over which data from a unit leaves for another unit of its node.
  const LinkClass& wire(Endpoint from, std::uint32_t to_unit) const;

  // The caller awaits it; it ends when the source may be overwritten. Throws Error{invalid_argument} if no
  // route leads there.
  des::Task transfer(Transfer transfer);
  // The same in two steps: the task ends when all data has been requested, and `passage` tells when the
  // source may be overwritten.
  des::Task ask(Transfer transfer, Passage& passage);

  // Posts a packet and returns at once.
  void send(const Word& word);
  void send(const Parcel& parcel, Consignee& consignee);

  // Declares that parts of one interconnect will fail (faults/network.cpp; Watch makes it happen). Throws
  // Error{invalid_argument}, which names `asker`, for impossible faults, and if the fidelity is not tlp.
  void expect_faults(std::uint32_t interconnect, std::vector<Fault> faults, std::string_view asker,
                     Losses& losses);
  Damage* damage() const { return damage_.get(); }  // null if nothing fails
  // A fault happens. What is on its links is lost, and so is what arrives there; host faults lose nothing.
  void fail(std::size_t fault);
  // A node's hub knows of a fault from now on: it discards what would be sent there, and sends around it.
  void learn(std::uint32_t node, std::size_t fault);
  View view(std::uint32_t node) const { return damage_ != nullptr ? damage_->known[node] : 0; }
  // Returns when a hub last received a credit from a neighbour; 0 if it never did.
  des::Time last_credit(std::uint32_t node, std::uint32_t neighbour) const;

  const Plan& plan() const { return plan_; }
  const Traffic& traffic() const { return traffic_; }
  LinkUse use(LinkId link) const;
  std::size_t bytes() const;  // memory used by the state

  void passed(const Packet& packet, std::uint32_t node) override;
  void arrived(const Packet& packet, Endpoint at) override;
  void lost(const Packet& packet, LinkId on) override;
  void prepare(std::uint32_t message, unsigned stage) const override;
  void train_issued(std::uint32_t message) override;
  void train_passed(std::uint32_t message) override;
  void train_arrived(std::uint32_t message) override;
  void train_demoted(std::uint32_t message, const Progress& progress) override;
  Packet train_packet(std::uint32_t message, bool request) const override;
  // Null if every packet is modelled.
  const Trains* trains() const { return trains_ ? &*trains_ : nullptr; }

 private:
  // An agent waits here until its train has sent all requests or, if the train is demoted, some of them.
  struct Boarding {
    Boarding(des::Simulator& simulator, des::Label name) : over(simulator, name) {}
    des::Signal over;
    std::uint64_t requests = 0;  // requests sent
    des::Time ready = 0;         // when the next request may be sent
    bool has_tag = false;        // the next request has a tag already
  };

  // What all packets of a transfer or word share.
  struct Message {
    std::uint64_t to_arrive = 0;  // bytes; a parcel's number
    Endpoint from, to;
    Packet packet{};  // a packet as it leaves the source
    std::uint32_t packet_bytes = 0;
    std::uint32_t asker = 0;  // the unit that requests the data
    Passage* passage = nullptr;
    Boarding* boarding = nullptr;
    TrainId train = no_train;  // the train that claims its links
    des::Semaphore* tags = nullptr;
    std::optional<des::Time> tag_back;
    des::Counter* arrived = nullptr;
    Consignee* consignee = nullptr;  // of a parcel
    const des::Counter* concerns = nullptr;
    std::uint32_t next_free = 0;
  };

  std::uint32_t open(const Message& message);
  void close(std::uint32_t message);
  Packet packet_from(Endpoint from, Endpoint to, std::uint32_t interconnect, std::optional<View> view) const;
  void redirect(Packet& packet, std::uint32_t from, std::uint32_t to, std::optional<View> view) const;
  void board(std::uint32_t message, const Transfer& transfer, Boarding& boarding);
  Packet request_packet(std::uint32_t message, std::uint32_t bytes) const;
  void request(std::uint32_t message, std::uint32_t bytes, des::Time gap);
  void answer(std::uint32_t message, std::uint32_t bytes);
  void finish_request(Message& message, des::Time end);
  void finish(std::uint32_t message);
  void check_endpoint(Endpoint at) const;
  void check_transfer(const Transfer& transfer) const;

  des::Simulator& simulator_;
  Plan plan_;
  Traffic traffic_;
  Fidelity fidelity_;
  std::optional<Trains> trains_;
  std::unique_ptr<Damage> damage_;
  des::LargeVector<Message> messages_;
  std::uint32_t free_message_ = UINT32_MAX;
};

}  // namespace tca::net
