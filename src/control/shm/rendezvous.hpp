// A Rendezvous is the memory in which the ranks of a host meet: for each rank a seat, which says whether
// the rank is here, and a mailbox for set-up data.
//
// Layout of the segment: Header, then a Seat for each rank, then the Meeting, then for each rank a bit for
// every rank that has mail for it, then a mailbox for each rank. Every field of a seat is written by its
// rank alone, until rank 0 clears them all when it opens the rendezvous for the next world.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "control/control.hpp"

namespace tca::shm {

inline constexpr int max_ranks = 4096;

// The header is the same in every version, so that ranks of different builds can report that they do not
// match.
struct Header {
  static constexpr std::uint64_t magic_value = 0x3141'5443'416e'6550;  // no other program's segment begins so

  std::atomic<std::uint64_t> magic;  // stored last, with release: the rest of the header is then valid
  std::uint32_t abi;
  std::int32_t ranks;
  std::int32_t creator;         // a PID
  std::uint32_t pid_namespace;  // of the creator and of all PIDs here
  char version[20];
  std::atomic<std::int32_t> arrived;  // number of ranks that have seen this header, not counting rank 0
  // `reason`, which says why the world cannot come up, is valid once this is `written` or `apart`: the
  // ranks cannot share memory, but could still be a world over MPI. Release: pairs with the acquire of the
  // ranks that still wait for start-up to end.
  enum Refusal : std::uint32_t { none, being_written, written, apart };
  std::atomic<std::uint32_t> refusal;
  char reason[200];
  // Not 0 once rank 0 has left the world. Ranks without a seat use it to tell that the world is over.
  // Release: pairs with their acquire.
  std::atomic<std::uint32_t> over;
};
static_assert(sizeof(Header) == 256);

enum class Presence : std::uint32_t { absent, here, left, failed };

inline constexpr std::size_t small_blob = 192;

struct alignas(64) Seat {
  static constexpr std::int32_t being_reopened = -1;  // a `pid`: the seat is empty, but cannot be taken yet

  std::atomic<std::int32_t> pid;  // 0: free
  std::atomic<Presence> presence;
  // Counts phases of all_gather: odd when this rank's mailbox is filled, even when it has read the others'.
  // Release: pairs with the acquire of the ranks that wait for the phase.
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint64_t> began;  // when the process started, see `time_of_start`; 0 if not known
  std::uint64_t total;               // bytes of this rank's blob in the current all_gather
  // For an exchange among some of the ranks (seat_gather.hpp): which piece is in this rank's mailbox, and
  // how many of the others have not read it. Release, both: a piece is whole once its name is seen, and may
  // be overwritten once nobody has to read it.
  std::atomic<std::uint64_t> piece;
  std::atomic<std::uint32_t> unread;
  std::byte small[small_blob];  // the blob, if it fits: the seats of thousands of ranks stay in the caches
  // The same two for such an exchange. A small blob is not placed in a mailbox that the world's last
  // all-gather may still be read from, so it waits for nobody outside.
  std::uint64_t total_among;
  std::byte small_among[small_blob];
  // Why the rank failed, and the rank where the trouble began, or -1 for itself; valid once presence is
  // `failed`.
  std::int32_t origin;
  char reason[212];
};

// What all ranks together contribute to one round of a meeting: the largest of each number. It is stored
// before a rank arrives at the odd phase and read before it arrives at the even one, which is all the
// ordering that it needs.
struct alignas(64) Tally {
  std::atomic<std::uint64_t> longest;  // blob, in bytes
  std::atomic<std::uint64_t> call, not_call, votes[std::tuple_size_v<control::Votes>];

  void clear();
  void add(std::uint64_t bytes, const control::Ballot& ballot);
  control::Ballot ballot() const;
};

// How far all ranks have come together, so that a waiting rank does not look at every seat.
struct alignas(64) Meeting {
  std::atomic<std::uint32_t> arrivals;  // of all ranks in all phases so far
  // The last phase that every rank has reached. Release: pairs with the acquire of the ranks that wait for
  // it.
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint32_t> sleepers;  // ranks that sleep until the phase changes
  // Rounds alternate between these. Rank 0 clears the previous round's in this one, before it arrives.
  Tally tallies[2];
};

inline constexpr std::size_t mailbox_bytes = 16384;

// Changes whenever anything changes that two ranks share in memory, so that ranks of different builds
// refuse each other instead of misreading each other.
inline constexpr std::uint32_t abi_version =
    13u << 16 | static_cast<std::uint32_t>(sizeof(Header) + sizeof(Seat) + sizeof(std::size_t));

class Rendezvous {
 public:
  explicit Rendezvous(std::byte* memory) : memory_(memory) {}

  static std::size_t bytes(int ranks);

  Header& header() const { return *reinterpret_cast<Header*>(memory_); }
  Seat& seat(int rank) const;
  std::byte* mailbox(int rank) const;
  // Returns where a rank's blob of `seat(rank).total` bytes is, or its next piece.
  std::byte* letter(int rank) const;
  // The same for its blob of `total_among` bytes in an exchange among some of the ranks.
  std::byte* letter_among(int rank) const;
  Meeting& meeting() const;
  // Return the tally of the round that a phase belongs to, and that of the previous round.
  Tally& tally(std::uint32_t phase) const { return meeting().tallies[(phase - 1) / 2 % 2]; }
  Tally& tally_before(std::uint32_t phase) const { return meeting().tallies[((phase - 1) / 2 + 1) % 2]; }

  // Notes that a rank has mail for a reader, before `from` arrives at an odd phase. `take_senders`, called
  // by the reader before it arrives at the next even one, returns those that have some, and forgets them.
  void announce_mail(int from, int reader) const;
  std::vector<int> take_senders(int reader) const;

  // Called by a rank that has reached `phase`.
  void arrive(int rank, std::uint32_t phase) const;
  bool have_all_reached(std::uint32_t phase) const;
  // Returns when the phase that all have reached has changed, or after `at_most`.
  void sleep(std::uint32_t until, std::chrono::nanoseconds at_most) const;

  // Turns zeroed memory into a rendezvous. One rank does this, before or while the others wait for the magic.
  void format(int ranks);

  // Returns whether the process in the seat has ended. A quick look mistakes a later process with the same
  // PID for it.
  enum class Look { quick, thorough };
  bool has_died(int rank, Look look) const;

  // Returns whether a rank has a seat on this rendezvous. It has none on the rendezvous of another build,
  // whose seats may be elsewhere, nor in another PID namespace, where its PID would look like that of a
  // dead process.
  bool has_seat(int rank) const;

  // Returns whether the rank in the seat has left its world or died, so that it can only come back in the
  // next one. A caller in another PID namespace does not see deaths.
  bool is_vacated(int rank) const;

  // Like `is_vacated`, but for rank 0 when the world is over: a seat that nobody has taken in it counts as
  // vacated too, and can no longer be taken.
  bool clear(int rank) const;

  // Empties all seats for the next world of the launch; rank 0 does this once every seat is vacated.
  void reopen() const;

  // Tells every rank that is still starting up why the world cannot come up, as `written` or `apart`. The
  // first reason given is kept.
  void refuse(std::string_view reason, Header::Refusal how) const;
  std::optional<std::string> refusal() const;
  bool is_apart() const;

 private:
  static std::size_t words(int ranks) { return (static_cast<std::size_t>(ranks) + 63) / 64; }
  std::atomic<std::uint64_t>* senders(int reader) const;

  std::byte* memory_;
};

// Throws because the process `owner` is already in a world as this rank of the launch, or of the key:
// Error{invalid_argument} if it is this very process, otherwise Error{incompatible}.
[[noreturn]] void fail_taken(int rank, std::int32_t owner, std::string_view of = "launch",
                             std::string_view call = "World::init");

}  // namespace tca::shm
