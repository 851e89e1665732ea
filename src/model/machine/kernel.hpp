// Models how long a kernel runs on a GPU (a roofline), and the cost of puts that kernels issue themselves.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "model/des/time.hpp"

namespace tca::net {

struct GpuKind {
  std::string name;               // "K20X"
  double memory_bytes_per_s = 0;  // of its memory, from its data sheet
  double memory_share = 0;        // the share of that rate that stencils reach
  double flops_per_s = 0;         // in the precision that the machine's programs use
  des::Time launch = 0;           // from the host's call to the start of the kernel
  des::Time synchronise = 0;      // from the end of the kernel until the host knows of it
};

// Returns the time of the kernel alone, without launch and synchronisation: that of its bytes or of its
// operations, whichever is longer.
des::Time kernel_time(const GpuKind& gpu, double bytes, double flops);

// Chunks of packets, each of which a warp stores and another polls for.
struct KernelChunks {
  std::uint32_t data = 0, wire = 0;  // bytes of a chunk: its data, and what takes up the wire
  des::Time move = 0;                // of a chunk, at both ends together
  des::Time block = 0;               // of a step, if a block has several warps
};

// A protocol with which kernels put, on GPUs that map each other's memory; see docs/protocols.md.
struct KernelProtocol {
  // The times of a step, in total, from its beginning to the first store and from the last arrival until
  // the kernel continues.
  des::Time start = 0;
  double bytes_per_s = 0;  // of data that all warps store together, followed by a flag; without chunks
  des::Time blocks = 0;    // of a step where several blocks put, each with a fence and a flag; no chunks
  std::optional<KernelChunks> chunks;  // instead
};

// What puts by kernels cost, on all GPUs of a machine.
struct Kernels {
  des::Time node = 0;  // in a CUDA graph: from the end of one kernel to the beginning of the next
  des::Time load = 0;  // of a load from memory that no cache of the multiprocessor holds
  std::map<std::string, KernelProtocol> protocols;  // by name; empty if kernels do not put
};

}  // namespace tca::net
