// How a modelled machine carries puts: its channels, each the user of one kind of hardware.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/shape.hpp"
#include "des/wait.hpp"
#include "net/machine.hpp"
#include "net/network.hpp"

namespace tca::sim {

// Where a rank is on its machine.
struct Place {
  net::Endpoint memory;     // in which its windows are
  net::Endpoint host;       // the memory of the processor that its program runs on
  std::uint32_t local = 0;  // its number among the ranks of its node
};

// The machine that channels share.
struct Site {
  const net::Machine& machine;
  net::Network& network;
  const std::vector<Place>& places;

  des::Simulator& simulator() const { return network.simulator(); }
  const Place& place(int rank) const { return places[static_cast<std::size_t>(rank)]; }
};

// What goes from one rank to another in one step of a chain over one channel. Outlives its arrival.
struct Load {
  int from = 0, to = 0;
  std::vector<net::Rows> puts;      // none: a bare signal
  des::Counter* sent = nullptr;     // one more once the sources may be overwritten
  des::Counter* arrived = nullptr;  // one more once everything is there and the target's host can see it
  std::uint32_t tag = 0;            // tells the loads of two ranks apart, of a channel with receives
  std::uint64_t bytes() const;
};

class Channel {
 public:
  explicit Channel(const Site& site) : site_(site) {}
  virtual ~Channel() = default;

  virtual std::string_view name() const = 0;

  // Between different ranks; within one, every channel copies.
  virtual bool reaches(int from, int to) const = 0;

  // Whether a put may go over it without being told to.
  virtual bool competes() const { return true; }

  // How far apart two ranks' nodes are. A put's time depends on that, and on where in their nodes the ranks are.
  virtual std::uint32_t distance(int from, int to) const = 0;

  // The sender's program has come to it, and whatever it needed for that is there: to be awaited, goes on when the
  // sender's processor is free. All from one rank; `turn` tells its chains apart.
  virtual des::Task send(std::vector<Load*> loads, std::uint32_t turn) = 0;

  // A load within a rank: a kernel of its accelerator.
  des::Task copy(const Load& load) const;

  // A small packet of `from`'s host to `to`'s.
  virtual void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) = 0;

  // Whether sends and receives meet, so that a receiver says `receive`, once a step, instead of a guard's signal.
  virtual bool has_receives() const { return false; }
  virtual void receive(Load& /*load*/) {}

  // Of the receiver's processor, from an arrival to its program's going on.
  virtual des::Time notice() const { return site_.machine.host.poll; }
  // Of a processor, to have something sent.
  virtual des::Time post() const { return site_.machine.host.post; }

 protected:
  const Site& site() const { return site_; }
  // A kernel that packs or unpacks what lies in runs; none is needed for blocks.
  des::Task pack(const Load& load) const;

 private:
  Site site_;
};

// What the machine has, the one to be preferred first.
std::vector<std::unique_ptr<Channel>> make_channels(const Site& site);

std::unique_ptr<Channel> make_tca(const Site& site, std::uint32_t interconnect);
std::unique_ptr<Channel> make_ape(const Site& site, std::uint32_t interconnect);
std::unique_ptr<Channel> make_nvlink(const Site& site);
std::array<std::unique_ptr<Channel>, 2> make_mpi(const Site& site);  // of one library

}  // namespace tca::sim
