// The ways of searching on GPUs.
#pragma once

#include <memory>
#include <string>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/graph.hpp"
#include "bfs/way.hpp"
#include "shared/start.hpp"

namespace tca::bfs {

using apps::name_of;
using apps::Start;
using apps::start_named;

class GpuWay : public Way {
 public:
  virtual std::string explain() const = 0;  // how OUT travels
};

// One kernel is fastest wherever it can run: where kernels reach every rank.
Start chosen_start(const World& world);

// Collective. One kernel searches to the end. The graph outlives the way. Throws Error{invalid_argument}
// where that is not possible.
std::unique_ptr<GpuWay> kernel_way(World& world, const GpuGraph& graph);

// Collective. A graph runs each level, or the host starts its kernels one by one. The graph outlives the way.
// Returns null where `make` makes no exchange.
std::unique_ptr<GpuWay> step_way(World& world, const GpuGraph& graph, MakeExchange* make, Start start,
                                 const apps::Channels& channels = {});

}  // namespace tca::bfs
