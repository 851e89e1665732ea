// The memory in which the ranks of a host meet: who is here, and a mailbox each for set-up data.
//
// Layout of the segment: Header, then a Seat for each rank, then a mailbox for each rank. Every field of a
// seat is written by its rank alone, until whoever opens the board for the next world clears them all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tca::shm {

inline constexpr int max_ranks = 4096;

// The same in every version, so that ranks of different builds can tell each other so.
struct Header {
  static constexpr std::uint64_t magic_value = 0x3141'5443'416e'6550;  // no other program's segment begins so

  std::atomic<std::uint64_t> magic;  // stored last, with release: the rest of the header is then valid
  std::uint32_t abi;
  std::int32_t ranks;
  std::int32_t creator;         // process
  std::uint32_t pid_namespace;  // in which that number means it
  char version[20];
  std::atomic<std::int32_t> arrived;  // ranks that have seen this header, rank 0 not among them
  // Why the world cannot come up: `reason` is valid once this is `written`; release, pairs with the acquire
  // of whoever is still waiting for start-up to end.
  enum Refusal : std::uint32_t { none, being_written, written };
  std::atomic<std::uint32_t> refusal;
  char reason[200];
  // Not 0 once rank 0 has left the world: by this ranks without a seat tell that it is over. Release; pairs with their acquire.
  std::atomic<std::uint32_t> over;
};
static_assert(sizeof(Header) == 256);

enum class Presence : std::uint32_t { absent, here, left, failed };

struct alignas(64) Seat {
  static constexpr std::int32_t being_reopened = -1;  // as a pid: nobody's, and not to be taken yet

  std::atomic<std::int32_t> pid;  // 0: free
  std::atomic<Presence> presence;
  // Counts phases of all_gather: odd when this rank's mailbox is filled, even when it has read the others'.
  // Release; pairs with the acquire of whoever waits for the phase.
  std::atomic<std::uint32_t> phase;
  std::atomic<std::uint64_t> began;  // when the process did, see `time_of_start`; 0: not known
  std::uint64_t total;               // bytes of this rank's blob in the current all_gather
  char reason[216];                  // why it failed; valid once presence is `failed`
};

inline constexpr std::size_t mailbox_bytes = 16 * 1024;

// Changes whenever anything that two ranks share in memory changes, so that ranks of different builds refuse
// each other instead of misreading each other.
inline constexpr std::uint32_t abi_version =
    7u << 16 | static_cast<std::uint32_t>(sizeof(Header) + sizeof(Seat) + sizeof(std::size_t));

class Board {
 public:
  explicit Board(std::byte* memory) : memory_(memory) {}

  static std::size_t bytes(int ranks);

  Header& header() const { return *reinterpret_cast<Header*>(memory_); }
  Seat& seat(int rank) const;
  std::byte* mailbox(int rank) const;

  // Makes zeroed memory a board. One rank does this, before or while the others wait for the magic.
  void format(int ranks);

  // Whether the process of the rank that sits here has ended. A quick look takes another one with its number for it.
  enum class Look { quick, thorough };
  bool has_died(int rank, Look look) const;

  // Whether a rank has a seat here: not on another build's board, which may have its seats elsewhere, nor where its process's number
  // would be nobody's, as if it had died.
  bool has_seat(int rank) const;

  // Whether the rank that sat here has left its world or died, so that it can only come back in the next one. Who asks from another
  // PID namespace is told of no death.
  bool is_vacated(int rank) const;

  // The same for rank 0, whose world is over: a seat that nobody has taken in it is none that anybody takes any more.
  bool clear(int rank) const;

  // Empties all seats for the next world of the launch; rank 0 does this once every seat is vacated.
  void reopen() const;

  // Tells every rank that is still starting up why it cannot; the first one to say so wins.
  void refuse(std::string_view reason) const;
  std::optional<std::string> refusal() const;

 private:
  std::byte* memory_;
};

// Throws that `owner` is in a world as this rank of the launch: Error{invalid_argument} where it is this very process,
// otherwise Error{incompatible}.
[[noreturn]] void fail_taken(int rank, std::int32_t owner);

}  // namespace tca::shm
