#include "machine.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tca::test {

namespace {

constexpr std::uint64_t address_mask = (1ULL << 40) - 1;
constexpr std::uint64_t host_credit_delay = 4;
constexpr std::uint64_t host_descriptors = 0x30000;

std::uint64_t route_table(std::size_t node, std::size_t nodes) {
  std::uint64_t table = ~0ULL;
  for (std::size_t to = 0; to < nodes; ++to) {
    const std::size_t forward = (to + nodes - node) % nodes;
    const std::size_t local = 4,
                      port = forward == 0 ? local : std::size_t{forward <= nodes / 2 ? east : west};
    table = (table & ~(15ULL << (4 * to))) | port << (4 * to);
  }
  return table;
}

}  // namespace

std::array<std::uint64_t, 8> Descriptor::words() const {
  std::array<std::uint64_t, 8> words{};
  words[0] = source | std::uint64_t{loops[0].count} << 40;
  words[1] = destination | std::uint64_t{loops[1].count} << 40;
  words[2] = flag.value_or(0) | std::uint64_t{loops[2].count} << 40;
  words[3] = (next & address_mask) | (last ? 1ULL << 40 : 0) | (flag ? 1ULL << 41 : 0) |
             (interrupts ? 1ULL << 42 : 0);
  words[4] = run;
  for (std::size_t k = 0; k < 3; ++k) {
    words[5 + k] = static_cast<std::uint32_t>(loops[k].source) |
                   std::uint64_t{static_cast<std::uint32_t>(loops[k].destination)} << 32;
  }
  return words;
}

Machine::Machine(std::size_t width, std::size_t nodes, std::uint64_t seed, std::uint64_t cable_latency)
    : latency_(cable_latency) {
  for (std::size_t node = 0; node < nodes; ++node) {
    nodes_.push_back(
        {Hub::make(width, static_cast<std::uint32_t>(node)), Host(width, node, seed + node), {}});
    const std::size_t next = (node + 1) % nodes;
    if (nodes > 1) {
      cables_.push_back({node, east, next, west, {}, {}});
      cables_.push_back({next, west, node, east, {}, {}});
    }
  }
  for (std::size_t node = 0; node < nodes; ++node) {
    store64(node, reg::route, route_table(node, nodes));
    for (std::size_t channel = 0; channel < 4; ++channel) {
      std::memset(nodes_[node].host.memory(Target::host).data() + done_offset(channel), 0, 8);
      store64(node, reg::channel(channel) + reg::done, address(node, Target::host, done_offset(channel)));
    }
  }
}

void Machine::cycle() {
  std::vector<Ports> in(nodes_.size());
  for (Cable& cable : cables_) {
    if (!cable.beats.empty() && cable.beats.front().first <= now_) {
      in[cable.to].cable[cable.in] = cable.beats.front().second;
      cable.beats.pop_front();
    }
    if (!cable.credits.empty() && cable.credits.front() <= now_) {
      in[cable.from].cable_credit[cable.out] = true;
      cable.credits.pop_front();
    }
  }
  std::vector<Ports> out(nodes_.size());
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    Node& own = nodes_[node];
    in[node].host = own.host.give(now_);
    if (!own.host_credits.empty() && own.host_credits.front() <= now_) {
      in[node].host_credit = true;
      own.host_credits.pop_front();
    }
    if (own.hub->idle() && !own.hub->waiting() && !own.hub->offering() && in[node].empty()) continue;
    out[node] = own.hub->cycle(in[node]);
    if (out[node].host) {
      own.host_credits.push_back(now_ + host_credit_delay);
      own.host.take(now_, *out[node].host);
    }
    if (out[node].host_credit) own.host.credit();
  }
  for (Cable& cable : cables_) {
    if (out[cable.from].cable[cable.out])
      cable.beats.emplace_back(now_ + latency_, *out[cable.from].cable[cable.out]);
    if (out[cable.to].cable_credit[cable.in]) cable.credits.push_back(now_ + latency_);
  }
  ++now_;
}

bool Machine::idle() const {
  return std::all_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) {
                       return node.hub->idle() && !node.host.busy() && node.host_credits.empty();
                     }) &&
         std::all_of(cables_.begin(), cables_.end(),
                     [](const Cable& cable) { return cable.beats.empty() && cable.credits.empty(); });
}

void Machine::until(const std::string& what, const std::function<bool()>& condition, std::uint64_t cycles) {
  for (const std::uint64_t end = now_ + cycles; !condition();) {
    if (now_ == end) throw std::runtime_error("waited in vain for " + what);
    cycle();
  }
}

void Machine::store(std::size_t node, std::uint64_t offset, std::uint32_t value) {
  nodes_[node].host.send(write(address(node, Target::hub, offset), std::as_bytes(std::span(&value, 1))));
}

void Machine::store64(std::size_t node, std::uint64_t offset, std::uint64_t value) {
  nodes_[node].host.send(write64(address(node, Target::hub, offset), value));
}

std::uint32_t Machine::load(std::size_t node, std::uint64_t offset) {
  Host& host = nodes_[node].host;
  host.answers.erase(7);
  host.send(request(Tlp::Kind::read, address(node, Target::hub, offset), 4, 7));
  until("a register", [&] { return host.answers.contains(7); });
  std::uint32_t value = 0;
  std::memcpy(&value, host.answers.at(7).payload.data(), sizeof value);
  return value;
}

std::uint64_t Machine::place(std::size_t node, std::vector<Descriptor> descriptors, std::uint64_t slot,
                             bool in_host) {
  const std::uint64_t first = in_host ? address(node, Target::host, host_descriptors + 64 * slot)
                                      : address(node, Target::hub, reg::memory + 64 * slot);
  for (std::size_t k = 0; k < descriptors.size(); ++k) {
    const std::uint64_t at = first + 64 * k;
    descriptors[k].last = k + 1 == descriptors.size();
    descriptors[k].next = at + 64;
    const std::array<std::uint64_t, 8> words = descriptors[k].words();
    if (in_host) {
      std::memcpy(nodes_[node].host.memory(Target::host).data() + host_descriptors + 64 * (slot + k),
                  words.data(), 64);
    } else {
      nodes_[node].host.send(write(at, std::as_bytes(std::span(words))));
    }
  }
  return first;
}

void Machine::ring(std::size_t node, std::size_t channel, std::uint64_t chain, std::uint64_t value) {
  const std::array<std::uint64_t, 2> words{chain, value};
  nodes_[node].host.send(
      write(address(node, Target::hub, reg::channel(channel)), std::as_bytes(std::span(words))));
}

void Machine::done(std::size_t node, std::size_t channel, std::uint64_t value, std::uint64_t cause) {
  until("channel " + std::to_string(channel) + " of node " + std::to_string(node) + " to end with cause " +
            std::to_string(cause),
        [&] { return nodes_[node].host.word(done_offset(channel)) == (cause << 56 | value); });
}

}  // namespace tca::test
