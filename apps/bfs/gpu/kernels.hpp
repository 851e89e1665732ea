// The host's interface to the kernels. Pointers are to device memory. No function here waits for the device.
#pragma once

#include <cuda_runtime.h>

#include "bfs/direction.hpp"
#include "bfs/gpu/layout.hpp"
#include "tca/device/team.hpp"
#include "tca/device/window.hpp"

namespace tca::bfs {

struct GraphArrays {
  const Word* begin;
  const Vertex* neighbours;
  const Word* own_begin;
  const Vertex* own_neighbours;
  const ListPart* list_parts;
  Word list_part_count;
  const Word* without;
  Word own_words, all_words;  // of bitmaps
  Word first_word;            // of them that is this rank's
  std::int64_t vertices, directed_edges;
};

// What a search knows of own vertices.
struct OwnVertices {
  Vertex* parents;
  Word* visited;  // a bitmap; those without neighbours are in it
};

// Returns how many blocks a rank may launch when `ranks` share the GPU, so that all of them are resident.
cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks);

// What a kernel that searches by itself has found.
struct Found {
  Word levels;  // below the root
  Word ended;   // whether it has searched to the end
  std::uint64_t ns;
};

// A search in one kernel, which is launched cooperatively.
struct Run {
  GraphArrays graph;
  // On every rank three bitmaps of all vertices, of which the levels use one after the other: the frontier of
  // a level, the next one, and one that is cleared meanwhile for the level after. So nothing waits for a
  // bitmap to be cleared, and none is written to that another rank still reads.
  DeviceWindow<Word> frontiers;
  Word first_frontier;  // where the search begins: on all ranks alike
  // What the search finds, and what it makes ready for the next one, beside its first level.
  OwnVertices own, next_own;
  DeviceTeam team;
  Vertex root;
  Found* found;  // in host memory
};
cudaError_t launch_make_ready(const GraphArrays& graph, const OwnVertices& own, cudaStream_t stream);
cudaError_t launch_run(const Run& run, const GridSize& size, cudaStream_t stream);

// The same level by level, as kernels between which ranks exchange.

// What all ranks know of a search.
struct Progressed {
  Direction direction;
  Word levels;  // below the root
  Word ended;
};

struct Step {
  GraphArrays graph;
  Word* frontier;           // of all vertices
  DeviceWindow<Word> next;  // the same, of which the own ones are found: only this rank's
  std::uint64_t* reached;   // by each rank, packed (see level.cuh)
  Word rank, ranks;
  OwnVertices own;
  Progressed* progressed;
  Progressed* told;  // the same in host memory
};
cudaError_t launch_begin(const Step& step, Vertex root, cudaStream_t stream);
cudaError_t launch_level(const Step& step, const GridSize& size, cudaStream_t stream);
// Once all ranks' reached vertices are known.
cudaError_t launch_conclude(const Step& step, cudaStream_t stream);

}  // namespace tca::bfs
