// A Protocol carries puts on a modelled machine; each uses one kind of hardware.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/layout/shape.hpp"
#include "model/des/wait.hpp"
#include "model/machine/machine.hpp"
#include "model/nic/hub.hpp"

namespace tca::sim {

// Where a rank is on its machine.
struct Place {
  net::Endpoint memory;     // the memory that holds its windows
  net::Endpoint host;       // the memory of the processor on which its program runs
  std::uint32_t local = 0;  // its number among the ranks of its node
};

// The machine that protocols share.
struct Site {
  const net::Machine& machine;
  net::Network& network;
  const std::vector<Place>& places;

  des::Simulator& simulator() const { return network.simulator(); }
  const Place& place(int rank) const { return places[static_cast<std::size_t>(rank)]; }
};

// What is sent from one rank to another in one step of a chain over one protocol. It must live until it has
// arrived.
struct Message {
  int from = 0, to = 0;
  std::vector<net::Rows> puts;      // empty for a bare signal
  des::Counter* sent = nullptr;     // grows by one once the sources may be overwritten
  des::Counter* arrived = nullptr;  // grows by one once all data is there and the target's host can see it
  std::uint32_t tag = 0;            // tells apart messages between two ranks, if the protocol has receives
  std::vector<net::Bytes> bytes_of_puts = {};  // of each put, if a hub in RTL moves them
  std::string_view chain = {};                 // its name and step, for a message about them
  std::uint32_t step = 0;
  std::uint64_t bytes() const;
};

class Protocol {
 public:
  explicit Protocol(const Site& site) : site_(site) {}
  virtual ~Protocol() = default;

  virtual std::string_view name() const = 0;

  // Whether the protocol reaches from one rank to a different one. Every protocol reaches the rank itself.
  virtual bool reaches(int from, int to) const = 0;

  // Whether a path leads from one rank to another, as seen by somebody who knows of these faults.
  virtual bool leads(int /*from*/, int /*to*/, net::View /*view*/) const { return true; }

  // Whether the route may choose it without the program requesting it.
  virtual bool competes() const { return true; }

  // Whether a step may be shorter than the others, which the receiver learns only from the message.
  virtual bool carries_counted() const { return true; }

  // Returns how far apart the nodes of two ranks are. The time of a put depends on that, and on where in
  // their nodes the ranks are.
  virtual std::uint32_t distance(int from, int to) const = 0;

  // Sends messages that all come from one rank and are ready to be sent. The caller awaits it; it ends when
  // the sender's processor is free. `turn` distinguishes the rank's sends, so that they can use different
  // hardware queues.
  virtual des::Task send(std::vector<Message*> messages, std::uint32_t turn) = 0;

  // Whether the hardware itself moves the bytes of Message::bytes_of_puts, and not only determines when
  // they arrive.
  virtual bool moves_bytes() const { return false; }

  // Whether the hardware also delivers what a rank sends to itself. Otherwise a kernel copies it.
  virtual bool loops_back() const { return false; }

  // Copies a message within a rank with a kernel of its accelerator.
  des::Task copy(const Message& message) const;

  // Sends a small packet from `from`'s host to `to`'s.
  virtual void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) = 0;

  // Whether each send matches a receive. The receiver then calls `receive` once per step, instead of
  // sending a guard's signal.
  virtual bool has_receives() const { return false; }
  virtual void receive(Message& /*message*/) {}

  // Returns the time on the receiver's processor from an arrival until its program continues.
  virtual des::Time notice() const { return site_.machine.host.poll; }
  // Returns the time that it takes a processor to have something sent.
  virtual des::Time post() const { return site_.machine.host.post; }

 protected:
  const Site& site() const { return site_; }
  // Runs a kernel that packs or unpacks data in runs. Contiguous blocks need none.
  des::Task pack(const Message& message) const;

 private:
  Site site_;
};

// A protocol of cards or hubs, each of which reaches the others on one interconnect.
class CardProtocol : public Protocol {
 public:
  bool reaches(int from, int to) const override;
  bool leads(int from, int to, net::View view) const override;
  std::uint32_t distance(int from, int to) const override;

 protected:
  CardProtocol(const Site& site, std::uint32_t interconnect) : Protocol(site), interconnect_(interconnect) {}
  std::uint32_t interconnect() const { return interconnect_; }

 private:
  std::uint32_t interconnect_;
};

// Makes the machine's protocols, the preferred one first.
std::vector<std::unique_ptr<Protocol>> make_protocols(const Site& site);

std::unique_ptr<Protocol> make_tca(const Site& site, std::uint32_t interconnect);
std::unique_ptr<Protocol> make_ape(const Site& site, std::uint32_t interconnect);
std::unique_ptr<Protocol> make_nvlink(const Site& site);
std::array<std::unique_ptr<Protocol>, 2> make_mpi(const Site& site);  // two-sided and one-sided

}  // namespace tca::sim
