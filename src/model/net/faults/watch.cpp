#include "model/net/faults/watch.hpp"

#include <algorithm>

namespace tca::net {

using des::Time;

Watch::Watch(Network& network, const WatchKind& kind, Time poll, std::uint32_t host, Told& told)
    : network_(network),
      simulator_(network.simulator()),
      kind_(kind),
      poll_(poll),
      host_(host),
      interconnect_(network.damage()->interconnect),
      told_(told),
      notices_(faults().size()) {
  for (std::size_t fault = 0; fault < faults().size(); ++fault)
    simulator_.spawn(happen(fault), {"fault", static_cast<std::int64_t>(fault)}, des::AgentKind::service);
}

des::Task Watch::happen(std::size_t fault) {
  const Fault what = faults()[fault];
  co_await simulator_.sleep_until(what.at);
  happened_ |= View{1} << fault;
  const auto spawn_notice = [&](std::uint32_t node, std::uint32_t neighbour) {
    simulator_.spawn(notice(node, fault, silent_at(node, neighbour, what.at)), {"the hub of node", node},
                     des::AgentKind::service);
  };
  if (what.kind == Fault::Kind::cable) {
    spawn_notice(what.node, what.other);
    spawn_notice(what.other, what.node);
  } else if (what.kind == Fault::Kind::hub) {
    for (const std::uint32_t neighbour : network_.damage()->detours.neighbours(what.node))
      spawn_notice(neighbour, what.node);
    simulator_.spawn(notice_own_hub(what.node, fault, host_silent_at(what.at)),
                     {"the host of node", what.node}, des::AgentKind::service);
  } else {
    simulator_.spawn(notice(what.node, fault, host_silent_at(what.at)), {"the hub of node", what.node},
                     des::AgentKind::service);
  }
  network_.fail(fault);
  told_.failed(fault);
}

// Returns when a hub has had no sign of life from a neighbour for too long: the last one is a heartbeat
// that still arrived, or a credit.
Time Watch::silent_at(std::uint32_t node, std::uint32_t neighbour, Time failed) const {
  const Time latency = network_.plan().classes()[network_.plan().trunks()[interconnect_].kind].latency;
  const Time sent = std::max<Time>(failed - latency, 0) / kind_.heartbeat * kind_.heartbeat;
  return std::max(sent + latency, network_.last_credit(node, neighbour)) + kind_.silence;
}

Time Watch::host_silent_at(Time failed) const {
  return failed / kind_.host_heartbeat * kind_.host_heartbeat + kind_.host_silence;
}

des::Task Watch::notice(std::uint32_t node, std::size_t fault, Time at) {
  co_await simulator_.sleep_until(at);
  note(node, fault);
  learn(node, fault);
}

// It can tell nobody, as its hub was its only connection to the others.
des::Task Watch::notice_own_hub(std::uint32_t node, std::size_t fault, Time at) {
  co_await simulator_.sleep_until(at);
  note(node, fault);
  network_.learn(node, fault);
  told_.told(node, fault);
}

void Watch::note(std::uint32_t node, std::size_t fault) {
  if (notices_[fault].at == des::never) notices_[fault] = {simulator_.now(), node};
}

void Watch::learn(std::uint32_t node, std::size_t fault) {
  if ((network_.view(node) >> fault & 1) != 0) return;
  network_.learn(node, fault);
  for (const std::uint32_t neighbour : network_.damage()->detours.neighbours(node))
    simulator_.spawn(tell(node, neighbour, fault), {"the news from node, for node", node, neighbour},
                     des::AgentKind::service);
  simulator_.spawn(tell_host(node, fault), {"the news for the host of node", node}, des::AgentKind::service);
}

des::Task Watch::tell(std::uint32_t from, std::uint32_t to, std::size_t fault) {
  des::Counter here(simulator_, {"the news from node, for node", from, to});
  network_.send({.from = network_.nic(from, interconnect_),
                 .to = network_.nic(to, interconnect_),
                 .interconnect = interconnect_,
                 .bytes = kind_.news_bytes,
                 .arrived = &here,
                 .view = View{0}});
  co_await here.reached(1);
  co_await simulator_.sleep(kind_.handle);
  learn(to, fault);
}

des::Task Watch::tell_host(std::uint32_t node, std::size_t fault) {
  des::Counter here(simulator_, {"the news for the host of node", node});
  network_.send({.from = network_.nic(node, interconnect_),
                 .to = {node, host_},
                 .interconnect = Transfer::inside,
                 .bytes = kind_.news_bytes,
                 .arrived = &here});
  co_await here.reached(1);
  co_await simulator_.sleep(poll_);
  const bool stands = std::ranges::none_of(faults(), [&](const Fault& other) {
    return other.kind == Fault::Kind::host && other.node == node && other.at <= simulator_.now();
  });
  if (stands) told_.told(node, fault);
}

}  // namespace tca::net
