// What distinguishes this machine from others for which costs may have been measured.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fabric/fabric.hpp"

namespace tca::route {

// Such as "AMD EPYC, family 26 model 2 stepping 1, 2 CPUs, 32768K last-level cache". Hosts of the same make say the same.
std::string hardware();

// What costs between ranks of such fabrics depend on: that, and behind it the kind of this rank's accelerator where they have one,
// such as "NVIDIA H200".
std::string hardware_of(std::span<const std::unique_ptr<fabric::Fabric>> fabrics);

// The fabrics' names joined by "+".
std::string fabric_set(std::span<const std::unique_ptr<fabric::Fabric>> fabrics);

// Whose costs are measured: "0.1.0", with "and Open MPI v4.1.4" behind it for a set of fabrics that has mpi.
std::string software(std::string_view fabrics);

}  // namespace tca::route
