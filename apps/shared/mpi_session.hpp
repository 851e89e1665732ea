// MPI as a peer to compare with.
#pragma once

#include <string>

#include "tca/world.hpp"

namespace tca::apps {

std::string mpi_version();  // e.g. "Open MPI 4.1.4"; empty without MPI

#ifdef OPENTCA_HAVE_MPI
// MPI, which begins with the first of these in a process unless it runs already, and then ends with it unless an exception ends
// that; it cannot begin again.
class MpiSession {
 public:
  // Throws Error{invalid_argument} when MPI's ranks are not the world's.
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
#endif

}  // namespace tca::apps
