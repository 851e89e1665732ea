// Which ranks there are and what connects them: read off the environment, once, when a world comes up.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::route {

// Whether ranks share one address space.
enum class Ranks { threads, processes };

// What a rank asks for; see WorldOptions.
struct Wishes {
  std::chrono::milliseconds time_limit{30'000};
  std::string fabric = "shm";  // as `fabric_name` says it
  int device = -1;
  int engine_blocks = 0;
  std::string machine = {};  // of sim; as `machine_name` says it
  std::string fidelity = {};
  bool progress_thread = false;
};

// What a rank's world stands on. The control plane outlives the fabrics.
struct Ground {
  std::unique_ptr<fabric::Control> control;
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics;  // in order of preference
  std::string launcher;                                  // "tca run", "Open MPI", "threads", "alone"
  fabric::Places places;
  std::shared_ptr<const void> ends_with_starter;  // see shm::EndsWithStarter
};

bool built_with_cuda();

// Of processes: "shm", or "shm+mpi" where they are on several hosts or OPENTCA_SUBCLUSTER splits one.
std::string default_fabric();

// The fabric to use: the one asked for, otherwise that of OPENTCA_FABRIC, otherwise `otherwise`. Throws
// Error{invalid_argument} for a name that is none, or of a fabric that this build lacks.
std::string fabric_name(const std::string& asked, std::string_view otherwise);

// How many ranks OPENTCA_SUBCLUSTER puts into a sub-cluster; 0: all of a host. Throws Error{invalid_argument} for anything else.
int asked_sub_cluster();

// What the environment has of a world's own settings, in place of what its program asks for.
struct Environment {
  std::optional<std::chrono::milliseconds> time_limit;  // OPENTCA_TIME_LIMIT
  std::optional<bool> progress_thread;                  // OPENTCA_PROGRESS_THREAD
};
// Throws Error{invalid_argument} for values that cannot be.
Environment read_environment();

// Without a world: throws what coming up on that fabric would throw for what the environment has, MPI's part included.
void check_environment(std::string_view fabric);

// The machine to model: the one asked for, otherwise that of OPENTCA_MACHINE, otherwise HA-PACS/TCA.
std::string machine_name(const std::string& asked);

// Collective over the processes that were launched together. Throws, on every rank alike, Error{incompatible} when they
// ask for different fabrics.
Ground bring_up_process(const Wishes& wishes);

// Collective over the ranks of a program's own communicator; see mpi::join.
Ground bring_up_communicator(const void* comm, std::size_t bytes, std::string_view header,
                             const Wishes& wishes);

// What `ranks` threads have in common, and each thread's ground on it (collective over the threads).
class ThreadGround {
 public:
  // Throws Error{invalid_argument} when the ranks' machine is modelled, and unknown or too small.
  explicit ThreadGround(int ranks, const Wishes& wishes = {});
  ~ThreadGround();
  int ranks() const { return ranks_; }
  std::unique_ptr<fabric::Control> control(int rank, std::chrono::milliseconds time_limit) const;
  Ground bring_up(int rank, const Wishes& wishes) const;

 private:
  struct Shared;

  int ranks_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace tca::route
