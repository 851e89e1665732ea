#include "mpi/session.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <functional>

#include "mpi/census/measure.hpp"
#include "mpi/coll/communicator.hpp"
#include "mpi/deny.hpp"
#include "mpi/gpu/gpu.hpp"
#include "mpi/hosts.hpp"
#include "mpi/p2p/slot.hpp"
#include "mpi/say.hpp"
#include "mpi/tally.hpp"
#include "mpi/threads.hpp"

namespace tca::interposer {

namespace {

int rank_of_job() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

Session& Session::get() {
  static auto* const session = new Session;  // for as long as the process lives
  return *session;
}

void Session::begin() {
  if (is_whole_) return;
  std::string obstacle = presence_.obstacle();
  if (obstacle.empty()) obstacle = meet_other_hosts(presence_);
  if (obstacle.empty() && !agree_on_settings()) obstacle = "ranks have different settings (OPENTCA_MPI...)";
  if (obstacle.empty()) obstacle = Settings::get().trouble;
  if (!obstacle.empty()) {
    say(fmt::format("everything is left to MPI: {}", obstacle));
    return;
  }
  is_whole_ = true;
  if (const auto unserved = unserved_in(Settings::get().denied); !unserved.empty())
    say(fmt::format("OPENTCA_MPI_DENY names no call that OpenTCA serves by {}", fmt::join(unserved, ", ")));
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  threads_are_many = level == MPI_THREAD_MULTIPLE;
  serves_ = (Settings::get().mode == Mode::coll || Settings::get().mode == Mode::all) && have_known_buffers();
  census::begin();
  if (serves_ && Settings::get().mode == Mode::all) Channel::begin();
}

// Whether every rank can tell buffers in memory of a GPU from others.
bool Session::have_known_buffers() const {
  const std::string obstacle = gpu::begin();
  int all = obstacle.empty() ? 1 : 0;
  PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (all == 0)
    say(fmt::format("everything is left to MPI: {}",
                    obstacle.empty() ? "another rank cannot serve" : obstacle));
  return all != 0;
}

bool Session::agree_on_settings() const {
  const Settings& mine = Settings::get();
  const auto hash =
      std::hash<std::string>()(fmt::format("{} {} {} {} {} {}", static_cast<int>(mine.mode), mine.denied,
                                           mine.check, mine.report, mine.census_file, mine.trouble));
  const auto number = static_cast<long long>(hash >> 1);
  std::array<long long, 2> extremes = {number, -number};
  PMPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_LONG_LONG, MPI_MIN, MPI_COMM_WORLD);
  return extremes[0] == -extremes[1];
}

void Session::end() {
  if (!is_whole_) return;
  census::end();
  if (Settings::get().report) report();
  serves_ = false;
  Slot::drop_all();
  Channel::end();
  Communicator::drop_all();
}

void Session::say(std::string_view line) const {
  if (rank_of_job() == 0) say_here(line);
}

void Session::say_here(std::string_view line) const { say_as(rank_of_job(), line); }

// Beginnings are written by hand: Fortran has other parameters.
namespace {

template <class Begin>
int begin_with(const Begin& begin) {
  Session::get().announce();
  const int result = begin();
  if (result == MPI_SUCCESS) Session::get().begin();
  return result;
}

}  // namespace

}  // namespace tca::interposer

using tca::interposer::begin_with;

extern "C" {

__attribute__((visibility("default"))) int MPI_Init(int* argc, char*** argv) {
  return begin_with([&] { return PMPI_Init(argc, argv); });
}

__attribute__((visibility("default"))) int MPI_Init_thread(int* argc, char*** argv, int required,
                                                           int* provided) {
  return begin_with([&] { return PMPI_Init_thread(argc, argv, required, provided); });
}
}
