#include "bfs/gpu/graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tca/error.hpp"

namespace tca::bfs {

using namespace apps;

namespace {

unsigned most_blocks(World& world) {
  const auto ranks = static_cast<unsigned>(world.ranks_on_device());
  unsigned blocks = 0;
  cuda_ok(blocks_at_once(ranks, blocks), "asking how many blocks run at once");
  blocks = std::ranges::min(world.all_gather(blocks));
  if (blocks == 0)
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks share a GPU; each needs a multiprocessor at least", ranks));
  return blocks;
}

}  // namespace

void check_gpus(World& world, const Problem& problem, Style style) {
  if (problem.scale > largest_scale_on_gpus)
    throw Error(Errc::invalid_argument, fmt::format("scale {} is too large for GPUs, which search up to {}",
                                                    problem.scale, largest_scale_on_gpus));
  std::size_t here = 0, total = 0;
  cuda_ok(cudaMemGetInfo(&here, &total), "asking for the GPU's memory");
  const double needed = bytes_on_gpu(problem, world.size(), style);
  const double free = static_cast<double>(here) / world.ranks_on_device();
  const double least = std::ranges::min(world.all_gather(free));
  if (needed > least)
    throw Error(
        Errc::out_of_memory,
        fmt::format("scale {} needs about {:.1f} GB of each rank's GPU, and one has {:.1f} for a rank; "
                    "take more GPUs, or a smaller scale",
                    problem.scale, needed * 1e-9, least * 1e-9));
}

GpuGraph::GpuGraph(World& world, const Graph& graph) : GpuGraph(world, graph, lay_out(graph)) {}

GpuGraph::GpuGraph(World& world, const Graph& graph, const GpuLayout& layout)
    : graph_(graph),
      begin_(layout.begin),
      own_begin_(layout.own_begin),
      without_(layout.without),
      neighbours_(graph.neighbours.vertex),
      own_neighbours_(graph.own_neighbours.vertex),
      heads_(layout.heads),
      parts_(layout.parts) {
  const Partition& partition = graph.partition;
  const auto own_words = static_cast<Word>(partition.each()) / in_gpu_word;
  arrays_ = {.begin = begin_.data(),
             .neighbours = neighbours_.data(),
             .own_begin = own_begin_.data(),
             .own_neighbours = own_neighbours_.data(),
             .heads = heads_.data(),
             .list_parts = parts_.data(),
             .list_part_count = static_cast<Word>(parts_.size()),
             .longest_list = layout.longest_list,
             .without = without_.data(),
             .own_words = own_words,
             .all_words = own_words * static_cast<Word>(partition.ranks()),
             .first_word = own_words * static_cast<Word>(graph.rank),
             .vertices = partition.vertices(),
             .directed_edges = graph.directed_edges};
  grid_ = grid_size(own_words, most_blocks(world));
}

}  // namespace tca::bfs
