// The RTL of one hub, a cycle at a time, independent of the simulator that it was translated with.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "model/rtl/address.hpp"

namespace tca::rtl {

constexpr std::uint32_t most_words = 8;  // 32-bit words in a beat of 256 bits
constexpr std::uint32_t cable_credits =
    56;  // packets, the longest ones, in the buffer of a cable's input, or more
constexpr std::uint32_t host_credits = 64;  // beats in the buffer for what the host sends, and in the host's
constexpr std::uint32_t most_tags = 32;

struct Beat {
  bool valid = false, last = false;
  std::array<std::uint32_t, most_words> words{};
};

// What the ports carry in one cycle in one direction; the host's port is the last.
struct Wires {
  std::array<Beat, port::count> beats{};
  // Room for the opposite direction: on a cable for a packet, at the host's port for a beat.
  std::array<bool, port::count> credits{};
};

class Core {
 public:
  virtual ~Core() = default;
  // One cycle: takes what arrives and returns what leaves.
  virtual void cycle(const Wires& in, Wires& out) = 0;
  // In the last cycle: whether nothing will move until something arrives, and whether answers to reads are
  // missing.
  virtual bool idle() const = 0;
  virtual bool waiting() const = 0;
};

// Throws Error{invalid_argument} if OpenTCA was built without Verilator.
void check_core();
// Makes a hub that has just been reset.
std::unique_ptr<Core> make_core(std::uint32_t bits, std::uint32_t node);

}  // namespace tca::rtl
