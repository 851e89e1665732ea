// What a node's processor costs the program that runs on it.
#pragma once

#include "des/time.hpp"

namespace tca::net {

// Times of the processor itself; what then crosses buses is the network's.
struct HostKind {
  des::Time post = 0;  // to write a doorbell or to post a request: until the store leaves the core
  des::Time poll = 0;  // from a flag's being in memory to the program's going on, on average

  // cudaMemcpy and its like, done by the GPU's own engine.
  des::Time copy_start = 0;  // from the call to its return, less the data's time
  double to_gpu_bytes_per_s = 0;
  double from_gpu_bytes_per_s = 0;

  // The processor itself stores into a GPU's memory, write-combined (gdrcopy).
  double store_to_gpu_bytes_per_s = 0;
};

}  // namespace tca::net
