// Hubs in a ring, each with its host, and what a driver does with them: descriptors, doorbells, registers.
#pragma once

#include <string>

#include "host.hpp"
#include "hub.hpp"

namespace tca::test {

// The hub's registers, from the offset 0 of its target.
namespace reg {
constexpr std::uint64_t errors = 0x08, config = 0x10, timeout = 0x14, msi_address = 0x18, msi_data = 0x20,
                        route = 0x28;
constexpr std::uint64_t chain = 0, doorbell = 8, status = 0x10, control = 0x14, done = 0x18, where = 0x20;
constexpr std::uint64_t channel(std::uint64_t channel) { return 0x100 + 0x40 * channel; }
constexpr std::uint64_t memory = 0x100000;
}  // namespace reg

// Where tests have their flags in the memory of each host.
constexpr std::uint64_t flags = 0x20000;

struct Loop {
  std::uint32_t count = 1;
  std::int32_t source = 0, destination = 0;
};

struct Descriptor {
  std::uint64_t source = 0, destination = 0;
  std::uint32_t run = 0;
  std::array<Loop, 3> loops{};
  std::optional<std::uint64_t> flag;
  bool last = true, interrupts = false;
  std::uint64_t next = 0;

  [[nodiscard]] std::array<std::uint64_t, 8> words() const;
};

class Machine {
 public:
  struct Node {
    std::unique_ptr<Hub> hub;
    Host host;
    std::deque<std::uint64_t> host_credits;  // by the cycle they come
  };

  Machine(std::size_t width, std::size_t nodes, std::uint64_t seed, std::uint64_t cable_latency = 20);

  Node& operator[](std::size_t node) { return nodes_.at(node); }
  [[nodiscard]] std::uint64_t now() const { return now_; }
  // The clock of a hub that says that it rests stands still until something comes in.
  void cycle();
  [[nodiscard]] bool idle() const;  // nothing moves anywhere
  // Runs until `condition`; throws, with `what` was waited for, after so many cycles.
  void until(const std::string& what, const std::function<bool()>& condition, std::uint64_t cycles = 200000);

  // As a driver would, over the host's bus.
  void store(std::size_t node, std::uint64_t offset, std::uint32_t value);
  void store64(std::size_t node, std::uint64_t offset, std::uint64_t value);
  std::uint32_t load(std::size_t node, std::uint64_t offset);
  // Writes descriptors, linked, into the hub's memory or the host's, from `slot` on; the address of the first.
  std::uint64_t place(std::size_t node, std::vector<Descriptor> descriptors, std::uint64_t slot = 0,
                      bool in_host = false);
  void ring(std::size_t node, std::size_t channel, std::uint64_t chain, std::uint64_t value);
  // Where the end of a channel's chain is told, and whether the word there says that `value` has ended well or with `cause`.
  static std::uint64_t done_offset(std::size_t channel) { return 0x3f000 + 64 * channel; }
  void done(std::size_t node, std::size_t channel, std::uint64_t value, std::uint64_t cause = 0);

 private:
  struct Cable {
    std::size_t from, out, to, in;
    std::deque<std::pair<std::uint64_t, Beat>> beats;
    std::deque<std::uint64_t> credits;
  };

  std::uint64_t now_ = 0;
  std::uint64_t latency_;
  std::deque<Node> nodes_;
  std::vector<Cable> cables_;
};

}  // namespace tca::test
