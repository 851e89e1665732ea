// How long a kernel runs on a GPU, a roofline, and what it costs kernels to put by themselves.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "des/time.hpp"

namespace tca::net {

struct GpuKind {
  std::string name;               // "K20X"
  double memory_bytes_per_s = 0;  // of its memory, as its data sheet has it
  double memory_share = 0;        // of that, what stencils reach
  double flops_per_s = 0;         // in the precision that the machine's programs use
  des::Time launch = 0;           // from the host's call to the kernel's beginning
  des::Time synchronise = 0;      // from the kernel's end to the host's knowing
};

// Of the kernel alone, without launch and synchronisation: whichever of its bytes and its operations takes longer.
des::Time kernel_time(const GpuKind& gpu, double bytes, double flops);

// A way in which kernels of GPUs that map each other's memory put, such as those of docs/protocols.md.
struct KernelProtocol {
  std::int64_t expansion = 1;  // bytes on the wire for one of data: more where flags lie among it
  // Of a step: from its beginning to the first store, and from the last arrival to the kernel's going on.
  des::Time start = 0;
  double bytes_per_s = 0;  // of data, that all warps together gather and store, or scatter
  bool staged = false;     // it lands in a buffer, from which the receiver's warps scatter it
  bool flagged = false;    // a flag follows the data, once that has been acknowledged
};

struct Kernels {
  des::Time node = 0;  // of a CUDA graph: from the end of one kernel to the beginning of the next
  des::Time load = 0;  // from memory that no cache of the multiprocessor holds
  std::map<std::string, KernelProtocol> protocols;  // by name; empty where kernels do not put
};

}  // namespace tca::net
