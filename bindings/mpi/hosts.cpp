#include "mpi/hosts.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "mpi/say.hpp"

namespace tca::interposer {

namespace {

double time_limit_s() {
  const char* const limit = std::getenv("OPENTCA_TIME_LIMIT");
  const double seconds = limit != nullptr ? std::atof(limit) : 0;
  return seconds > 0 ? seconds : 30;
}

// Ends the process unless it goes in time. Its thread makes no call of MPI, in which the others wait.
class Watch {
 public:
  Watch(int rank, bool speaks)
      : thread_([this, rank, speaks] {
          // Who speaks goes first: its end is that of the job. It takes a second at most until that has been read.
          const std::chrono::duration<double> limit(time_limit_s() + (speaks ? 0 : 2));
          std::unique_lock lock(mutex_);
          if (changed_.wait_for(lock, limit, [this] { return is_over_; })) return;
          if (speaks)
            say_as(rank,
                   fmt::format("after {:g} s not all ranks of other hosts have come, so some run without the "
                               "library; put `tca mpi` before each program of the job, or set "
                               "OPENTCA_MPI=off",
                               limit.count()));
          kill(getpid(), SIGKILL);  // MPICH's launcher lets the others go on where a process only exits
        }) {}
  Watch(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

// A job's programs, as far as the launcher tells all of its ranks; 1 where it does not.
int programs() {
  const char* const number = std::getenv("OMPI_NUM_APP_CTX");
  return number != nullptr ? std::atoi(number) : 1;
}

}  // namespace

std::string meet_other_hosts(const Presence& presence) {
  int rank = 0, ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks == presence.ranks_here()) return {};
  if (programs() > 1)
    return "the job has several programs on several hosts, and whether `tca mpi` stands before each of them "
           "cannot be found out";
  const Watch watch(rank, presence.rank_here() == 0);
  // A group's tag keeps this apart from what a rank without the library calls. Only those with it know the tag.
  constexpr int tag = 30011;
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Comm met = MPI_COMM_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &all);
  PMPI_Comm_create_group(MPI_COMM_WORLD, all, tag, &met);
  PMPI_Barrier(met);
  PMPI_Comm_free(&met);
  PMPI_Group_free(&all);
  return {};
}

}  // namespace tca::interposer
