// The shm fabric, for ranks on one host without an accelerator: processes, or threads of one process.
#pragma once

#include <memory>

#include "control/control.hpp"
#include "control/shm/space.hpp"
#include "fabric/fabric.hpp"

namespace tca::shm {

// Collective over the ranks of `control`, which must outlive the fabric and everything made from it. Each
// rank reaches those of its own sub-cluster, which are on one host.
std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, std::unique_ptr<Space> space,
                                            const control::Places& places);

}  // namespace tca::shm
