// Times that a node's processor costs the program that runs on it.
#pragma once

#include <cmath>
#include <cstdint>

#include "model/des/time.hpp"

namespace tca::net {

// Times of the processor itself. The network accounts for what then crosses buses.
struct HostKind {
  des::Time post = 0;  // to write a doorbell or post a request: until the store leaves the core
  des::Time poll = 0;  // from the arrival of a flag in memory until the program continues, on average

  // cudaMemcpy and similar calls, carried out by the GPU's own copy engine.
  des::Time copy_start = 0;  // from the call to its return, less the time of the data
  double to_gpu_bytes_per_s = 0;
  double from_gpu_bytes_per_s = 0;

  // Stores of the processor itself into GPU memory, write-combined (gdrcopy).
  double store_to_gpu_bytes_per_s = 0;
};

// Returns the time in which a processor, or an engine on its behalf, moves bytes at a rate.
inline des::Time copy_time(std::uint64_t bytes, double bytes_per_s) {
  return std::llround(static_cast<double>(bytes) / bytes_per_s * static_cast<double>(des::second));
}

}  // namespace tca::net
