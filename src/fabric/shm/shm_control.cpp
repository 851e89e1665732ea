#include "fabric/shm/shm_control.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/fail.hpp"
#include "tca/version.hpp"

namespace tca::shm {

namespace {

bool reached(std::uint32_t counter, std::uint32_t phase) {
  return static_cast<std::int32_t>(counter - phase) >= 0;
}

}  // namespace

ShmControl::ShmControl(Mapping memory, int rank, int size, std::chrono::milliseconds limit)
    : memory_(std::move(memory)),
      board_(memory_.data()),
      rank_(rank),
      size_(size),
      pidfds_(static_cast<std::size_t>(size), -1) {
  time_limit = limit;
  take_seat();
  check_board();
  find_cores();
}

ShmControl::~ShmControl() {
  leave({});
  for (const int fd : pidfds_) {
    if (fd >= 0) close(fd);
  }
}

void ShmControl::take_seat() {
  Seat& seat = board_.seat(rank_);
  std::int32_t nobody = 0;
  // Relaxed: only the winner goes on, and what it then publishes has releases of its own.
  if (!seat.pid.compare_exchange_strong(nobody, getpid(), std::memory_order_relaxed)) {
    gone_ = true;
    base::fail(Errc::incompatible, "rank {} is already taken by process {}; every rank must be started once",
               rank_, nobody);
  }
  seat.presence.store(Presence::here, std::memory_order_release);
}

void ShmControl::check_board() {
  const Header& header = board_.header();
  if (header.abi != abi_version || header.ranks != size_) {
    const std::string reason = fmt::format(
        "rank {} runs OpenTCA {} (interface {:#x}) in a world of {}, but the world was set up by OpenTCA "
        "{} (interface {:#x}) for {} ranks; start every rank from the same build",
        rank_, library_version(), abi_version, size_, header.version, header.abi, header.ranks);
    leave(reason);
    throw Error(Errc::incompatible, reason);
  }
}

// Ranks are crowded when there are fewer cores than ranks in the union of what each may run on.
void ShmControl::find_cores() {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  cpu_set_t all;
  CPU_ZERO(&all);
  for (const base::Blob& blob : all_gather(base::Writer().put(mine).blob(), "start-up (World::init)")) {
    const auto theirs = base::Reader(blob).get<cpu_set_t>();
    CPU_OR(&all, &all, &theirs);
  }
  cores_ = CPU_COUNT(&all) < size_ ? base::Cores::crowded : base::Cores::enough;
}

// Blobs larger than a mailbox travel in several rounds of two phases: filled (odd), read (even). Waiting for
// "read" is put off until the mailbox is needed again.
std::vector<base::Blob> ShmControl::all_gather(const base::Blob& mine, std::string_view what) {
  std::vector<base::Blob> all(static_cast<std::size_t>(size_));
  Seat& seat = board_.seat(rank_);
  std::size_t longest = mine.size();
  for (std::size_t at = 0; at == 0 || at < longest; at += mailbox_bytes) {
    await_phase(phase_, what);
    seat.total = mine.size();
    if (at < mine.size()) {
      std::memcpy(board_.mailbox(rank_), mine.data() + at, std::min(mailbox_bytes, mine.size() - at));
    }
    seat.phase.store(++phase_, std::memory_order_release);
    await_phase(phase_, what);
    for (int r = 0; r < size_; ++r) {
      base::Blob& blob = all[static_cast<std::size_t>(r)];
      const std::size_t total = board_.seat(r).total;
      longest = std::max(longest, total);
      const std::size_t chunk = at < total ? std::min(mailbox_bytes, total - at) : 0;
      blob.insert(blob.end(), board_.mailbox(r), board_.mailbox(r) + chunk);
    }
    seat.phase.store(++phase_, std::memory_order_release);
  }
  return all;
}

void ShmControl::await_phase(std::uint32_t phase, std::string_view what) {
  base::Poll poll(cores_);
  for (int r = 0; r < size_; ++r) {
    const Seat& seat = board_.seat(r);
    while (!reached(seat.phase.load(std::memory_order_acquire), phase)) {
      if (!poll.pause()) continue;
      std::optional<std::string> reason = lost(r);
      // It may have answered before it went.
      if (reason && !reached(seat.phase.load(std::memory_order_acquire), phase)) {
        base::fail(Errc::rank_lost, "rank {} {} while rank {} was waiting for it in {}", r, *reason, rank_,
                   what);
      }
      if (poll.waited() < time_limit) continue;
      std::vector<int> missing;
      for (int other = 0; other < size_; ++other) {
        if (!reached(board_.seat(other).phase.load(std::memory_order_acquire), phase))
          missing.push_back(other);
      }
      base::fail(Errc::timed_out,
                 "{} waited {:.1f} s in {} for rank {}; did it make the same call, in the same order?",
                 fmt::format("rank {}", rank_), std::chrono::duration<double>(poll.waited()).count(), what,
                 fmt::join(missing, ", "));
    }
  }
}

std::optional<std::string> ShmControl::lost(int rank) {
  const Seat& seat = board_.seat(rank);
  // Acquire: pairs with the release in `leave`, so that the reason is readable.
  switch (seat.presence.load(std::memory_order_acquire)) {
    case Presence::failed:
      return fmt::format("failed ({})", seat.reason);
    case Presence::left:
      return "left the world";
    case Presence::absent:
      return std::nullopt;  // not yet started; its launcher or the time limit ends that
    case Presence::here:
      break;
  }
  if (process_ended(rank))
    return fmt::format("died (process {} has ended)", seat.pid.load(std::memory_order_relaxed));
  return std::nullopt;
}

// A pidfd becomes readable when its process ends, even while nobody has reaped it.
bool ShmControl::process_ended(int rank) {
  const auto pid = board_.seat(rank).pid.load(std::memory_order_relaxed);
  if (pid == getpid()) return false;  // a thread of this process
  int& fd = pidfds_[static_cast<std::size_t>(rank)];
  if (fd < 0) fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd watch{fd, POLLIN, 0};
  return ::poll(&watch, 1, 0) > 0;
}

void ShmControl::leave(std::string_view reason) {
  if (gone_) return;
  gone_ = true;
  Seat& seat = board_.seat(rank_);
  const std::size_t length = std::min(reason.size(), sizeof seat.reason - 1);
  std::memcpy(seat.reason, reason.data(), length);
  seat.reason[length] = '\0';
  seat.presence.store(reason.empty() ? Presence::left : Presence::failed, std::memory_order_release);
}

}  // namespace tca::shm
