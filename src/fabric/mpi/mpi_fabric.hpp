// Ranks anywhere, over the MPI that the site has.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

struct Settings {
  std::chrono::milliseconds time_limit{30'000};
  bool progress_thread = false;      // moves messages on while the rank computes; needs MPI_THREAD_MULTIPLE
  bool staged = false;               // windows are an accelerator's memory; needs MPI_THREAD_MULTIPLE
  fabric::Stager* stager = nullptr;  // then, at `make_fabric`: how MPI gets at it
};

// The control plane of all processes that were started together (MPI_COMM_WORLD). Initialises MPI if need be. Throws
// Error{incompatible}, {timed_out} or {rank_lost}.
std::unique_ptr<fabric::Control> join(const Settings& settings);

// The same of a program's own communicator: `comm` is the address of an MPI_Comm, `bytes` its size and `header` what the mpi.h
// that the caller was compiled with calls its MPI.
std::unique_ptr<fabric::Control> join(const void* comm, std::size_t bytes, std::string_view header,
                                      const Settings& settings);

// How many processes were started together (MPI_COMM_WORLD), once MPI is initialised.
int started();

// On which host each rank is, counted from 0. `control` is one of the above.
const std::vector<int>& hosts(const fabric::Control& control);

// Of the ranks of a control made above, with the same settings.
std::unique_ptr<fabric::Fabric> make_fabric(fabric::Control& control, const Settings& settings);

// The MPI that this library was built with, in its own words, e.g. "Open MPI v4.1.4".
std::string library_name();

}  // namespace tca::mpi
