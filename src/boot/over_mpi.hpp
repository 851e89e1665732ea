// The fabric mpi if this build has it, and clear error messages if it does not.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "control/control.hpp"
#include "fabric/fabric.hpp"
#include "fabric/staging.hpp"
#include "tca/world_options.hpp"

namespace tca::boot {

bool built_with_mpi();

// Returns the MPI that this library was built with, e.g. "Open MPI v4.1.4"; empty without one.
std::string mpi_library();

inline bool on_gpus(std::string_view fabric) { return fabric == "cuda" || fabric == "cuda+mpi"; }
inline bool needs_mpi(std::string_view fabric) { return fabric == "mpi" || fabric.ends_with("+mpi"); }
// Returns the MPI of a world on such fabrics; empty if none takes part.
inline std::string mpi_of(std::string_view fabrics) { return needs_mpi(fabrics) ? mpi_library() : ""; }

// In a build without MPI the functions below throw Error{invalid_argument}; see fabric/mpi/mpi_fabric.hpp.
std::unique_ptr<control::Control> join_over_mpi(const WorldOptions& options);
std::unique_ptr<control::Control> join_over_mpi(const void* comm, std::size_t bytes, std::string_view header,
                                                const WorldOptions& options);
// Returns how many processes MPI has started together, whatever communicator the program has made from
// them.
int started_by_mpi();
std::vector<int> hosts_over_mpi(const control::Control& control);
std::unique_ptr<fabric::Fabric> make_mpi_fabric(control::Control& control, const WorldOptions& options,
                                                fabric::Stager* stager);

}  // namespace tca::boot
