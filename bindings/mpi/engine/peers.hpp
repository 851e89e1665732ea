// The ranks of a host and the memory through which they meet: each has an inbox, with a ring for each rank, and a door, at which
// others knock when they wait for it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mpi/engine/memory.hpp"
#include "mpi/engine/ring.hpp"

namespace tca::p2p {

// Collective: gives every rank the bytes of all, by rank.
using Gather = std::function<void(std::span<const std::byte> mine, std::span<std::byte> all)>;

// Counts knocks. Whoever sleeps there is woken by each.
struct alignas(cache_line) Door {
  std::atomic<std::uint32_t> knocks;
  // How many threads of the rank look for what comes anyway. No order is needed: a knock that is left out comes later.
  std::atomic<std::uint32_t> attending;

  void knock();
  // Returns when there are other than `seen`, or without reason.
  void sleep(std::uint32_t seen);
};

class Peers {
 public:
  // Collective. Returns nothing, on every rank alike, where one of them cannot share memory with, or read that of, another.
  static std::optional<Peers> meet(int rank, int ranks, std::size_t ring_bytes, const Gather& gather);

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(processes_.size()); }
  pid_t process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  Door& door(int rank) const {
    return *reinterpret_cast<Door*>(inboxes_[static_cast<std::size_t>(rank)].data());
  }
  // What `writer` tells `reader`.
  Ring ring(int reader, int writer) const {
    const std::size_t at = sizeof(Door) + static_cast<std::size_t>(writer) * Ring::size(ring_bytes_);
    return {inboxes_[static_cast<std::size_t>(reader)].data() + at, ring_bytes_};
  }

 private:
  Peers(int rank, std::size_t ring_bytes) : rank_(rank), ring_bytes_(ring_bytes) {}
  struct Address;
  bool attach(std::span<const Address> addresses);

  int rank_;
  std::size_t ring_bytes_;
  std::vector<pid_t> processes_;
  std::vector<Shared> inboxes_;
};

}  // namespace tca::p2p
