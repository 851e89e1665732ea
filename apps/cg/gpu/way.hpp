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

// Collective. One kernel runs all steps: on a cluster of blocks where that is possible, or else on a grid. The matrix
// outlives the way. Throws Error{invalid_argument} where neither is possible. By rows it sends without the channels.
std::unique_ptr<Way> kernel_way(World& world, const GpuMatrix& matrix, Order order,
                                const apps::Channels& channels = {});

// The two. There is no cluster_way, and it is null, where ranks have blocks of the matrix, a GPU has no clusters, the
// matrix does not fit into the shared memory of one, or there are more than 8 ranks.
std::unique_ptr<Way> cluster_way(World& world, const GpuMatrix& matrix, Order order);
std::unique_ptr<Way> grid_way(World& world, const GpuMatrix& matrix, Order order,
                              const apps::Channels& channels = {});

// Collective. A graph runs each step, or the host starts its kernels one by one. The matrix and the exchange
// outlive the way, and no other way with the same vectors runs meanwhile.
std::unique_ptr<Way> step_way(World& world, const GpuMatrix& matrix, const Vectors& vectors,
                              GpuExchange& exchange, Order order, Start start);

}  // namespace tca::cg
