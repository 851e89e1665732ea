#include "trigger/datagram.hpp"

#include <cstring>

namespace tca::trigger {

std::vector<std::byte> pack(std::span<const std::vector<Hit>> events) {
  std::vector<std::uint16_t> ends(bytes_of_ends(static_cast<std::uint32_t>(events.size())) / 2);
  std::vector<Hit> hits;
  for (std::size_t event = 0; event < events.size(); ++event) {
    hits.insert(hits.end(), events[event].begin(), events[event].end());
    ends[event] = static_cast<std::uint16_t>(hits.size());
  }
  const std::size_t before = ends.size() * sizeof ends[0], behind = hits.size() * sizeof(Hit);
  std::vector<std::byte> bytes(before + behind);
  std::memcpy(bytes.data(), ends.data(), before);
  if (behind > 0) std::memcpy(bytes.data() + before, hits.data(), behind);
  return bytes;
}

bool is_sound(const Header& header, std::size_t bytes, std::uint32_t run, std::uint32_t most_events_here) {
  if (bytes < sizeof header || header.magic != Header::right_magic || header.run != run) return false;
  if (header.bytes != bytes || header.events == 0 || header.events > most_events_here) return false;
  const std::size_t fixed = sizeof header + bytes_of_ends(header.events);
  if (bytes < fixed) return false;
  const auto* ends = reinterpret_cast<const std::uint16_t*>(&header + 1);
  for (std::uint32_t event = 0, begin = 0; event < header.events; begin = ends[event++])
    if (ends[event] < begin || ends[event] - begin > most_hits) return false;
  return bytes == fixed + ends[header.events - 1] * sizeof(Hit);
}

}  // namespace tca::trigger
