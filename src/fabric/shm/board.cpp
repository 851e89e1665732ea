#include "fabric/shm/board.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tca/version.hpp"

namespace tca::shm {

std::size_t Board::bytes(int ranks) {
  return sizeof(Header) + static_cast<std::size_t>(ranks) * (sizeof(Seat) + mailbox_bytes);
}

Seat& Board::seat(int rank) const {
  return *reinterpret_cast<Seat*>(memory_ + sizeof(Header) + static_cast<std::size_t>(rank) * sizeof(Seat));
}

std::byte* Board::mailbox(int rank) const {
  const auto seats = static_cast<std::size_t>(header().ranks) * sizeof(Seat);
  return memory_ + sizeof(Header) + seats + static_cast<std::size_t>(rank) * mailbox_bytes;
}

void Board::format(int ranks) {
  Header& h = header();
  h.abi = abi_version;
  h.ranks = ranks;
  h.creator = getpid();
  std::strncpy(h.version, library_version(), sizeof h.version - 1);
  h.magic.store(Header::magic_value, std::memory_order_release);
}

void Board::refuse(std::string_view reason) const {
  Header& h = header();
  std::uint32_t expected = Header::none;
  if (!h.refusal.compare_exchange_strong(expected, Header::being_written, std::memory_order_relaxed)) return;
  std::memcpy(h.reason, reason.data(), std::min(reason.size(), sizeof h.reason - 1));
  h.refusal.store(Header::written, std::memory_order_release);
}

std::optional<std::string> Board::refusal() const {
  const Header& h = header();
  if (h.refusal.load(std::memory_order_acquire) != Header::written) return std::nullopt;
  return std::string(h.reason, strnlen(h.reason, sizeof h.reason));
}

}  // namespace tca::shm
