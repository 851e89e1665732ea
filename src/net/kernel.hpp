// How long a kernel runs on a GPU: a roofline.
#pragma once

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

}  // namespace tca::net
