#include "tlp.hpp"

#include <bit>
#include <cstring>
#include <stdexcept>

namespace tca::test {

namespace {

constexpr std::uint32_t memory = 0, completion = 0b01010;

// A byte enable for each of a dword's bytes within [first, end).
std::uint32_t enables(std::uint32_t first, std::uint32_t end, std::uint32_t dword) {
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < 4; ++lane) {
    const std::uint32_t byte = 4 * dword + lane;
    if (byte >= first && byte < end) mask |= 1U << lane;
  }
  return mask;
}

Beat header(const Tlp& tlp) {
  const bool wide = tlp.kind != Tlp::Kind::completion && (tlp.address >> 32) != 0;
  const std::uint32_t format = (tlp.data ? 2U : 0U) | (wide ? 1U : 0U);
  const std::uint32_t kind = tlp.kind == Tlp::Kind::completion ? completion : memory;
  Beat beat;
  beat.data[0] = format << 29 | kind << 24 | (tlp.poisoned ? 1U << 14 : 0U) | tlp.dwords;
  if (tlp.kind == Tlp::Kind::completion) {
    beat.data[1] = tlp.status << 13 | tlp.byte_count;
    beat.data[2] = std::uint32_t{tlp.tag} << 8 | tlp.lower_address;
  } else {
    const std::uint32_t last = tlp.dwords > 1 ? enables(tlp.first, tlp.end, tlp.dwords - 1) : 0;
    beat.data[1] = std::uint32_t{tlp.tag} << 8 | last << 4 | enables(tlp.first, tlp.end, 0);
    const auto low = static_cast<std::uint32_t>(tlp.address);
    beat.data[2] = wide ? static_cast<std::uint32_t>(tlp.address >> 32) : low;
    if (wide) beat.data[3] = low;
  }
  return beat;
}

Tlp parse(const Beat& beat) {
  Tlp tlp;
  const std::uint32_t word = beat.data[0];
  const bool wide = (word >> 29 & 1U) != 0;
  tlp.data = (word >> 30 & 1U) != 0;
  tlp.poisoned = (word >> 14 & 1U) != 0;
  tlp.dwords = word & 0x3ffU;
  if ((word >> 24 & 31U) == completion) {
    tlp.kind = Tlp::Kind::completion;
    tlp.status = beat.data[1] >> 13 & 7U;
    tlp.byte_count = beat.data[1] & 0xfffU;
    tlp.tag = static_cast<std::uint8_t>(beat.data[2] >> 8);
    tlp.lower_address = beat.data[2] & 0x7fU;
    return tlp;
  }
  tlp.kind = tlp.data ? Tlp::Kind::write : Tlp::Kind::read;
  tlp.tag = static_cast<std::uint8_t>(beat.data[1] >> 8);
  tlp.address = wide ? std::uint64_t{beat.data[2]} << 32 | beat.data[3] : beat.data[2];
  const std::uint32_t first = beat.data[1] & 15U, last = tlp.dwords > 1 ? beat.data[1] >> 4 & 15U : first;
  if (first == 0 || last == 0) throw std::runtime_error("a request without byte enables");
  tlp.first = static_cast<std::uint32_t>(std::countr_zero(first));
  tlp.end = 4 * (tlp.dwords - 1) + static_cast<std::uint32_t>(std::bit_width(last));
  return tlp;
}

}  // namespace

Tlp request(Tlp::Kind kind, std::uint64_t address, std::uint32_t bytes, std::uint8_t tag) {
  Tlp tlp;
  tlp.kind = kind;
  tlp.data = kind == Tlp::Kind::write;
  tlp.address = address & ~std::uint64_t{3};
  tlp.first = static_cast<std::uint32_t>(address & 3);
  tlp.end = tlp.first + bytes;
  tlp.dwords = (tlp.end + 3) / 4;
  tlp.tag = tag;
  return tlp;
}

Tlp write(std::uint64_t address, std::span<const std::byte> bytes) {
  Tlp tlp = request(Tlp::Kind::write, address, static_cast<std::uint32_t>(bytes.size()));
  tlp.payload.resize(std::size_t{4} * tlp.dwords);
  std::memcpy(tlp.payload.data() + tlp.first, bytes.data(), bytes.size());
  return tlp;
}

Tlp write64(std::uint64_t address, std::uint64_t value) {
  return write(address, std::as_bytes(std::span(&value, 1)));
}

std::vector<Beat> beats(const Tlp& tlp, std::size_t width) {
  std::vector<Beat> beats{header(tlp)};
  const std::size_t bytes = width / 8;
  for (std::size_t at = 0; tlp.data && at < tlp.payload.size(); at += bytes) {
    std::memcpy(beats.emplace_back().data.data(), tlp.payload.data() + at,
                std::min(bytes, tlp.payload.size() - at));
  }
  beats.back().last = true;
  return beats;
}

std::optional<Tlp> Assembler::take(const Beat& beat) {
  beats_.push_back(beat);
  if (!beat.last) return std::nullopt;
  Tlp tlp = parse(beats_.front());
  tlp.payload.resize(tlp.data ? std::size_t{4} * tlp.dwords : 0);
  const std::size_t bytes = width_ / 8;
  if (beats_.size() != 1 + (tlp.payload.size() + bytes - 1) / bytes)
    throw std::runtime_error("a packet of a wrong length");
  for (std::size_t k = 1; k < beats_.size(); ++k) {
    const std::size_t at = (k - 1) * bytes;
    std::memcpy(tlp.payload.data() + at, beats_[k].data.data(), std::min(bytes, tlp.payload.size() - at));
  }
  beats_.clear();
  return tlp;
}

}  // namespace tca::test
