// What a node's processor costs the program that runs on it.
#pragma once

#include <cmath>
#include <cstdint>

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

// Of bytes that a processor, or an engine for it, moves at a rate.
inline des::Time copy_time(std::uint64_t bytes, double bytes_per_s) {
  return std::llround(static_cast<double>(bytes) / bytes_per_s * static_cast<double>(des::second));
}

}  // namespace tca::net
