// A rank's graph on its GPU.
#pragma once

#include "bfs/gpu/kernels.hpp"
#include "bfs/graph/graph.hpp"
#include "shared/gpu_call.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

// Collective. Throws Error{out_of_memory} or Error{invalid_argument}, on all ranks alike, where the graph is
// too large, before it is generated.
void check_gpus(World& world, const Problem& problem, Style style = Style::packed);

class GpuGraph {
 public:
  // Collective. The ranks on one GPU get equal shares of it, because their kernels wait for each other, and
  // all ranks launch equally many blocks. The graph outlives this.
  GpuGraph(World& world, const Graph& graph);

  const Graph& on_host() const { return graph_; }
  const GraphArrays& arrays() const { return arrays_; }
  const GridSize& grid() const { return grid_; }

 private:
  GpuGraph(World& world, const Graph& graph, const GpuLayout& layout);

  const Graph& graph_;
  apps::DeviceArray<Word> begin_, own_begin_, without_;
  apps::DeviceArray<Vertex> neighbours_, own_neighbours_;
  apps::DeviceArray<Head> heads_;
  apps::DeviceArray<ListPart> parts_;
  GraphArrays arrays_;
  GridSize grid_;
};

// What a search knows of own vertices, in a GPU's memory.
class GpuVertices {
 public:
  explicit GpuVertices(const GpuGraph& graph)
      : parents_(std::size_t{graph.arrays().own_words} * in_gpu_word), visited_(graph.arrays().own_words) {}

  OwnVertices arrays() const { return {parents_.data(), visited_.data()}; }
  void read_parents(std::vector<Vertex>& into, const apps::OwnStream& stream) const {
    into.resize(parents_.size());
    stream.copy(into.data(), parents_.data(), into.size() * sizeof(Vertex), cudaMemcpyDeviceToHost);
  }

 private:
  apps::DeviceArray<Vertex> parents_;
  apps::DeviceArray<Word> visited_;
};

}  // namespace tca::bfs
