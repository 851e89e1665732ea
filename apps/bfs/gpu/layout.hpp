// A rank's graph as it lies in the memory of its GPU: in bitmaps of words of 32 bits, one a warp, and lists
// that begin at numbers of 32 bits.
#pragma once

#include <cstdint>
#include <vector>

#include "bfs/graph/graph.hpp"

namespace tca::bfs {

using Word = std::uint32_t;

// Numbers of 32 bits say where lists begin, and how many vertices a level has reached in 28 bits.
inline constexpr int largest_scale_on_gpus = 27;

inline constexpr Word in_gpu_word = 32;  // vertices

// A part of a long list: the grid goes through a list of many neighbours together.
struct ListPart {
  Vertex vertex;  // whose list
  Word first, size;
};
inline constexpr Word longest_list = 256;  // that one warp goes through, and the size of a part

// As Graph has them.
struct Layout {
  std::vector<Word> begin;             // for each own vertex, and the end: its neighbours
  std::vector<Vertex> neighbours;      // with the most neighbours first
  std::vector<Word> own_begin;         // for each vertex, and the end: the own ones among its neighbours
  std::vector<Vertex> own_neighbours;  // as own vertices
  std::vector<ListPart> parts;         // of those lists of own vertices that are longer than `longest_list`
  std::vector<Word> without;           // a bitmap of own vertices: which have no neighbours
};

Layout lay_out(const Graph& graph);

// Returns the bytes of a GPU's memory that a rank needs at most.
double bytes_on_gpu(const Problem& problem, int ranks);

}  // namespace tca::bfs
