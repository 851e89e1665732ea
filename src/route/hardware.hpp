// Describes this machine by what distinguishes it from others on which costs may have been measured.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fabric/fabric.hpp"

namespace tca::route {

// Returns for example "AMD EPYC, family 26 model 2 stepping 1, 2 CPUs, 32768K last-level cache". Identical
// hosts return the same string.
std::string hardware();

// Returns what the costs between ranks of such fabrics depend on: the hardware and, if the fabrics have an
// accelerator, the model of this rank's after it, such as "NVIDIA H200".
std::string hardware_of(std::span<const std::unique_ptr<fabric::Fabric>> fabrics);

// Returns the fabrics' names joined by "+".
std::string fabric_set(std::span<const std::unique_ptr<fabric::Fabric>> fabrics);

// Returns the software whose costs are measured: "0.1.0", or "0.1.0 and Open MPI v4.1.4" if that MPI takes
// part and `mpi` is not empty.
std::string software(std::string_view mpi);

}  // namespace tca::route
