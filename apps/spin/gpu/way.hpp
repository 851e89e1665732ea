// The ways of simulating on GPUs.
#pragma once

#include <memory>

#include "shared/start.hpp"
#include "spin/gpu/exchange.hpp"
#include "spin/gpu/lattice.hpp"
#include "spin/way.hpp"

namespace tca::spin {

using apps::name_of;
using apps::Start;
using apps::start_named;

// Chooses the start that suits the size where kernels reach every rank, and a graph elsewhere.
//
// In one kernel half a sweep has no launches; the graph's kernels have more threads to load what an update needs. Times of a
// sweep on two H200s (docs/performance-gpu.md), by one kernel and by a graph: 6.1 and 16.8 us for 0.13 million spins a GPU, 18.9 and 27.0 us for 1.0
// million, 225 and 188 us for 8.4 million.
Start chosen_start(const Problem& problem, int ranks, bool kernels_reach_all);

// Collective. One kernel runs all sweeps of a phase. The lattice outlives the way. Throws Error{invalid_argument} where kernels
// do not reach every rank, and where a GPU has more ranks than it can run at once.
template <class Real>
std::unique_ptr<Way> kernel_way(World& world, GpuLattice<Real>& lattice);

// Collective. A graph runs each sweep by over-relaxation, or the host starts its kernels one by one. The lattice and the
// exchange outlive the way.
template <class Real>
std::unique_ptr<Way> step_way(World& world, GpuLattice<Real>& lattice, GpuExchange& exchange, Start start);

}  // namespace tca::spin
