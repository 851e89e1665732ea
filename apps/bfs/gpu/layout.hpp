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

// What a search from below asks first of an own vertex.
struct alignas(8) Head {
  Vertex first;  // its first neighbour, if it has any
  Word size;     // how many it has
};

// What goes with the lists of neighbours, which stay as they are in Graph.
struct GpuLayout {
  std::vector<Word> begin;      // of own vertices' neighbours: where each list begins, and the last one ends
  std::vector<Word> own_begin;  // the same of the own ones among any vertex's neighbours
  std::vector<Head> heads;      // of own vertices
  Word longest_list;            // that one warp goes through, and the size of a part
  std::vector<ListPart> parts;  // of those lists of own neighbours that are longer
  std::vector<Word> without;    // a bitmap of own vertices: which have no neighbours
};

GpuLayout lay_out(const Graph& graph);

// So many blocks, each of so many threads.
struct GridSize {
  unsigned blocks, threads;
};
// A warp for each word of own vertices, in small blocks, as far as there is room.
GridSize grid_size(Word own_words, unsigned most_blocks);

// Returns the bytes of a GPU's memory that a rank needs at most.
double bytes_on_gpu(const Problem& problem, int ranks, Style style = Style::packed);

}  // namespace tca::bfs
