#include "boot/launch_info.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "control/shm/process.hpp"

namespace tca::boot {

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

// The variables in which a launcher tells its ranks about the launch. `job` and `step` distinguish launches
// of the same user on the same host. If a launcher has a `sign`, only ranks get it. A batch system also
// starts shells, as a job or step of one task, and gives them its PMI's variables too.
struct Launcher {
  const char *name, *rank, *size, *local_size, *hosts, *job, *step, *sign;
  bool is_mpi, may_start_shells, known_to_mpi;
};
constexpr std::array<Launcher, 6> launchers{{
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr,
     "PMIX_NAMESPACE", nullptr, nullptr, true, false, true},
    {"Flux", "FLUX_TASK_RANK", "FLUX_JOB_SIZE", nullptr, "FLUX_JOB_NNODES", "FLUX_JOB_ID", nullptr,
     "FLUX_JOB_ID", false, true, true},
    {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", nullptr, nullptr, nullptr, nullptr, true, true,
     true},
    {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr, nullptr, "PMIX_NAMESPACE", nullptr, nullptr, true, true,
     true},
    // Slurm's other variables are those of the allocation, even in a step of fewer tasks.
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", nullptr, nullptr, "SLURM_JOB_ID", "SLURM_STEP_ID",
     "SLURM_STEP_ID", false, true, true},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", nullptr, nullptr, nullptr, "TORCHELASTIC_RUN_ID",
     false, false, false},
}};

// Returns the variable that says how many ranks there are. Old releases of Slurm give that of the step in
// the variable that newer ones keep for the allocation.
const char* size_variable(const Launcher& launcher) {
  const bool by_old_slurm = launcher.step != nullptr && env(launcher.size) == nullptr;
  return by_old_slurm ? "SLURM_NTASKS" : launcher.size;
}

// Returns a name for the launch. A launcher that has no job name has started all its ranks on this host,
// directly or through wrapper scripts, so that its PID serves as one.
std::string job_name(const Launcher& launcher) {
  std::string name;
  if (const char* job = env(launcher.job)) {
    name = job;
    if (launcher.step != nullptr) name += std::string(".") + env(launcher.step);
  } else {
    name = fmt::format("parent{}", shm::nearest_without(launcher.rank));
  }
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return name;
}

// Returns on how many hosts the batch system has started this step. A process in a Slurm job that is not in
// a step only knows the job's number of hosts.
int hosts_of_batch_system() {
  for (const char* name : {"FLUX_JOB_NNODES", "SLURM_STEP_NUM_NODES", "SLURM_NNODES"})
    if (env(name) != nullptr) return std::max(1, env_number(name));
  return 1;
}

bool in_a_batch_system() { return env("SLURM_STEP_ID") != nullptr || env("FLUX_JOB_ID") != nullptr; }

bool has_started_this(const Launcher& launcher) {
  const char* const size = size_variable(launcher);
  if (env(launcher.rank) == nullptr || env(size) == nullptr) return false;
  // Slurm gives a batch script a rank too, but what the script itself runs is not a rank.
  if (launcher.sign != nullptr && env(launcher.sign) == nullptr) return false;
  return !launcher.may_start_shells || !in_a_batch_system() || env_number(size) > 1;
}

// Returns the innermost of the nested launchers that have started this process, or null: a program finds
// the variables of all of them.
const Launcher* innermost_launcher() {
  const Launcher* innermost = nullptr;
  int least = 0;
  for (const Launcher& launcher : launchers) {
    if (!has_started_this(launcher)) continue;
    const int generations = shm::generations_with(launcher.rank, env(launcher.rank));
    if (innermost != nullptr && generations >= least) continue;
    innermost = &launcher;
    least = generations;
  }
  return innermost;
}

// Returns whether `tca run` has started this process, rather than a launcher that `tca run` has started.
bool is_by_tca_run(const Launcher* other) {
  if (base::variable("OPENTCA_RANK") == nullptr) return false;
  if (other == nullptr) return true;
  // The path distinguishes one `tca run` within another, which a rank does not.
  const char* const mark = base::variable("OPENTCA_CONTROL") != nullptr ? "OPENTCA_CONTROL" : "OPENTCA_RANK";
  return shm::generations_with(mark, env(mark)) <= shm::generations_with(other->rank, env(other->rank));
}

std::string told_in(const char* rank, const char* size) {
  const auto entry = [](const char* name) { return fmt::format("{}={}", name, env(name)); };
  return fmt::format("{} and {}", entry(rank), entry(size));
}

// If `tca` has started mpirun and all ranks are on this host, they meet in the memory of `tca`, if their
// namespaces let them open it. A name in /dev/shm would stay if all ranks were killed at once. A rank of
// `tca run` that has itself started mpirun keeps its memory for its own world.
void take_memory_of_launcher(LaunchInfo& launch) {
  const char* path = base::variable("OPENTCA_CONTROL");
  if (path == nullptr || base::variable("OPENTCA_RANK") != nullptr || !launch.on_one_host() ||
      access(path, R_OK | W_OK) != 0)
    return;
  launch.path = path;
  launch.named = false;
}

LaunchInfo launch_by_tca_run() {
  LaunchInfo launch{.rank = env_number("OPENTCA_RANK"),
                    .size = env_number("OPENTCA_SIZE"),
                    .launcher = "tca run",
                    .rank_variable = "OPENTCA_RANK",
                    .told = told_in("OPENTCA_RANK", "OPENTCA_SIZE"),
                    .says_where = true,
                    .known_to_mpi = false};
  launch.here = launch.size;
  if (const char* path = base::variable("OPENTCA_CONTROL")) launch.path = path;
  if (launch.path.empty() && launch.size > 1) {
    fail(Errc::invalid_argument, "OPENTCA_RANK is set without OPENTCA_CONTROL; start through `tca run`");
  }
  return launch;
}

LaunchInfo launch_by(const Launcher& launcher) {
  const char* const size = size_variable(launcher);
  LaunchInfo launch{.rank = env_number(launcher.rank),
                    .size = env_number(size),
                    .launcher = launcher.name,
                    .named = true,
                    .rank_variable = launcher.rank,
                    .told = told_in(launcher.rank, size),
                    .known_to_mpi = launcher.known_to_mpi};
  const bool says_hosts = env(launcher.hosts) != nullptr;
  if (env(launcher.local_size) != nullptr) {
    launch.says_where = true;
    launch.here = env_number(launcher.local_size);
  } else {
    launch.here = launch.size;
    if (launch.size > 1) launch.hosts = std::min(hosts_of_batch_system(), launch.size);
    launch.says_where = says_hosts && launch.hosts == 1;
  }
  launch.path = fmt::format("/dev/shm/opentca.{}.{}", geteuid(), job_name(launcher));
  take_memory_of_launcher(launch);
  return launch;
}

}  // namespace

LaunchInfo find_launch_info() {
  const Launcher* const launcher = innermost_launcher();
  const LaunchInfo launch = is_by_tca_run(launcher) ? launch_by_tca_run()
                            : launcher != nullptr   ? launch_by(*launcher)
                                                    : LaunchInfo{};
  if (launch.size < 1 || launch.rank >= launch.size) {
    fail(Errc::invalid_argument,
         "{} says that this is rank {} of {}; a rank is 0 or more and below their number ({})",
         launch.launcher, launch.rank, launch.size, launch.told);
  }
  return launch;
}

LaunchInfo launch_by_key(int rank, int size, const std::string& key) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-:@";
  constexpr std::size_t longest = 128;
  const std::optional<int> known = rank < 0 ? std::nullopt : std::optional(rank);
  if (size < 1 || rank < 0 || rank >= size) {
    fail(Errc::invalid_argument, {.rank = known},
         "World::join: rank {} of {} cannot be; a rank is 0 or more and below their number", rank, size);
  }
  if (key.empty() || key.size() > longest) {
    fail(Errc::invalid_argument, {.rank = known}, "World::join: a key of {} letters; it has 1 to {}",
         key.size(), longest);
  }
  if (const std::size_t at = key.find_first_not_of(letters); at != std::string::npos) {
    fail(Errc::invalid_argument, {.rank = known},
         "World::join: the key '{}' has a '{}'; it is made of letters, digits and \"._-:@\"", key, key[at]);
  }
  return {.rank = rank,
          .size = size,
          .launcher = "World::join",
          .path = fmt::format("/dev/shm/opentca.{}.key.{}", geteuid(), key),
          .named = true,
          .told = fmt::format("the key '{}'", key),
          .here = size,
          .says_where = true,
          .known_to_mpi = false,
          .call = "World::join"};
}

std::string why_ranks_are_expected(const LaunchInfo& launch) {
  if (launch.launcher.empty()) return {};
  if (launch.rank_variable.empty()) return fmt::format(" The {} ranks meet by {}", launch.size, launch.told);
  return fmt::format(" {} says that this is rank {} of {}, by {}; what is no rank is started by `env -u {}`",
                     launch.launcher, launch.rank, launch.size, launch.told, launch.rank_variable);
}

bool is_rank_of_mpi() {
  return std::any_of(launchers.begin(), launchers.end(), [](const Launcher& launcher) {
    return launcher.is_mpi && env(launcher.rank) != nullptr;
  });
}

}  // namespace tca::boot
