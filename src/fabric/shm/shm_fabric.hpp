// The shm fabric, for ranks on one host without an accelerator: processes, or threads of one process.
#pragma once

#include <memory>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

// Collective over the ranks of `control`, which must outlive the fabric and everything made from it. Each
// rank reaches those of its own sub-cluster, which lie on one host.
std::unique_ptr<fabric::Fabric> make_fabric(fabric::Control& control, std::unique_ptr<Space> space,
                                            const fabric::Places& places);

}  // namespace tca::shm
