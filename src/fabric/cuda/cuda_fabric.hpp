// The fabric cuda: GPUs that map each other's memory, over NVLink or PCIe, within sub-clusters.
#pragma once

#include <memory>

#include "control/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::cuda {

struct Settings {
  bool threads = false;   // the ranks are threads of one process
  int device = -1;        // this rank's GPU; -1: its seat on its host modulo the number of GPUs there
  int engine_blocks = 0;  // multiprocessors kept for a resident engine
};

// Collective. Throws Error{device_failed}, {incompatible}, {invalid_argument} or {out_of_memory}.
std::unique_ptr<fabric::Fabric> make_fabric(control::Control& control, control::Places places,
                                            const Settings& settings);

}  // namespace tca::cuda
