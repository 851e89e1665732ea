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

// One kernel is fastest wherever it can run: where kernels reach every rank.
Start chosen_start(const World& world);

// Collective. One kernel runs all sweeps of a phase. The lattice outlives the way. Throws Error{invalid_argument} where kernels
// do not reach every rank, and where a GPU has more ranks than it can run at once.
template <class Real>
std::unique_ptr<Way> kernel_way(World& world, GpuLattice<Real>& lattice);

// Collective. A graph runs each sweep by over-relaxation, or the host starts its kernels one by one. The lattice and the
// exchange outlive the way.
template <class Real>
std::unique_ptr<Way> step_way(World& world, GpuLattice<Real>& lattice, GpuExchange& exchange, Start start);

}  // namespace tca::spin
