// Who starts the iterations on GPUs.
#pragma once

#include <string_view>

#include "qcd/inverter.hpp"

namespace tca::qcd {

enum class Start {
  automatic,  // what suits the lattice
  host,       // kernel by kernel, chains on the stream
  graph,      // the same as a CUDA graph
  kernel,     // one kernel for the whole solve
};

// What a clock is held to: from the first launch of a solve to its end, and how many iterations that were. Those that a host puts
// on the stream before it knows that the solve is over take as long as others, and count here.
struct Timed {
  double us = 0;
  int iterations = 0;
};

// Throws Error{invalid_argument} for a name that there is not.
Start start_named(std::string_view name);
std::string_view name_of(Start start);

// Bytes of one hop's halves, from one rank, from which on a solve is better started by a graph. The kernel stores 16 bytes for
// 8 of data; a graph takes at least some 30 us longer an iteration for its 12 launches and 8 starts and waits. At the 450 GB/s
// that NVLink gives an H200 each way, four hops' extra bytes take as long from here on. An estimate: it has not been measured.
inline constexpr long long kernel_up_to_bytes = 3 << 20;

// As `check`, for GPUs. Throws Error{invalid_argument} for what is not done there: BiCGStab, several right-hand sides together,
// whole lattices, and mixed precision step by step.
void check_on_gpus(const InverterOptions& options, Start start);

// The choice for a solve that sends so many bytes a hop; mixed precision needs the kernel.
Start chosen_start(long long bytes_a_hop, bool mixed);

}  // namespace tca::qcd
