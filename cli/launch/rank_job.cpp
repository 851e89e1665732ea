#include "cli/launch/rank_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/launch/cores.hpp"
#include "cli/options/memory.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/faults.hpp"
#include "cli/subcommand.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

// Modelled ranks take turns on this thread, so that there may be more of them than the system gives threads.
int run_threads(const RankJob& job, WorldOptions options, const std::function<int(World&)>& rank) {
  int code = 0;
  options.fibers = !job.threads;
  run_threads_and_tell(
      job.ranks,
      [&](World& world) {
        const int own = rank(world);
        if (world.rank() == 0) code = own;
      },
      options);
  return code;
}

// Returns what prevents a comparison with MPI; empty if nothing does. Ranks that have been started already
// need no mpirun.
std::string lacks_mpi() {
  if (!boot::built_with_mpi()) return "built without MPI";
  return already_a_rank() || has_mpirun() ? "" : "mpirun is not there (package openmpi-bin)";
}

int launch_ranks(const std::string& name, const RankJob& job) {
  LaunchOptions launching{
      .name = name, .ranks = job.ranks, .argv = own_command_line(), .argv_is_tca = true, .bind = job.bind};
  if (is_over_mpi(job.fabric)) return launch_under_mpirun(launching);
  if (job.compare && (!on_gpus(job) || job.compares_gpus_to_mpi)) {  // NCCL needs no launcher of its own
    if (lacks_mpi().empty()) return launch_under_mpirun(launching);
    if (!on_gpus(job)) std::erase(launching.argv, "--compare");  // tell_of_no_comparison() has said so
  }
  // A rank's own report says why it failed. Not set for mpirun, which would then be quiet about its own
  // errors as well.
  launching.fails_in_words = true;
  return launch(launching);
}

void check_fabric(const RankJob& job) {
  check_machine(job.fabric, job.machine);
  check_faults(job.fabric, job.faults);
  check_built(job.fabric);
  if (job.compare && job.fabric == "sim")
    refuse("--compare: there is no MPI on a modelled machine to compare with");
  if (is_over_mpi(job.fabric) && job.threads)
    refuse("--fabric {}: its ranks are processes; leave --threads out", job.fabric);
  if (job.compare && job.threads && !on_gpus(job))
    refuse("--compare needs ranks that are processes; leave --threads out");
  check_bind(job.bind, job.fabric, job.threads);
}

// Said once, by the process that starts the ranks, or by rank 0 where they have been started already.
void tell_of_no_comparison(const std::string& name, const RankJob& job) {
  if (!job.compare || on_gpus(job) || is_over_mpi(job.fabric)) return;
  if (const std::string why = lacks_mpi(); !why.empty())
    fmt::print(stderr, "{}: {}, so there is nothing to compare with\n", name, why);
}

void check_all(const std::string& name, const RankJob& job, const CheckOfRanks& check, int ranks) {
  check_fabric(job);
  check_number_of_ranks(job.fabric, ranks);
  check(ranks);
  tell_of_no_comparison(name, job);
}

}  // namespace

void add_ranks_option(CLI::App& app, const std::string& what, int& ranks, bool& given, int most) {
  app.add_option("-n,--ranks", ranks, what)
      ->check(between(1, most))
      ->each([&given](const std::string&) { given = true; })
      ->capture_default_str();
}

void check_number_of_ranks(const std::string& fabric, int ranks) {
  if (fabric == "sim") {
    constexpr double least_of_rank = 48 * 1024;  // before it makes anything
    check_memory(fmt::format("a modelled world of {} ranks", ranks), least_of_rank * ranks, 1);
  } else if (ranks > max_ranks) {
    refuse("--ranks: {} is no whole number from 1 to {}; on --fabric sim there may be more", ranks,
           max_ranks);
  }
}

void add_rank_options(CLI::App& app, RankJob& job) {
  job.ranks = std::min(4, usable_cores());
  add_ranks_option(app, "Number of ranks", job.ranks, job.ranks_given, most_modelled_ranks);
  app.add_option(
         "--fabric", job.fabric,
         "What carries the bytes: shm (this host's memory), mpi, shm+mpi (shm within sub-clusters, mpi "
         "across), cuda (GPUs), cuda+mpi (GPUs within sub-clusters, mpi across) or sim (a modelled machine)")
      ->envname("OPENTCA_FABRIC")
      ->check(any_fabric())
      ->capture_default_str();
  add_sub_cluster_option(app, job.fabric);
  app.add_option("--machine", job.machine, "Machine to model on sim: the name or the path of a machine file")
      ->envname("OPENTCA_MACHINE");
  add_fault_option(app, job.faults);
  app.add_flag("--threads", job.threads, "Run the ranks as threads of one process");
  add_bind_option(app, job.bind);
}

int run_as_ranks(const std::string& name, const RankJob& job, WorldOptions options, const CheckOfRanks& check,
                 const std::function<int(World&)>& rank) {
  options.faults = faults_by_option(job.faults);
  if (already_a_rank()) {
    const auto check_started = [&](int ranks) {
      check_launched(ranks, job.ranks_given ? job.ranks : ranks, job.threads);
      check_all(name, job, check, ranks);
    };
    return run_as_one_rank(options, check_started, rank);
  }
  check_all(name, job, check, job.ranks);
  return job.threads || job.fabric == "sim" ? run_threads(job, options, rank) : launch_ranks(name, job);
}

int run_as_one_rank(const WorldOptions& options, const CheckOfRanks& check,
                    const std::function<int(World&)>& rank) {
  std::optional<Error> refusal;
  int code = 0;
  {
    World world = World::init(options);
    if (world.rank() == 0) {
      try {
        check(world.size());
      } catch (const Error& error) {
        refusal = error;
      }
    }
    code = world.all_gather(refusal ? refusal->exit_code() : 0)[0];
    if (code == 0) code = rank(world);
  }
  // Thrown after the world has ended in good order.
  if (refusal) throw *refusal;
  return code;
}

void check_launched(int ranks, int asked, bool threads) {
  if (threads) refuse("--threads: the ranks have been started already, as processes; leave --threads out");
  if (asked != ranks)
    refuse("--ranks {}: {} rank{} been started already; leave --ranks out", asked, ranks,
           ranks == 1 ? " has" : "s have");
}

}  // namespace tca::tool
