// The mpi fabric, for ranks anywhere, over the site's MPI.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/control.hpp"
#include "fabric/fabric.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

struct Settings {
  std::chrono::milliseconds time_limit{30'000};
  bool progress_thread = false;      // drives messages while the rank computes; needs MPI_THREAD_MULTIPLE
  bool staged = false;               // windows are an accelerator's memory; needs MPI_THREAD_MULTIPLE
  fabric::Stager* stager = nullptr;  // for `make_fabric`, if `staged`: moves that memory for MPI
};

// Returns the control plane of all processes that were started together (MPI_COMM_WORLD). Initialises MPI
// if necessary. Throws Error{incompatible}, {timed_out} or {rank_lost}.
std::unique_ptr<control::Control> join(const Settings& settings);

// As above, for one of the program's communicators. `comm` is the address of an MPI_Comm, `bytes` its size
// and `header` the name of the MPI whose mpi.h the caller was compiled with. A Fortran communicator is a
// number; its `header` is then "Open MPI in Fortran".
std::unique_ptr<control::Control> join(const void* comm, std::size_t bytes, std::string_view header,
                                       const Settings& settings);

// Returns how many processes were started together (MPI_COMM_WORLD), once MPI is initialised.
int started();

// Returns, by rank, which host it is on, counted from 0. `control` was made by `join`.
const std::vector<int>& hosts(const control::Control& control);

// Makes the fabric for the ranks of a control that `join` has made with the same settings.
std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, const Settings& settings);

// Returns the name of the MPI that this library was built with, e.g. "Open MPI v4.1.4".
std::string library_name();

}  // namespace tca::mpi
