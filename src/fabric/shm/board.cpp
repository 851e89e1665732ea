#include "fabric/shm/board.hpp"

#include <unistd.h>

#include <cstring>

#include "tca/version.hpp"

namespace tca::shm {

namespace {

constexpr std::size_t header_bytes = 128;
static_assert(sizeof(Header) <= header_bytes);

}  // namespace

std::size_t Board::bytes(int ranks) {
  return header_bytes + static_cast<std::size_t>(ranks) * (sizeof(Seat) + mailbox_bytes);
}

Seat& Board::seat(int rank) const {
  return *reinterpret_cast<Seat*>(memory_ + header_bytes + static_cast<std::size_t>(rank) * sizeof(Seat));
}

std::byte* Board::mailbox(int rank) const {
  const auto seats = static_cast<std::size_t>(header().ranks) * sizeof(Seat);
  return memory_ + header_bytes + seats + static_cast<std::size_t>(rank) * mailbox_bytes;
}

void Board::format(int ranks) {
  Header& h = header();
  h.abi = abi_version;
  h.ranks = ranks;
  h.creator = getpid();
  std::strncpy(h.version, library_version(), sizeof h.version - 1);
  h.magic.store(Header::magic_value, std::memory_order_release);
}

}  // namespace tca::shm
