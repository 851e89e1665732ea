// The ways of searching on GPUs.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/graph.hpp"
#include "bfs/way.hpp"
#include "shared/start.hpp"

namespace tca::bfs {

using apps::name_of;
using apps::Start;

// The host, a graph or a kernel a search, or one kernel that is told root after root.
inline constexpr std::array starts{Start::automatic, Start::host, Start::graph, Start::kernel,
                                   Start::resident};

class GpuWay : public Way {
 public:
  virtual std::string explain(
      Message message) const = 0;  // how it travels; empty where there is no such message

  // The parents of all vertices, in the memory of rank 0's host, where they are sent there; otherwise nothing.
  virtual std::span<const std::int64_t> collected() const { return {}; }
};

// A resident kernel is fastest wherever it can run: where kernels reach every rank, and no message is the host's.
Start chosen_start(const World& world, Style style);

// Collective. One kernel searches to the end, by Start::kernel or Start::resident. The graph outlives the way.
// Throws Error{invalid_argument} where that is not possible.
std::unique_ptr<GpuWay> kernel_way(World& world, const GpuGraph& graph, Start start);

// Collective. A graph runs each level, or the host starts its kernels one by one. The graph outlives the way.
// Returns null where `make` makes no exchange.
std::unique_ptr<GpuWay> step_way(World& world, const GpuGraph& graph, MakeExchange* make, Start start,
                                 const apps::Channels& channels = {});

// Collective. The same with the messages of the paper, of which FLAG and TREE go to the hosts' memory.
std::unique_ptr<GpuWay> paper_way(World& world, const GpuGraph& graph, Start start,
                                  const apps::Channels& channels = {});

// Collective. Whichever of these is for this style and start, by OpenTCA. A kernel's messages have no channels.
std::unique_ptr<GpuWay> make_way(World& world, const GpuGraph& graph, Style style, Start start,
                                 const apps::Channels& channels = {});

}  // namespace tca::bfs
