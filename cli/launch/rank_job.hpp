// A job that `tca` itself runs as ranks: its fabric, its number of ranks, and how they are started.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "boot/over_mpi.hpp"
#include "cli/launch/launch.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct RankJob {
  int ranks = 1;
  bool ranks_given = false;
  std::string fabric = "shm";
  std::string machine;  // modelled on sim
  std::string faults;   // of that machine
  bool threads = false;
  bool compare = false;               // with MPI on hosts, with NCCL on GPUs
  bool compares_gpus_to_mpi = false;  // and on GPUs with MPI as well
  Binding bind = {};
};

inline bool on_gpus(const RankJob& job) { return boot::on_gpus(job.fabric); }

// Adds -n, --ranks, of 1 to `most`. `given` is set when the command line has it.
void add_ranks_option(CLI::App& app, const std::string& what, int& ranks, bool& given, int most = max_ranks);

// Throws Error{invalid_argument} for more ranks than run on a host, and on sim Error{out_of_memory} for more than this one
// has room for.
void check_number_of_ranks(const std::string& fabric, int ranks);

// Adds --ranks (by default as many as there are cores, up to four), --fabric, --sub-cluster, --machine, --fault,
// --threads and --bind.
void add_rank_options(CLI::App& app, RankJob& job);

// Throws Error{invalid_argument} for a job that is not possible with this number of ranks.
using CheckOfRanks = std::function<void(int ranks)>;

// Runs `rank` as every rank of the job: in this process where it was started as a rank or where ranks are
// threads, otherwise in processes that run this command line again. Refuses an impossible job before any rank
// begins; `check` is the last of the checks. Returns the exit code.
int run_as_ranks(const std::string& name, const RankJob& job, WorldOptions options, const CheckOfRanks& check,
                 const std::function<int(World&)>& rank);

// Runs `rank` in this process, which any launcher has started as a rank. Rank 0 runs `check` and throws what
// it throws; the others return that error's exit code.
int run_as_one_rank(const WorldOptions& options, const CheckOfRanks& check,
                    const std::function<int(World&)>& rank);

// Refuses options that ask for other ranks than the `ranks` processes that have been started already: for
// another number, or for threads.
void check_launched(int ranks, int asked, bool threads);

}  // namespace tca::tool
