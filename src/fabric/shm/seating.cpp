#include "fabric/shm/seating.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "base/fail.hpp"
#include "fabric/shm/process.hpp"

namespace tca::shm {

namespace {

using base::fail;

const char* env(const char* name) { return name == nullptr ? nullptr : std::getenv(name); }

int env_number(const char* name) {
  const char* text = env(name);
  int value = -1;
  const char* end = text == nullptr ? nullptr : text + std::strlen(text);
  if (text == nullptr || std::from_chars(text, end, value).ptr != end || value < 0) {
    fail(Errc::invalid_argument, "{}={} is not a rank count or rank; unset it or start through `tca run`",
         name, text == nullptr ? "(unset)" : text);
  }
  return value;
}

// The variables in which a launcher tells its ranks about the launch. `job` and `step` tell apart launches of
// the same user on the same host. Where a launcher has a `step`, only ranks get it.
struct Launcher {
  const char *name, *rank, *size, *local_size, *job, *step;
  bool is_mpi;
};
constexpr std::array<Launcher, 4> launchers{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE", nullptr, true},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, nullptr, true},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr, "PMIX_NAMESPACE", nullptr, true},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", nullptr, "SLURM_JOB_ID", "SLURM_STEP_ID", false},
}};

// Returns a name for the launch. A launcher that has no job name has started all its ranks on this host,
// directly or through wrapper scripts, so that its PID serves as one.
std::string job_name(const Launcher& launcher) {
  std::string name;
  if (const char* job = env(launcher.job)) {
    name = job;
    if (launcher.step != nullptr) name += std::string(".") + env(launcher.step);
  } else {
    name = fmt::format("parent{}", nearest_without(launcher.rank));
  }
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return name;
}

// Returns on how many hosts Slurm has started this step. A process in a Slurm job that is in no step knows
// only the number of hosts of the job.
int hosts_of_slurm() {
  for (const char* name : {"SLURM_STEP_NUM_NODES", "SLURM_NNODES"})
    if (env(name) != nullptr) return std::max(1, env_number(name));
  return 1;
}

bool has_started_this(const Launcher& launcher) {
  if (env(launcher.rank) == nullptr || env(launcher.size) == nullptr) return false;
  // Slurm gives a batch script a rank too, but what the script itself runs is no rank. Nor is a shell that
  // srun has started.
  return launcher.step == nullptr || (env(launcher.step) != nullptr && env_number(launcher.size) > 1);
}

// Where `tca` has started mpirun and all ranks are on this host, they meet in the memory of `tca`. A name in
// /dev/shm would stay if all ranks were killed at once.
void take_memory_of_launcher(Seating& seating) {
  const char* path = env("OPENTCA_CONTROL");
  if (path == nullptr || !seating.on_one_host()) return;
  seating.path = path;
  seating.named = false;
}

}  // namespace

Seating find_seating() {
  Seating seating;
  if (env("OPENTCA_RANK") != nullptr) {
    seating = {env_number("OPENTCA_RANK"), env_number("OPENTCA_SIZE"), "tca run", {}, false, "OPENTCA_RANK"};
    seating.here = seating.size;
    seating.says_where = true;
    if (const char* path = env("OPENTCA_CONTROL")) seating.path = path;
    if (seating.path.empty() && seating.size > 1) {
      fail(Errc::invalid_argument, "OPENTCA_RANK is set without OPENTCA_CONTROL; start through `tca run`");
    }
  } else {
    for (const Launcher& launcher : launchers) {
      if (!has_started_this(launcher)) continue;
      seating = {
          env_number(launcher.rank), env_number(launcher.size), launcher.name, {}, true, launcher.rank};
      seating.says_where = env(launcher.local_size) != nullptr;
      seating.here = seating.says_where ? env_number(launcher.local_size) : seating.size;
      if (!seating.says_where && seating.size > 1) seating.hosts = std::min(hosts_of_slurm(), seating.size);
      seating.path = fmt::format("/dev/shm/opentca.{}.{}", geteuid(), job_name(launcher));
      take_memory_of_launcher(seating);
      break;
    }
  }
  if (seating.size < 1 || seating.rank >= seating.size) {
    fail(Errc::invalid_argument,
         "{} says that this is rank {} of {}; a rank is 0 or more and below their number", seating.launcher,
         seating.rank, seating.size);
  }
  return seating;
}

bool is_rank_of_mpi() {
  return std::any_of(launchers.begin(), launchers.end(), [](const Launcher& launcher) {
    return launcher.is_mpi && env(launcher.rank) != nullptr;
  });
}

}  // namespace tca::shm
