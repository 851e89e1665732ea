#include "host.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tca::test {

namespace {

constexpr std::size_t memory_bytes = std::size_t{1} << 18;
constexpr std::uint64_t window = 1ULL << 39;
constexpr std::uint64_t request_credits = 64;  // HostBeats

}  // namespace

Host::Host(std::size_t width, std::uint64_t node, std::uint64_t seed)
    : width_(width), node_(node), random_(seed), incoming_(width), credits_(request_credits) {
  for (Bytes& memory : memory_) {
    memory.resize(memory_bytes);
    std::generate(memory.begin(), memory.end(), [&] { return static_cast<std::byte>(random_()); });
  }
}

std::uint64_t Host::word(std::uint64_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, memory(Target::host).data() + offset, sizeof value);
  return value;
}

void Host::send(const Tlp& tlp) { requests_.push_back(tlp); }

std::byte* Host::at(std::uint64_t address, std::size_t bytes) {
  const std::uint64_t target = address >> 33 & 3, offset = address & ((1ULL << 33) - 1);
  if ((address & window) == 0 || (address >> 35 & 15) != node_ || target == 3 ||
      offset + bytes > memory_bytes) {
    throw std::runtime_error("a packet to node " + std::to_string(node_) + " for address " +
                             std::to_string(address));
  }
  return memory_[target].data() + offset;
}

void Host::take(std::uint64_t now, const Beat& beat) {
  const std::optional<Tlp> tlp = incoming_.take(beat);
  if (!tlp) return;
  if (tlp->kind == Tlp::Kind::completion) {
    answers[tlp->tag] = *tlp;
  } else if (tlp->kind == Tlp::Kind::read) {
    answer(now, *tlp);
  } else if (tlp->address < window) {
    std::uint32_t data = 0;
    std::memcpy(&data, tlp->payload.data(), sizeof data);
    interrupts.push_back(data);
  } else {
    if ((tlp->address & 4095) + tlp->payload.size() > 4096 || tlp->payload.size() > 256) {
      throw std::runtime_error("a write that PCIe does not allow");
    }
    if (on_write) on_write(*tlp);
    std::memcpy(at(tlp->address, tlp->payload.size()) + tlp->first, tlp->payload.data() + tlp->first,
                tlp->end - tlp->first);
  }
}

// Parts may end wherever a multiple of 64 is.
void Host::answer(std::uint64_t now, const Tlp& read) {
  if ((read.address & 4095) + std::uint64_t{4} * read.dwords > 4096)
    throw std::runtime_error("a read across 4 KB");
  std::uint64_t due = now + latency + (shuffled ? random_() % 64 : 0);
  std::uint32_t from = read.first;
  while (from < read.end) {
    std::uint32_t to = read.end;
    for (std::uint32_t end = 64 - static_cast<std::uint32_t>(read.address & 63); shuffled && end < read.end;
         end += 64) {
      if (end > from && random_() % 3 == 0) {
        to = end;
        break;
      }
    }
    Tlp part;
    part.kind = Tlp::Kind::completion;
    part.tag = read.tag;
    part.byte_count = read.end - from;
    part.lower_address = static_cast<std::uint32_t>((read.address + from) & 127);
    const std::uint32_t first = from / 4, end = (to + 3) / 4;
    part.dwords = end - first;
    const std::byte* source = at(read.address + std::uint64_t{4} * first, std::size_t{4} * part.dwords);
    part.payload.assign(source, source + std::size_t{4} * part.dwords);
    if (!on_completion || on_completion(part)) answering_.emplace(due + (delay ? delay(part) : 0), part);
    if (part.status != 0) return;
    from = to;
    if (shuffled) due += random_() % 16;
  }
}

std::optional<Beat> Host::give(std::uint64_t now) {
  if (outgoing_.empty()) {
    if (!answering_.empty() && answering_.begin()->first <= now) {
      for (const Beat& beat : beats(answering_.begin()->second, width_)) outgoing_.push_back(beat);
      answering_.erase(answering_.begin());
    } else if (!requests_.empty()) {
      const std::vector<Beat> packet = beats(requests_.front(), width_);
      if (packet.size() <= credits_) {
        credits_ -= packet.size();
        outgoing_.insert(outgoing_.end(), packet.begin(), packet.end());
        requests_.pop_front();
      }
    }
  }
  if (outgoing_.empty()) return std::nullopt;
  const Beat beat = outgoing_.front();
  outgoing_.pop_front();
  return beat;
}

}  // namespace tca::test
