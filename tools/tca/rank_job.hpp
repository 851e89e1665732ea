// A job that `tca` runs as ranks of its own: on which fabric, how many, and how they are started.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "launch.hpp"
#include "route/over_mpi.hpp"
#include "tca/world.hpp"

namespace tca::tool {

struct RankJob {
  int ranks = 1;
  bool ranks_given = false;
  std::string fabric = "shm";
  std::string machine;  // of sim
  bool threads = false;
  bool compare = false;               // with MPI, on GPUs with NCCL
  bool compares_gpus_to_mpi = false;  // there with MPI as well
  Bind bind = Bind::automatic;
};

inline bool on_gpus(const RankJob& job) { return route::on_gpus(job.fabric); }

// -n, --ranks; `given`: whether the command line has it.
void add_ranks_option(CLI::App& app, const std::string& what, int& ranks, bool& given);

// --ranks (as many as there are cores, up to four), --fabric, --sub-cluster, --machine, --threads and --bind.
void add_rank_options(CLI::App& app, RankJob& job);

// What refuses (Error{invalid_argument}) a job that cannot be, given how many ranks it has.
using CheckOfRanks = std::function<void(int ranks)>;

// Runs `rank` as every rank of the job: in this process where it was started as one or where ranks are threads, otherwise in
// processes that run this command line again. Before any of them begins, what cannot be is refused, at last by `check`.
// Returns the exit code.
int run_as_ranks(const std::string& name, const RankJob& job, const WorldOptions& options,
                 const CheckOfRanks& check, const std::function<int(World&)>& rank);

// Runs `rank` in this process, which was started as a rank, by whomever. What cannot be is found by rank 0, which alone
// says it; the others return its exit code.
int run_as_one_rank(const WorldOptions& options, const CheckOfRanks& check,
                    const std::function<int(World&)>& rank);

// Refuses what asks for other ranks than the `ranks` processes that have been started already: another number, or
// threads.
void check_launched(int ranks, int asked, bool threads);

}  // namespace tca::tool
