// A node's host: its memory and its GPUs', which answer reads after a while, in any order and in any parts that
// PCIe allows, or wrongly where a test asks for it.
#pragma once

#include <functional>
#include <map>
#include <random>

#include "tlp.hpp"

namespace tca::test {

enum class Target : std::uint64_t { host = 0, gpu0 = 1, gpu1 = 2, hub = 3 };

constexpr std::uint64_t address(std::uint64_t node, Target target, std::uint64_t offset) {
  return 1ULL << 39 | node << 35 | static_cast<std::uint64_t>(target) << 33 | offset;
}

class Host {
 public:
  Host(std::size_t width, std::uint64_t node, std::uint64_t seed);

  // The bytes of a target's memory, from its offset 0 on.
  Bytes& memory(Target target) { return memory_.at(static_cast<std::size_t>(target)); }
  std::uint64_t word(std::uint64_t offset);

  void send(const Tlp& tlp);
  // The answers to its own reads, by tag.
  std::map<std::uint8_t, Tlp> answers;
  // Interrupts that came.
  std::vector<std::uint32_t> interrupts;
  // Called before a write to its memory is done.
  std::function<void(const Tlp&)> on_write;
  // May change or drop (by returning false) a completion.
  std::function<bool(Tlp&)> on_completion;

  std::uint64_t latency = 40;  // from a read to its answer, in cycles
  // Says how much later still a completion comes.
  std::function<std::uint64_t(const Tlp&)> delay;
  bool shuffled = false;  // answers come in other orders and in parts

  // A clock cycle: what the hub sent, and what it is sent.
  void take(std::uint64_t now, const Beat& beat);
  std::optional<Beat> give(std::uint64_t now);
  void credit() { ++credits_; }
  [[nodiscard]] bool busy() const { return !answering_.empty() || !requests_.empty() || !outgoing_.empty(); }

 private:
  void answer(std::uint64_t now, const Tlp& read);
  std::byte* at(std::uint64_t address, std::size_t bytes);

  std::size_t width_;
  std::uint64_t node_;
  std::mt19937_64 random_;
  std::array<Bytes, 3> memory_;
  Assembler incoming_;
  std::multimap<std::uint64_t, Tlp> answering_;  // by the cycle they are due
  std::deque<Tlp> requests_;
  std::deque<Beat> outgoing_;
  std::uint64_t credits_;
};

}  // namespace tca::test
