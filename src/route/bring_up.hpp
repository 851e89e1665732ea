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

// What a rank's world stands on. The control plane outlives the fabrics.
struct Ground {
  std::unique_ptr<fabric::Control> control;
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics;  // in order of preference
  std::string launcher;                                  // "tca run", "Open MPI", "threads", "alone"
};

// Collective over the processes that were launched together.
Ground bring_up_process(std::chrono::milliseconds time_limit);

// The common memory of `ranks` threads, and each thread's ground on it (collective over the threads).
class ThreadGround {
 public:
  explicit ThreadGround(int ranks);
  int ranks() const { return ranks_; }
  std::unique_ptr<fabric::Control> control(int rank, std::chrono::milliseconds time_limit) const;
  Ground bring_up(int rank, std::chrono::milliseconds time_limit) const;

 private:
  int ranks_;
  shm::Mapping board_;
};

}  // namespace tca::route
