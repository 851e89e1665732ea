// MPI as a peer for comparisons.
#pragma once

#include <string>

#include "tca/world.hpp"

namespace tca::apps {

std::string mpi_version();  // e.g. "Open MPI 4.1.4"; empty without MPI

// Keeps MPI running. The first session of a process initialises MPI unless it runs already, and then also
// finalises it, except when an exception ends the session. MPI cannot be initialised again afterwards.
class MpiSession {
 public:
  // Throws Error{invalid_argument} when MPI's ranks are not the world's, and Error{incompatible} in a build
  // without MPI.
  explicit MpiSession(const World& world);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  class Running {
   public:
    Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    ~Running();

   private:
    bool owned_;
  };
  Running running_;
};

}  // namespace tca::apps
