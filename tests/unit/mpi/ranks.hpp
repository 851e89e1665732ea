// Ranks with an engine each, as threads of the test or as processes that it forks.
#pragma once

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <functional>
#include <new>
#include <span>
#include <thread>
#include <vector>

#include "mpi/engine/engine.hpp"

namespace tca::test {

// Where ranks meet: memory that they share before they have engines.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(static_cast<unsigned>(ranks)) {}

  void barrier() {
    const unsigned round = round_.load();
    if (arrived_.fetch_add(1) + 1 == ranks_) {
      arrived_ = 0;
      round_ = round + 1;
      return;
    }
    while (round_.load() == round) std::this_thread::yield();
  }
  void gather(int rank, std::span<const std::byte> mine, std::span<std::byte> all) {
    std::memcpy(bytes_ + static_cast<std::size_t>(rank) * mine.size(), mine.data(), mine.size());
    barrier();
    std::memcpy(all.data(), bytes_, all.size());
    barrier();
  }

 private:
  unsigned ranks_;
  std::atomic<unsigned> arrived_{0}, round_{0};
  std::byte bytes_[4096];
};

struct Rank {
  int number;
  p2p::Engine& engine;
  Meeting& meeting;
};
using Program = std::function<void(const Rank&)>;

// Returns whether the ranks reached each other.
inline bool run_rank(int rank, int ranks, Meeting& meeting, const p2p::Options& options,
                     const Program& program) {
  const auto engine = p2p::Engine::make(
      rank, ranks, [&](auto mine, auto all) { meeting.gather(rank, mine, all); }, options);
  if (!engine) return false;
  program({rank, *engine, meeting});
  engine->wait_until([&] { return engine->is_drained(); });
  meeting.barrier();
  return true;
}

inline void run_threads(int ranks, const Program& program, const p2p::Options& options = {}) {
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] { run_rank(rank, ranks, meeting, options, program); });
  for (std::thread& thread : threads) thread.join();
}

enum class Ended { well, badly, apart };

// `program` ends its process with a code other than 0 where something is wrong. Apart: the system does not let processes
// reach each other.
inline Ended run_processes(int ranks, const Program& program, const p2p::Options& options = {}) {
  void* const shared =
      mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& meeting = *new (shared) Meeting(ranks);
  constexpr int apart = 77;
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) _exit(run_rank(rank, ranks, meeting, options, program) ? 0 : apart);
    children.push_back(child);
  }
  Ended ended = Ended::well;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == apart)
      ended = Ended::apart;
    else if (status != 0)
      ended = Ended::badly;
  }
  munmap(shared, sizeof(Meeting));
  return ended;
}

}  // namespace tca::test
