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
#include "tca/world_options.hpp"

namespace tca::route {

// Whether ranks share one address space.
enum class Ranks { threads, processes };

// What connects a rank to the others. The control plane outlives the fabrics.
struct Connections {
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

// The options of all that follows are those in effect: the environment has been read, and `fabric` is what
// `fabric_name` says.

// Collective over the processes that were launched together. Throws, on every rank alike, Error{incompatible} when they
// ask for different fabrics.
Connections bring_up_process(const WorldOptions& options);

// Collective over the ranks of a program's own communicator; see mpi::join.
Connections bring_up_communicator(const void* comm, std::size_t bytes, std::string_view header,
                                  const WorldOptions& options);

// What `ranks` threads have in common, and each thread's connections through it (collective over the
// threads). Where options name no fabric it is shm.
class ThreadConnections {
 public:
  // Throws Error{invalid_argument} when the ranks' machine is modelled, and unknown or too small.
  explicit ThreadConnections(int ranks, const WorldOptions& options = {});
  ~ThreadConnections();
  std::unique_ptr<fabric::Control> control(int rank, std::chrono::milliseconds time_limit) const;
  Connections bring_up(int rank, const WorldOptions& options) const;

 private:
  struct Shared;

  int ranks_;
  std::unique_ptr<Shared> shared_;
};

}  // namespace tca::route
