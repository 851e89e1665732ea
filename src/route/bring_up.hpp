// Which ranks there are and what connects them: read off the environment, once, when a world comes up.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"
#include "fabric/shm/space.hpp"

namespace tca::route {

// What a rank asks for; see WorldOptions.
struct Wishes {
  std::chrono::milliseconds time_limit{30'000};
  std::string fabric = "shm";  // as `fabric_name` says it
  int device = -1;
  int engine_blocks = 0;
};

// What a rank's world stands on. The control plane outlives the fabrics.
struct Ground {
  std::unique_ptr<fabric::Control> control;
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics;  // in order of preference
  std::string launcher;                                  // "tca run", "Open MPI", "threads", "alone"
};

// The fabric to use: the one asked for, otherwise that of OPENTCA_FABRIC, otherwise shm. Throws
// Error{invalid_argument} for a name that is none, or of a fabric that this build lacks.
std::string fabric_name(const std::string& asked);

// Collective over the processes that were launched together. Throws, on every rank alike, Error{incompatible} when they
// ask for different fabrics.
Ground bring_up_process(const Wishes& wishes);

// The common memory of `ranks` threads, and each thread's ground on it (collective over the threads).
class ThreadGround {
 public:
  explicit ThreadGround(int ranks);
  int ranks() const { return ranks_; }
  std::unique_ptr<fabric::Control> control(int rank, std::chrono::milliseconds time_limit) const;
  Ground bring_up(int rank, const Wishes& wishes) const;

 private:
  int ranks_;
  shm::Mapping board_;
};

}  // namespace tca::route
