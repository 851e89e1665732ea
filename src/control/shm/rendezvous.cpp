#include "control/shm/rendezvous.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bit>
#include <climits>
#include <cstring>
#include <ctime>

#include "base/counter.hpp"
#include "base/fail.hpp"
#include "control/shm/process.hpp"
#include "tca/version.hpp"

namespace tca::shm {

std::size_t Rendezvous::bytes(int ranks) {
  const std::size_t each = sizeof(Seat) + words(ranks) * sizeof(std::uint64_t) + mailbox_bytes;
  return sizeof(Header) + static_cast<std::size_t>(ranks) * each + sizeof(Meeting);
}

Seat& Rendezvous::seat(int rank) const {
  return *reinterpret_cast<Seat*>(memory_ + sizeof(Header) + static_cast<std::size_t>(rank) * sizeof(Seat));
}

Meeting& Rendezvous::meeting() const {
  const auto seats = static_cast<std::size_t>(header().ranks) * sizeof(Seat);
  return *reinterpret_cast<Meeting*>(memory_ + sizeof(Header) + seats);
}

std::atomic<std::uint64_t>* Rendezvous::senders(int reader) const {
  return reinterpret_cast<std::atomic<std::uint64_t>*>(&meeting() + 1) +
         static_cast<std::size_t>(reader) * words(header().ranks);
}

std::byte* Rendezvous::mailbox(int rank) const {
  return reinterpret_cast<std::byte*>(senders(header().ranks)) +
         static_cast<std::size_t>(rank) * mailbox_bytes;
}

void Rendezvous::announce_mail(int from, int reader) const {
  senders(reader)[from / 64].fetch_or(std::uint64_t{1} << from % 64, std::memory_order_relaxed);
}

std::vector<int> Rendezvous::take_senders(int reader) const {
  std::vector<int> all;
  for (std::size_t word = 0; word < words(header().ranks); ++word) {
    std::atomic<std::uint64_t>& marks = senders(reader)[word];
    std::uint64_t bits = marks.load(std::memory_order_relaxed);
    if (bits == 0) continue;
    marks.store(0, std::memory_order_relaxed);
    for (; bits != 0; bits &= bits - 1) all.push_back(static_cast<int>(word) * 64 + std::countr_zero(bits));
  }
  return all;
}

namespace {

void raise_to(std::atomic<std::uint64_t>& largest, std::uint64_t to) {
  std::uint64_t now = largest.load(std::memory_order_relaxed);
  while (now < to && !largest.compare_exchange_weak(now, to, std::memory_order_relaxed)) continue;
}

}  // namespace

void Tally::clear() {
  for (std::atomic<std::uint64_t>* number : {&longest, &call, &not_call})
    number->store(0, std::memory_order_relaxed);
  for (std::atomic<std::uint64_t>& vote : votes) vote.store(0, std::memory_order_relaxed);
}

void Tally::add(std::uint64_t bytes, const control::Ballot& ballot) {
  raise_to(longest, bytes);
  raise_to(call, ballot.call);
  raise_to(not_call, ballot.not_call);
  for (std::size_t i = 0; i < ballot.votes.size(); ++i) raise_to(votes[i], ballot.votes[i]);
}

control::Ballot Tally::ballot() const {
  control::Ballot all{call.load(std::memory_order_relaxed), not_call.load(std::memory_order_relaxed), {}};
  for (std::size_t i = 0; i < all.votes.size(); ++i) all.votes[i] = votes[i].load(std::memory_order_relaxed);
  return all;
}

std::byte* Rendezvous::letter(int rank) const {
  Seat& s = seat(rank);
  return s.total <= small_blob ? s.small : mailbox(rank);
}

std::byte* Rendezvous::letter_among(int rank) const {
  Seat& s = seat(rank);
  return s.total_among <= small_blob ? s.small_among : mailbox(rank);
}

void Rendezvous::arrive(int rank, std::uint32_t phase) const {
  seat(rank).phase.store(phase, std::memory_order_release);
  Meeting& m = meeting();
  // Acquire and release: the last to arrive passes on what all others have written before they did. Nobody
  // arrives at a phase before all have reached the previous one, so the number wraps in step.
  const std::uint32_t arrived = m.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1;
  if (arrived != static_cast<std::uint32_t>(header().ranks) * phase) return;
  // Sequentially consistent, as in `sleep`: either this rank sees the sleeper or the sleeper the new phase.
  m.phase.store(phase, std::memory_order_seq_cst);
  if (m.sleepers.load(std::memory_order_seq_cst) > 0)
    syscall(SYS_futex, &m.phase, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Rendezvous::have_all_reached(std::uint32_t phase) const {
  return base::reached(meeting().phase.load(std::memory_order_acquire), phase);
}

void Rendezvous::sleep(std::uint32_t until, std::chrono::nanoseconds at_most) const {
  Meeting& m = meeting();
  const timespec limit{at_most.count() / 1'000'000'000, at_most.count() % 1'000'000'000};
  m.sleepers.fetch_add(1, std::memory_order_seq_cst);
  if (const std::uint32_t now = m.phase.load(std::memory_order_seq_cst); !base::reached(now, until))
    syscall(SYS_futex, &m.phase, FUTEX_WAIT, now, &limit, nullptr, 0);
  m.sleepers.fetch_sub(1, std::memory_order_relaxed);
}

void Rendezvous::format(int ranks) {
  Header& h = header();
  h.abi = abi_version;
  h.ranks = ranks;
  h.creator = getpid();
  h.pid_namespace = own_pid_namespace();
  std::strncpy(h.version, library_version(), sizeof h.version - 1);
  h.magic.store(Header::magic_value, std::memory_order_release);
}

bool Rendezvous::has_died(int rank, Look look) const {
  const Seat& s = seat(rank);
  // Acquire: pairs with the release in `reopen`, so that `began` is not that of the process that sat here
  // before.
  const std::int32_t pid = s.pid.load(std::memory_order_acquire);
  return pid > 0 && process_ended(pid, look == Look::quick ? 0 : s.began.load(std::memory_order_relaxed));
}

bool Rendezvous::has_seat(int rank) const {
  const Header& h = header();
  return h.abi == abi_version && rank < h.ranks && h.pid_namespace == own_pid_namespace();
}

bool Rendezvous::is_vacated(int rank) const {
  const Seat& s = seat(rank);
  // Acquire: pairs with the release in ShmControl::leave, after which the rank no longer touches the
  // rendezvous, and with that of `reopen`, so that a rank that sees the seat emptied does not take the
  // process that left it for its owner.
  const Presence presence = s.presence.load(std::memory_order_acquire);
  // Acquire: pairs with the release in `reopen`, so that a rank that finds the seat free reads the new
  // header.
  const std::int32_t pid = s.pid.load(std::memory_order_acquire);
  if (pid <= 0) return pid == Seat::being_reopened;
  if (presence == Presence::left || presence == Presence::failed) return true;
  return header().pid_namespace == own_pid_namespace() && has_died(rank, Look::thorough);
}

bool Rendezvous::clear(int rank) const {
  std::int32_t nobody = 0;
  return seat(rank).pid.compare_exchange_strong(nobody, Seat::being_reopened, std::memory_order_relaxed) ||
         is_vacated(rank);
}

void Rendezvous::reopen() const {
  Header& h = header();
  for (int rank = 0; rank < h.ranks; ++rank) {
    Seat& s = seat(rank);
    s.pid.store(Seat::being_reopened, std::memory_order_relaxed);
    s.presence.store(Presence::absent, std::memory_order_release);
    s.phase.store(0, std::memory_order_relaxed);
    s.began.store(0, std::memory_order_relaxed);
    s.piece.store(0, std::memory_order_relaxed);
    s.unread.store(0, std::memory_order_relaxed);
    s.reason[0] = '\0';
    take_senders(rank);
  }
  for (Tally& tally : meeting().tallies) tally.clear();
  h.creator = getpid();
  h.pid_namespace = own_pid_namespace();
  h.arrived.store(0, std::memory_order_relaxed);
  h.refusal.store(Header::none, std::memory_order_relaxed);
  h.over.store(0, std::memory_order_relaxed);
  for (std::atomic<std::uint32_t>* count : {&meeting().arrivals, &meeting().phase, &meeting().sleepers})
    count->store(0, std::memory_order_relaxed);
  // Release: pairs with the acquire in `is_vacated`, after which a rank reads the header (find_rendezvous),
  // and with that of the rank that takes the seat. This comes last: no rank may sit down, and then look at
  // other seats, before the whole rendezvous is as new.
  for (int rank = 0; rank < h.ranks; ++rank) seat(rank).pid.store(0, std::memory_order_release);
}

void Rendezvous::refuse(std::string_view reason, Header::Refusal how) const {
  Header& h = header();
  std::uint32_t expected = Header::none;
  if (!h.refusal.compare_exchange_strong(expected, Header::being_written, std::memory_order_relaxed)) return;
  const std::size_t length = reason.copy(h.reason, sizeof h.reason - 1);
  h.reason[length] = '\0';  // the reason of an earlier world may have been longer
  h.refusal.store(how, std::memory_order_release);
}

std::optional<std::string> Rendezvous::refusal() const {
  const Header& h = header();
  if (h.refusal.load(std::memory_order_acquire) < Header::written) return std::nullopt;
  return std::string(h.reason, strnlen(h.reason, sizeof h.reason));
}

bool Rendezvous::is_apart() const {
  return header().refusal.load(std::memory_order_acquire) == Header::apart;
}

void fail_taken(int rank, std::int32_t owner, std::string_view of, std::string_view call) {
  if (owner == getpid()) {
    base::fail(Errc::invalid_argument, {.rank = rank},
               "rank {} of this {} is already taken by this very process; the next {} works once the World "
               "before it and all its windows and chains are gone",
               rank, of, call);
  }
  base::fail(
      Errc::incompatible, {.rank = rank},
      "rank {} of this {} is already taken by process {}; a {} serves one program at a time, each rank of "
      "it started once",
      rank, of, owner, of);
}

}  // namespace tca::shm
