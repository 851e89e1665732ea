// Packets of PCIe as the hub's ports carry them: beats of 128 or 256 bits, a header and then the payload.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

namespace tca::test {

using Bytes = std::vector<std::byte>;

struct Beat {
  std::array<std::uint32_t, 8> data{};
  bool last = false;
};

// The fields of a packet that the hub looks at.
struct Tlp {
  enum class Kind { read, write, completion };

  Kind kind = Kind::write;
  bool data = true;
  bool poisoned = false;
  std::uint64_t address = 0;  // of the first dword
  std::uint32_t dwords = 0;
  std::uint32_t first = 0, end = 0;  // bytes of the payload that are meant: [first, end)
  std::uint8_t tag = 0;
  std::uint32_t status = 0;  // of a completion, as the next two
  std::uint32_t byte_count = 0;
  std::uint32_t lower_address = 0;
  Bytes payload;  // whole dwords
};

// A request for the bytes [address, address + bytes).
Tlp request(Tlp::Kind kind, std::uint64_t address, std::uint32_t bytes, std::uint8_t tag = 0);
Tlp write(std::uint64_t address, std::span<const std::byte> bytes);
Tlp write64(std::uint64_t address, std::uint64_t value);

std::vector<Beat> beats(const Tlp& tlp, std::size_t width);

// Puts beats together again.
class Assembler {
 public:
  explicit Assembler(std::size_t width) : width_(width) {}

  // The packet that this beat ends.
  std::optional<Tlp> take(const Beat& beat);

 private:
  std::size_t width_;
  std::vector<Beat> beats_;
};

}  // namespace tca::test
