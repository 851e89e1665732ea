// Brings up the ranks of a world and what connects them. The environment is read once, when a world comes up.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/fibers.hpp"
#include "boot/launch_info.hpp"
#include "control/control.hpp"
#include "fabric/fabric.hpp"
#include "tca/world_options.hpp"

namespace tca::boot {

// Whether ranks share one address space.
enum class Ranks { threads, processes };

// The connections of a rank to the others. The control plane outlives the fabrics.
struct Connections {
  std::unique_ptr<control::Control> control;
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics;  // in order of preference
  std::string launcher;                                  // "tca run", "Open MPI", "threads", "alone"
  control::Places places;
  std::shared_ptr<const void> ends_with_starter;  // see shm::EndsWithStarter
};

bool built_with_cuda();

// Returns the fabric of ranks that are processes: "shm", or "shm+mpi" if they are on several hosts or
// OPENTCA_SUBCLUSTER splits a host.
std::string default_fabric();

// Returns the fabric to use: the requested one, otherwise that of OPENTCA_FABRIC, otherwise `otherwise`.
// Throws Error{invalid_argument} for an unknown name, and for a fabric that this build lacks.
std::string fabric_name(const std::string& asked, std::string_view otherwise);

// Returns how many ranks OPENTCA_SUBCLUSTER puts into a sub-cluster; 0 if it is not set, which means all
// ranks of a host. Throws Error{invalid_argument} for any other value.
int asked_sub_cluster();

// Settings of a world that the environment overrides.
struct Environment {
  std::optional<std::chrono::milliseconds> time_limit;  // OPENTCA_TIME_LIMIT
  std::optional<bool> progress_thread;                  // OPENTCA_PROGRESS_THREAD
  std::optional<bool> check_steps;                      // OPENTCA_CHECK
  std::optional<bool> timing;                           // OPENTCA_TIMING
  std::optional<bool> reroute;                          // OPENTCA_REROUTE
};
// Throws Error{invalid_argument} for impossible values.
Environment read_environment();

// Throws what a world that comes up on that fabric would throw for values in the environment, including
// those for MPI. Needs no world.
void check_environment(std::string_view fabric);

// Reports on stderr, once per job, which environment variables look like OpenTCA's but are not. `rank` is
// this rank's in its world, which may be one of several in the job.
void warn_of_environment(int rank);

// Returns the machine to model: the one requested, else that of OPENTCA_MACHINE, else HA-PACS/TCA.
std::string machine_name(const std::string& asked);

// All functions below take the options in effect: the environment has been read, and `fabric` is what
// `fabric_name` returned.

// The options in effect and, if a rank asks for something impossible, the error that it tells the others;
// the options are then such that this rank still meets the others.
struct Asked {
  WorldOptions options;
  std::optional<Error> refusal = {};
};

// Connects this process to those that were launched together with it. Collective over them. Throws, on
// every rank alike, a rank's refusal, and Error{incompatible} if they ask for different fabrics.
Connections bring_up_process(const Asked& asked);

// Connects this process to those that their program has directed to the same place; see World::join.
// Collective over them. Throws like bring_up_process.
Connections bring_up_joined(const LaunchInfo& launch, const Asked& asked);

// Connects the ranks of one of the program's communicators. Collective over them; see mpi::join.
Connections bring_up_communicator(const void* comm, std::size_t bytes, std::string_view header,
                                  const Asked& asked);

// Holds what `ranks` threads or fibers share, and gives each its connections. The fabric is shm if the
// options name none.
class ThreadConnections {
 public:
  // Throws Error{invalid_argument} if the fabric needs MPI, whose ranks are processes, and if the modelled
  // machine is unknown or too small.
  explicit ThreadConnections(int ranks, const WorldOptions& options = {});
  ~ThreadConnections();
  std::unique_ptr<control::Control> control(int rank, std::chrono::milliseconds time_limit) const;
  Connections bring_up(int rank, const WorldOptions& options) const;
  // The fibers that the ranks will be; null if they are threads.
  base::Fibers* fibers() const;

 private:
  struct Shared;

  int ranks_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace tca::boot
