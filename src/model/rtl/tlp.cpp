#include "model/rtl/tlp.hpp"

#include <algorithm>
#include <bit>

namespace tca::rtl {

namespace {

constexpr std::uint32_t four_dwords_data = 3u << 29, three_dwords_data = 2u << 29;
constexpr std::uint32_t completion = 0x0au << 24;

// A length of 0 stands for 1024 dwords.
std::uint32_t dwords(std::uint32_t dw0) {
  const std::uint32_t length = dw0 & 0x3ff;
  return length == 0 ? 1024 : length;
}

std::uint32_t dwords_of(std::uint32_t lane, std::size_t bytes) {
  return (lane + static_cast<std::uint32_t>(bytes) + 3) / 4;
}

// The bytes of `bytes` in whole dwords, the first of them in its lane.
std::vector<std::byte> packed(std::uint32_t lane, std::span<const std::byte> bytes) {
  std::vector<std::byte> data(std::size_t{4} * dwords_of(lane, bytes.size()));
  std::ranges::copy(bytes, data.begin() + lane);
  return data;
}

}  // namespace

std::uint32_t Tlp::data_bytes() const { return has_data() ? 4 * dwords(header[0]) : 0; }

std::uint64_t Tlp::address() const {
  const bool is_long = ((header[0] >> 29) & 1) != 0;
  const std::uint64_t dword = is_long ? std::uint64_t{header[2]} << 32 | (header[3] & ~3u) : header[2] & ~3u;
  const std::uint32_t first = header[1] & 0xf;
  return dword + (first == 0 ? 0 : static_cast<std::uint32_t>(std::countr_zero(first)));
}

std::uint32_t Tlp::bytes() const {
  const std::uint32_t first = header[1] & 0xf, last = (header[1] >> 4) & 0xf;
  if (first == 0) return 0;
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(first));
  const std::uint32_t count = dwords(header[0]);
  const auto end = static_cast<std::uint32_t>(std::bit_width(count == 1 ? first : last));
  return 4 * (count - 1) + end - lane;
}

Tlp make_write(std::uint64_t address, std::span<const std::byte> bytes) {
  const auto lane = static_cast<std::uint32_t>(address & 3);
  const std::uint32_t count = dwords_of(lane, bytes.size()),
                      end = (lane + static_cast<std::uint32_t>(bytes.size())) % 4;
  const std::uint32_t first = (0xfu << lane) & 0xf, last = end == 0 ? 0xf : 0xfu >> (4 - end);
  const std::uint32_t enables = count == 1 ? first & last : last << 4 | first;
  return {{four_dwords_data | count, enables, static_cast<std::uint32_t>(address >> 32),
           static_cast<std::uint32_t>(address & ~std::uint64_t{3})},
          packed(lane, bytes)};
}

Tlp make_answer(const Tlp& read, std::uint32_t offset, std::span<const std::byte> bytes) {
  const std::uint64_t from = read.address() + offset;
  const auto lane = static_cast<std::uint32_t>(from & 3);
  const std::uint32_t left = (read.bytes() - offset) & 0xfff;
  const std::uint32_t requester = read.header[1] & 0xffff0000;
  return {{three_dwords_data | completion | dwords_of(lane, bytes.size()), left,
           requester | std::uint32_t{read.tag()} << 8 | static_cast<std::uint32_t>(from & 0x7f), 0},
          packed(lane, bytes)};
}

Tlp make_refusal(const Tlp& read, Status status) {
  const std::uint32_t requester = read.header[1] & 0xffff0000;
  return {{completion, static_cast<std::uint32_t>(status) << 13 | (read.bytes() & 0xfff),
           requester | std::uint32_t{read.tag()} << 8 | static_cast<std::uint32_t>(read.address() & 0x7f), 0},
          {}};
}

}  // namespace tca::rtl
