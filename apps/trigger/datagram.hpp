// Datagrams of the read-out: a header, for each event the number of hits up to its end, and the hits. Little-endian, as
// every machine is that has a GPU of today. Callable on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tca/device/memory.hpp"
#include "trigger/event.hpp"

namespace tca::trigger {

struct Header {
  static constexpr std::uint32_t right_magic = 0x47495254;  // "TRIG"

  std::uint32_t magic;
  std::uint32_t run;       // of another run: somebody else's
  std::uint64_t sequence;  // of all links
  std::uint64_t first_event;
  std::uint64_t stamp_ns;  // when it was sent, by the host's clock
  std::uint32_t events;
  std::uint32_t bytes;  // of all, with this header
};

inline constexpr std::uint32_t most_events = 64;  // of a datagram

// Where the hits begin, behind the header: the ends of the events fill whole words.
TCA_DEVICE std::uint32_t bytes_of_ends(std::uint32_t events) { return (events + 1) / 2 * 4; }

// So long may a datagram get.
constexpr std::size_t most_bytes(std::uint32_t events) {
  return sizeof(Header) + (events + 1) / 2 * 4 + std::size_t{events} * most_hits * sizeof(Hit);
}

// The hits of a datagram's event.
struct Hits {
  const Hit* first;
  std::uint32_t count;
};
TCA_DEVICE Hits hits_of(const Header* header, std::uint32_t event) {
  const auto* ends = reinterpret_cast<const std::uint16_t*>(header + 1);
  const auto* hits =
      reinterpret_cast<const Hit*>(reinterpret_cast<const char*>(ends) + bytes_of_ends(header->events));
  const std::uint32_t begin = event == 0 ? 0 : ends[event - 1];
  return {hits + begin, ends[event] - begin};
}

// All of a datagram but its header, and what the header says of it.
std::vector<std::byte> pack(std::span<const std::vector<Hit>> events);

// Whether these bytes are a datagram of a run: nothing that is read of it later is outside of it.
bool is_sound(const Header& header, std::size_t bytes, std::uint32_t run, std::uint32_t most_events_here);

}  // namespace tca::trigger
