#include "mpi/engine/peers.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <new>
#include <random>

namespace tca::p2p {
namespace {

std::size_t inbox_bytes(std::size_t ranks, std::size_t ring_bytes) {
  return sizeof(Door) + ranks * Ring::size(ring_bytes);
}

}  // namespace

void Door::knock() {
  knocks.fetch_add(1, std::memory_order_acq_rel);
  syscall(SYS_futex, &knocks, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

void Door::sleep(std::uint32_t seen) { syscall(SYS_futex, &knocks, FUTEX_WAIT, seen, nullptr, nullptr, 0); }

// Where a rank's inbox is, and a number that is its own: the same process number may mean another process here.
struct Peers::Address {
  std::int32_t process = 0;
  std::int32_t file = -1;
  std::uint64_t inbox = 0, secret_at = 0, secret = 0;
};

std::optional<Peers> Peers::meet(int rank, int ranks, std::size_t ring_bytes, const Gather& gather) {
  Peers peers(rank, ring_bytes);
  const auto count = static_cast<std::size_t>(ranks);
  const std::uint64_t secret = (std::uint64_t{std::random_device{}()} << 32) | std::random_device{}();
  Shared own;
  Address mine{getpid(), -1, 0, std::bit_cast<std::uint64_t>(&secret), secret};
  try {
    own = Shared(inbox_bytes(count, ring_bytes));
    mine.file = own.file();
    mine.inbox = std::bit_cast<std::uint64_t>(own.data());
  } catch (const std::bad_alloc&) {
    // The others learn of it below.
  }

  std::vector<Address> addresses(count);
  gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(addresses)));
  const char reaches = mine.file >= 0 && peers.attach(addresses) ? 1 : 0;
  std::vector<char> all(count);
  gather(std::as_bytes(std::span(&reaches, 1)), std::as_writable_bytes(std::span(all)));
  if (std::ranges::count(all, char{1}) != ranks) return std::nullopt;
  own.close_file();
  peers.inboxes_[static_cast<std::size_t>(rank)] = std::move(own);
  return peers;
}

bool Peers::attach(std::span<const Address> addresses) {
  const std::size_t bytes = inbox_bytes(addresses.size(), ring_bytes_);
  for (const Address& each : addresses) {
    processes_.push_back(each.process);
    std::uint64_t secret = 0;
    if (each.file < 0 || !read_from(each.process, each.secret_at, &secret, sizeof secret) ||
        secret != each.secret)
      return false;
    try {
      inboxes_.emplace_back(each.process, each.file, each.inbox, bytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
  }
  return true;
}

}  // namespace tca::p2p
