// A FailureDetector knows which ranks are still there, which MPI itself does not tell.
//
// Each rank keeps TCP connections to the ranks 1, 2, 4, ... before and after it, and a thread that listens to
// them and never calls MPI. A rank that leaves says so, and why, and the system closes the connections of a
// rank that dies. Each rank passes on what it learns, so everybody knows within moments. A host that falls
// silent closes nothing: it may come back, and only time limits end the wait for it. Once a rank has died or
// failed, the thread also ends this process if it stays inside an MPI call for longer than the time limit.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/system/worker.hpp"
#include "base/waited.hpp"
#include "control/control.hpp"

namespace tca::mpi {

enum class Presence : std::int32_t { here, left, failed, died };

// What is known about a rank that has gone.
struct Gone {
  Presence how;
  control::Trouble trouble;  // only for a rank that failed
  std::chrono::steady_clock::time_point since;
};

class FailureDetector {
 public:
  // If the system has no sockets left, nobody is watched, and only time limits help.
  FailureDetector(int rank, int size, std::chrono::milliseconds time_limit);
  FailureDetector(const FailureDetector&) = delete;
  ~FailureDetector();

  // Returns the data that lets others find this rank.
  std::string card() const;

  // Begins to watch. `cards` has every rank's card, by rank.
  void begin(const std::vector<std::string>& cards);

  // Returns what is known about a rank that has gone, or nothing. Any thread may call this.
  std::optional<Gone> gone(int rank) const;

  // Tells the others that this rank is leaving.
  void leave(Presence how, const control::Trouble& trouble);

 private:
  static constexpr std::chrono::milliseconds look_again{200}, most_between_looks{400};

  struct Notice;
  struct Connection {
    int fd = -1;
    int rank = -1;  // not known before its first notice
    std::vector<char> heard;
    base::Waited silent{most_between_looks};
  };

  void run(const std::stop_token& stop);
  void look_for_stuck();
  void connect_to(int rank);
  bool accept_one();
  void add(Connection connection);
  void listen_to(std::size_t connection);
  void take(Connection& from, const Notice& notice);
  void drop_strangers();
  void lose(Connection& connection);
  bool note(const Notice& notice);
  void tell(const Notice& notice);
  Notice notice_of(int rank, const Gone& gone) const;

  struct Card {
    std::vector<std::uint32_t> addresses;
    std::uint16_t port = 0;
    std::uint64_t secret = 0;
  };

  int rank_, size_;
  std::chrono::milliseconds time_limit_;
  std::uint32_t calls_ = 0;                 // InMpi::count when last seen...
  base::Waited stuck_{most_between_looks};  // ... and how long it has stayed at this value inside MPI
  int listener_ = -1, wake_ = -1;
  std::uint64_t secret_ = 0;  // this rank's part of the world's, a sum that only those with all cards know
  std::vector<Card> cards_;
  std::uint64_t world_secret_ = 0;
  base::Worker thread_;
  mutable std::mutex mutex_;  // guards the members below
  std::vector<std::optional<Gone>> gone_;
  std::vector<Connection> connections_;
  std::optional<Gone> farewell_;  // this rank's own
};

}  // namespace tca::mpi
