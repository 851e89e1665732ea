// The ways of searching on GPUs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/graph.hpp"
#include "bfs/way.hpp"

namespace tca::bfs {

// How searches are started.
enum class Start {
  automatic,  // chosen by which ranks kernels reach
  host,       // the host launches the kernels of each level
  graph,      // the same kernels as a CUDA graph
  kernel,     // one kernel a search
  resident,   // one kernel that is there before, and is told root after root
};
// Takes "auto", "host", "graph", "kernel" or "resident". Throws Error{invalid_argument} for any other word.
Start start_named(std::string_view name);
std::string_view name_of(Start start);

class GpuWay : public Way {
 public:
  virtual std::string explain() const = 0;  // how OUT travels
};

// A resident kernel is fastest wherever it can run: where kernels reach every rank.
Start chosen_start(const World& world);

// Collective. One kernel searches to the end, by Start::kernel or Start::resident. The graph outlives the way.
// Throws Error{invalid_argument} where that is not possible.
std::unique_ptr<GpuWay> kernel_way(World& world, const GpuGraph& graph, Start start);

// Collective. A graph runs each level, or the host starts its kernels one by one. The graph outlives the way.
// Returns null where `make` makes no exchange.
std::unique_ptr<GpuWay> step_way(World& world, const GpuGraph& graph, MakeExchange* make, Start start,
                                 const apps::Channels& channels = {});

}  // namespace tca::bfs
