// The hubs of a ring or torus watch their neighbours and their own hosts, and tell each other over the
// network itself what has failed.
//
// A neighbour gives a sign of life with every credit that it returns, and otherwise at every heartbeat. A
// hub that has seen none for `silence` assumes that the cable, or the hub behind it, has failed. In the
// same way a host renews a register of its hub, and reads one of it. Heartbeats ride in words that the link
// sends anyway, and cost nothing here. Whoever learns of a fault discards what still waits to be sent
// there, sends around it from then on, and tells its other neighbours and its own host, once for each
// fault.
#pragma once

#include <vector>

#include "model/machine/host.hpp"
#include "model/net/network.hpp"

namespace tca::net {

// Receives the outcome, at the time of each call.
class Told {
 public:
  virtual ~Told() = default;
  virtual void failed(std::size_t fault) = 0;
  // A node's processor now knows. Not called for one that has failed.
  virtual void told(std::uint32_t node, std::size_t fault) = 0;
};

class Watch {
 public:
  // `host` is the unit of each node whose processor is watched. The network has already been told to expect
  // the faults.
  Watch(Network& network, const WatchKind& kind, des::Time poll, std::uint32_t host, Told& told);

  const std::vector<Fault>& faults() const { return network_.damage()->detours.faults(); }

  // A node's hub learns of a fault: once for each, it tells others.
  void learn(std::uint32_t node, std::size_t fault);

  // When a fault was first noticed by a hub, or by the host of a hub that failed, and which node's that
  // was.
  struct Notice {
    des::Time at = des::never;
    std::uint32_t node = 0;
  };
  const Notice& first_notice(std::size_t fault) const { return notices_[fault]; }

 private:
  des::Task happen(std::size_t fault);
  des::Task notice(std::uint32_t node, std::size_t fault, des::Time at);
  des::Task notice_own_hub(std::uint32_t node, std::size_t fault, des::Time at);
  des::Task tell(std::uint32_t from, std::uint32_t to, std::size_t fault);
  des::Task tell_host(std::uint32_t node, std::size_t fault);
  void note(std::uint32_t node, std::size_t fault);
  des::Time silent_at(std::uint32_t node, std::uint32_t neighbour, des::Time failed) const;
  des::Time host_silent_at(des::Time failed) const;

  Network& network_;
  des::Simulator& simulator_;
  WatchKind kind_;
  des::Time poll_;
  std::uint32_t host_;
  std::uint32_t interconnect_;
  Told& told_;
  View happened_ = 0;
  std::vector<Notice> notices_;  // by fault
};

}  // namespace tca::net
