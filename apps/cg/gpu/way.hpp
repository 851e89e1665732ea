// The ways of running the benchmark on a GPU.
#pragma once

#include <memory>

#include "cg/gpu/exchange.hpp"
#include "cg/gpu/matrix.hpp"
#include "cg/way.hpp"
#include "shared/start.hpp"

namespace tca::cg {

using apps::name_of;
using apps::Start;
using apps::start_named;

// One kernel is fastest wherever it can run: where kernels reach every rank.
Start chosen_start(World& world, const Share& share);

// Collective. One kernel runs all steps. The matrix outlives the way. Throws Error{invalid_argument} where
// that is not possible. By rows it sends without chains, for which there are no channels.
std::unique_ptr<Way> kernel_way(World& world, const GpuMatrix& matrix, Order order,
                                const apps::Channels& channels = {});

// Collective. A graph runs each step, or the host starts its kernels one by one. The matrix and the exchange
// outlive the way, and no other way with the same vectors runs meanwhile.
std::unique_ptr<Way> step_way(World& world, const GpuMatrix& matrix, const Vectors& vectors,
                              GpuExchange& exchange, Order order, Start start);

}  // namespace tca::cg
