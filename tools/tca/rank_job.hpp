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
  std::string fabric = "shm";
  std::string machine;  // of sim
  bool threads = false;
  bool compare = false;               // with MPI, on GPUs with NCCL
  bool compares_gpus_to_mpi = false;  // there with MPI as well
  Bind bind = Bind::automatic;
};

inline bool on_gpus(const RankJob& job) { return route::on_gpus(job.fabric); }

// --ranks (as many as there are cores, up to four), --fabric, --sub-cluster, --machine, --threads and --bind.
void add_rank_options(CLI::App& app, RankJob& job);

// Runs `rank` as every rank of the job: in this process where it was started as one or where ranks are threads, otherwise in
// processes that run this command line again. Before any is started, what cannot be is refused (Error{invalid_argument}),
// at last by `check`. Returns the exit code.
int run_as_ranks(const std::string& name, const RankJob& job, const WorldOptions& options,
                 const std::function<void()>& check, const std::function<int(World&)>& rank);

}  // namespace tca::tool
