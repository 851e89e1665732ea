// Times that a node's processor costs the program running on it.
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

// How the hubs of a ring or torus watch their neighbours and their hosts.
struct WatchKind {
  des::Time heartbeat = 0;       // a neighbour gives a sign of life at least this often
  des::Time silence = 0;         // after this long without one, it is assumed to have failed
  des::Time host_heartbeat = 0;  // the same between a hub and its own host
  des::Time host_silence = 0;
  des::Time handle = 0;          // from the arrival of news at a hub until it acts on it and passes it on
  std::uint32_t news_bytes = 0;  // of a fault
};

// Returns the time in which a processor, or an engine on its behalf, moves bytes at a rate.
inline des::Time copy_time(std::uint64_t bytes, double bytes_per_s) {
  return std::llround(static_cast<double>(bytes) / bytes_per_s * static_cast<double>(des::second));
}

}  // namespace tca::net
