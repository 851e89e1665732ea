// PCIe's transaction-layer packets as the RTL represents them (rtl/README.md): a header of four dwords, and
// data from the first dword on, bytes in memory order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tca::rtl {

constexpr std::uint32_t most_payload = 256;  // bytes in a packet

enum class Status : std::uint8_t { success = 0, unsupported = 1, abort = 4 };

struct Tlp {
  std::array<std::uint32_t, 4> header{};
  std::vector<std::byte> data;  // whole dwords

  bool has_data() const { return ((header[0] >> 30) & 1) != 0; }
  bool is_completion() const { return ((header[0] >> 24) & 0x1f) == 0x0a; }
  bool is_write() const { return ((header[0] >> 24) & 0x1f) == 0 && has_data(); }
  bool is_read() const { return ((header[0] >> 24) & 0x1f) == 0 && !has_data(); }
  std::uint32_t data_bytes() const;  // that follow the header
  // For a read or write: the first enabled byte, and how many there are from it to the last one.
  std::uint64_t address() const;
  std::uint32_t bytes() const;
  std::uint32_t lane() const { return static_cast<std::uint32_t>(address() & 3); }
  std::uint8_t tag() const { return static_cast<std::uint8_t>(header[is_completion() ? 2 : 1] >> 8); }
  // For a write: the bytes that it writes from its address on.
  std::span<const std::byte> written() const { return std::span(data).subspan(lane(), bytes()); }
  void poison() { header[0] |= 1u << 14; }
};

// A store of up to 256 bytes within 4 KB.
Tlp make_write(std::uint64_t address, std::span<const std::byte> bytes);

// A part of the answer to `read`: `bytes` of its bytes from `offset` on.
Tlp make_answer(const Tlp& read, std::uint32_t offset, std::span<const std::byte> bytes);
// An answer without data.
Tlp make_refusal(const Tlp& read, Status status);

}  // namespace tca::rtl
