#include "control/shm/shm_control.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/counter.hpp"
#include "base/fail.hpp"
#include "base/system/cgroup.hpp"
#include "base/text/ranks.hpp"
#include "base/waited.hpp"
#include "control/shm/process.hpp"
#include "control/shm/seat_gather.hpp"
#include "tca/version.hpp"

namespace tca::shm {

namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t start_up = 1;      // the phase of the first all_gather that World::init waits for
constexpr int many = 512;                  // ranks whose set-up may take long just because they are many
constexpr auto rank_0_leaves_within = 2s;  // when the world is refused

// Returns how thorough the next look at a process is. Asking when it started costs twice as much as asking
// whether it is there, and its PID is not reused soon. A rank that looks again and again while it waits
// therefore asks only during 20 ms of each second.
Rendezvous::Look next_look() {
  const bool asks = std::chrono::steady_clock::now().time_since_epoch() % 1s < 20ms;
  return asks ? Rendezvous::Look::thorough : Rendezvous::Look::quick;
}

}  // namespace

ShmControl::ShmControl(Mapping memory, int rank, int size, Expectation expectation)
    : memory_(std::move(memory)),
      rendezvous_(memory_.data()),
      rank_(rank),
      size_(size),
      expectation_(std::move(expectation)),
      ranks_per_core_(size) {}

ShmControl::ShmControl(Mapping memory, int rank, int size, std::chrono::milliseconds limit,
                       Expectation expectation)
    : ShmControl(std::move(memory), rank, size, std::move(expectation)) {
  time_limit = limit;
  // A rank takes its seat before anything is refused. From this seat its next program will tell that this
  // world is over for it; a rank without a seat can tell only from the seat of rank 0.
  if (rendezvous_.has_seat(rank_)) take_seat();
  check_rendezvous();
  find_cores();
}

ShmControl::~ShmControl() { leave(std::uncaught_exceptions() > 0 ? std::optional(trouble) : std::nullopt); }

void ShmControl::check_rendezvous() {
  const Header& header = rendezvous_.header();
  if (header.abi == abi_version && header.ranks != size_) {
    refuse(
        fmt::format("rank {} says that the world has {} rank{}, rank 0 {}; give every rank the same number",
                    rank_, size_, size_ == 1 ? "" : "s", header.ranks),
        Header::written);
  }
  if (header.abi != abi_version) {
    refuse(
        fmt::format("rank {} runs OpenTCA {} (interface {:#x}) in a world of {}, but rank 0 set it up with "
                    "OpenTCA {} (interface {:#x}) for {}; start every rank from the same build",
                    rank_, library_version(), abi_version, size_, header.version, header.abi, header.ranks),
        Header::written);
  }
  if (header.pid_namespace != own_pid_namespace()) {
    refuse(
        fmt::format("rank {} is in another PID namespace than who set the world up; ranks of one host must "
                    "run in one PID namespace (one container), or choose shm+mpi or mpi",
                    rank_),
        Header::apart);
  }
  throw_if_refused();
}

// Throws because the rendezvous does not fit this rank, even while another rank is still writing why. A rank
// without a seat first waits for rank 0 to leave: nothing else tells this rank's next program that the
// world it finds is the refused one.
void ShmControl::refuse(const std::string& reason, Header::Refusal how) {
  rendezvous_.refuse(reason, how);
  const std::string first = rendezvous_.refusal().value_or(reason);
  // Acquire: pairs with the release in `leave`.
  const auto is_over = [&] { return rendezvous_.header().over.load(std::memory_order_acquire) != 0; };
  if (!seated_) base::await(is_over, rank_0_leaves_within);
  throw_refused(first);
}

void ShmControl::throw_refused(const std::string& reason) const {
  if (rendezvous_.is_apart()) throw Apart(reason);
  throw Error(Errc::incompatible, reason);
}

void ShmControl::throw_if_refused() {
  const std::optional<std::string> reason = rendezvous_.refusal();
  if (reason) throw_refused(*reason);
}

void ShmControl::take_seat() {
  Seat& seat = rendezvous_.seat(rank_);
  const auto is_taken = [&] {
    std::int32_t owner = 0;
    // Acquire: pairs with the release in Rendezvous::reopen, so that nothing of an earlier world is seen in
    // the seat.
    if (seat.pid.compare_exchange_strong(owner, getpid(), std::memory_order_acquire)) return true;
    // The world that this rank is late for may be over, and rank 0 about to reopen the rendezvous.
    if (owner != Seat::being_reopened) fail_taken(rank_, owner, expectation_.by, expectation_.call);
    return false;
  };
  if (const base::Awaited taken = base::await(is_taken, time_limit); !taken) {
    base::fail(Errc::timed_out, {.rank = rank_, .missing = {0}},
               "rank {} waited {:.1f} s in start-up (World::init) for rank 0 to set up the next world, which "
               "waits for others to leave the world before; are their World, windows and chains gone?",
               rank_, taken.seconds());
  }
  seated_ = true;
  seat.began.store(time_of_start(getpid()), std::memory_order_relaxed);
  seat.presence.store(Presence::here, std::memory_order_release);
}

// Ranks are crowded if the cores that they may run on, taken together, are fewer than the ranks, or if
// their cgroup gives them less time than that many cores have.
void ShmControl::find_cores() {
  struct Mine {
    cpu_set_t mask;
    double allowed;
  } mine;
  CPU_ZERO(&mine.mask);
  sched_getaffinity(0, sizeof mine.mask, &mine.mask);
  mine.allowed = base::processors_allowed();
  cpu_set_t all;
  CPU_ZERO(&all);
  double allowed = mine.allowed;
  for (const Mine& theirs : all_gather_value(mine, fmt::format("start-up ({})", expectation_.call))) {
    CPU_OR(&all, &all, &theirs.mask);
    allowed = std::min(allowed, theirs.allowed);
  }
  usable_cores = std::max(1, static_cast<int>(std::min<double>(CPU_COUNT(&all), allowed)));
  cores_ = usable_cores < size_ ? base::Cores::crowded : base::Cores::enough;
  ranks_per_core_ = size_ / usable_cores;
}

// A rank that has left may find the next world on the rendezvous.
void ShmControl::check_call(std::string_view what) {
  if (!seated_) fail_over(what);
}

std::vector<base::Blob> ShmControl::gather(const base::Blob& mine, std::string_view what) {
  std::vector<base::Blob> all;
  for (control::Letter& theirs : lay_out_and_read(mine, {}, true, control::Ballot::in(what), what).from)
    all.push_back(std::move(theirs.bytes));
  return all;
}

control::Control::Delivered ShmControl::deliver(const base::Blob& mine, std::span<const int> readers,
                                                const control::Ballot& ballot, std::string_view what) {
  return lay_out_and_read(mine, readers, false, ballot, what);
}

// A blob larger than a mailbox travels in several rounds of two phases: filled (odd), read (even). The wait
// for "read" is put off until the mailbox is needed again.
control::Control::Delivered ShmControl::lay_out_and_read(const base::Blob& mine, std::span<const int> readers,
                                                         bool reads_all, const control::Ballot& ballot,
                                                         std::string_view what) {
  Delivered delivered;
  std::size_t longest = mine.size();
  for (std::size_t at = 0; at == 0 || at < longest; at += mailbox_bytes) {
    await_phase(phase_, what);
    Seat& seat = rendezvous_.seat(rank_);
    seat.total = mine.size();
    if (at < mine.size())
      std::memcpy(rendezvous_.letter(rank_), mine.data() + at, std::min(mailbox_bytes, mine.size() - at));
    ++phase_;
    if (rank_ == 0) rendezvous_.tally_before(phase_).clear();
    rendezvous_.tally(phase_).add(mine.size(), ballot);
    if (at == 0)
      for (const int reader : readers) rendezvous_.announce_mail(rank_, reader);
    rendezvous_.arrive(rank_, phase_);
    await_phase(phase_, what);
    if (at == 0) {
      longest = rendezvous_.tally(phase_).longest.load(std::memory_order_relaxed);
      delivered.ballot = rendezvous_.tally(phase_).ballot();
      for (const int rank : rendezvous_.take_senders(rank_)) delivered.from.push_back({rank});
      if (reads_all || !delivered.ballot.is_of_one_call()) delivered.from = everyone();
    }
    for (control::Letter& letter : delivered.from) {
      const std::size_t total = rendezvous_.seat(letter.rank).total;
      const std::size_t chunk = at < total ? std::min(mailbox_bytes, total - at) : 0;
      const std::byte* const from = rendezvous_.letter(letter.rank);
      letter.bytes.insert(letter.bytes.end(), from, from + chunk);
    }
    rendezvous_.arrive(rank_, ++phase_);
  }
  return delivered;
}

std::vector<control::Letter> ShmControl::everyone() const {
  std::vector<control::Letter> all(static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank) all[static_cast<std::size_t>(rank)].rank = rank;
  return all;
}

std::unique_ptr<control::AllGather> ShmControl::begin_among(const control::Subset& subset,
                                                            const base::Blob& mine) {
  check_call("a call of a group");
  return std::make_unique<SeatGather>(rendezvous_, rank_, phase_, subset, mine);
}

void ShmControl::await_phase(std::uint32_t phase, std::string_view what) {
  constexpr auto yield_for = 2ms;
  const std::chrono::nanoseconds look_every = std::clamp<std::chrono::nanoseconds>(size_ * 250us, 2ms, 1s);
  base::Poll poll(cores_);
  base::Waited asleep(1s);
  std::chrono::nanoseconds next_look{0};
  while (!rendezvous_.have_all_reached(phase)) {
    bool waited_long = true;
    if (poll.waited() < yield_for) {
      waited_long = poll.pause();
    } else {
      asleep.look();
      rendezvous_.sleep(phase, nap_after(asleep.so_far()));
      asleep.look();
    }
    if (poll.has_yielded()) while_waiting();
    if (!waited_long) continue;
    const std::chrono::nanoseconds waited = poll.waited() + asleep.so_far();
    const bool is_over = waited >= time_limit;
    if (!is_over && waited < next_look) continue;
    look_around(phase, what);
    next_look = waited + look_every;
    if (is_over && !rendezvous_.have_all_reached(phase)) give_up(phase, what, waited);
  }
}

// A sleeping rank is woken when all have arrived. Until then it wakes now and then to drive its chains and
// to check whether the others are alive. Thousands of ranks that often wake on few cores would keep each
// other from anything else.
std::chrono::nanoseconds ShmControl::nap_after(std::chrono::nanoseconds waited) const {
  return std::clamp<std::chrono::nanoseconds>(waited / 16, 50us, 2ms) * std::max(1, ranks_per_core_ / 16);
}

// Throws if one of the ranks that this one is waiting for will never arrive.
void ShmControl::look_around(std::uint32_t phase, std::string_view what) {
  for (int rank = 0; rank < size_; ++rank) {
    if (base::reached(rendezvous_.seat(rank).phase.load(std::memory_order_acquire), phase)) continue;
    fail_if_lost(rank, phase, lost(rank), what);
    break;
  }
  look_for_dead(phase + phase % 2, what);
}

// Throws if a rank has died. One that died with its mailbox filled keeps nobody waiting yet, but will never
// read the others' mailboxes. Ranks that have failed are not considered: they may only have waited too long
// for the same rank, about which this rank's own time limit says more.
void ShmControl::look_for_dead(std::uint32_t phase, std::string_view what) {
  for (int rank = 0; rank < size_; ++rank) {
    if (base::reached(rendezvous_.seat(rank).phase.load(std::memory_order_acquire), phase)) continue;
    // Asked in this order, as in `lost`.
    const bool has_died = rendezvous_.has_died(rank, next_look());
    if (has_died && rendezvous_.seat(rank).presence.load(std::memory_order_acquire) == Presence::here)
      fail_if_lost(rank, phase, died(rank), what);
  }
}

// Throws if a rank has not reached `phase` and, for the reason given, never will.
void ShmControl::fail_if_lost(int rank, std::uint32_t phase, const std::optional<control::Loss>& loss,
                              std::string_view what) {
  // A refusal is checked before the loss, because a rank that refuses the world leaves it at once.
  if (phase == start_up) throw_if_refused();
  // The rank may have reached the phase before it left.
  if (!loss || base::reached(rendezvous_.seat(rank).phase.load(std::memory_order_acquire), phase)) return;
  fail_lost(rank, *loss, fmt::format("waiting for it in {}", what));
}

void ShmControl::give_up(std::uint32_t phase, std::string_view what, std::chrono::nanoseconds waited) {
  std::string what_to_do = phase == start_up ? fmt::format("; was it started, and does it call {}?{}",
                                                           expectation_.call, expectation_.why)
                                             : "; did it make the same call, in the same order?";
  if (size_ >= many && cores_ == base::Cores::crowded)
    what_to_do += fmt::format(
        " What {} ranks set up grows with the square of their number, which takes its time on few cores; run "
        "fewer, or give them longer (OPENTCA_TIME_LIMIT)",
        size_);
  fail_late(waited, what, {.missing = not_at(phase)}, what_to_do);
}

std::vector<int> ShmControl::not_at(std::uint32_t phase) const {
  std::vector<int> ranks;
  for (int r = 0; r < size_; ++r) {
    if (!base::reached(rendezvous_.seat(r).phase.load(std::memory_order_acquire), phase)) ranks.push_back(r);
  }
  return ranks;
}

std::optional<control::Loss> ShmControl::lost(int rank) {
  const Seat& seat = rendezvous_.seat(rank);
  // This is checked before the presence is read. A rank that fails says so before its process ends; in the
  // opposite order it would seem to have died if it did both in between.
  const bool has_died = rendezvous_.has_died(rank, next_look());
  // Acquire: pairs with the release in `leave`, so that the reason is readable.
  const Presence presence = seat.presence.load(std::memory_order_acquire);
  if (presence == Presence::failed) {
    const std::optional<int> origin = seat.origin < 0 ? std::nullopt : std::optional<int>(seat.origin);
    return control::Loss{control::Loss::How::failed, {seat.reason, origin}};
  }
  if (presence == Presence::left) return control::Loss{};
  if (!has_died) return std::nullopt;
  return died(rank);
}

control::Loss ShmControl::died(int rank) const {
  return {control::Loss::How::died,
          {fmt::format("process {} has ended", rendezvous_.seat(rank).pid.load(std::memory_order_relaxed))}};
}

bool ShmControl::is_gone(int rank) const {
  const Presence presence = rendezvous_.seat(rank).presence.load(std::memory_order_acquire);
  return presence == Presence::failed || presence == Presence::left ||
         rendezvous_.has_died(rank, Rendezvous::Look::thorough);
}

void ShmControl::leave(const std::optional<control::Trouble>& trouble) {
  if (!seated_) return;
  Seat& seat = rendezvous_.seat(rank_);
  // A child forked from this rank does not speak for it.
  if (seat.pid.load(std::memory_order_relaxed) != getpid()) return;
  seated_ = false;
  if (trouble) {
    const std::size_t length = trouble->reason.copy(seat.reason, sizeof seat.reason - 1);
    seat.reason[length] = '\0';
    seat.origin = trouble->origin.value_or(-1);
  }
  seat.presence.store(trouble ? Presence::failed : Presence::left, std::memory_order_release);
  if (rank_ == 0) rendezvous_.header().over.store(1, std::memory_order_release);
}

}  // namespace tca::shm
