// The ways of transforming on a GPU, and of the rest of NPB's steps.
#pragma once

#include <array>
#include <memory>

#include "fft/npb.hpp"
#include "fft/way.hpp"
#include "shared/start.hpp"
#include "tca/stream.hpp"

namespace tca::fft {

// Those by which transforms are started: one kernel for all would have to contain cuFFT.
inline constexpr std::array gpu_starts{apps::Start::automatic, apps::Start::host, apps::Start::graph};

// Collective. A graph runs each transform, or the host starts kernel by kernel. The pipelines are on `stream`.
std::unique_ptr<Way> gpu_way(World& world, const Pipeline& forward, const Pipeline& backward, Stream stream,
                             apps::Start start);

std::unique_ptr<npb::Evolution> gpu_evolution(const npb::Problem& problem, const Ends<double>& ends,
                                              Stream stream);

}  // namespace tca::fft
