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
  const Head* heads;
  const ListPart* list_parts;
  Word list_part_count, longest_list;
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

// Two numbers of 32 bits that are stored and loaded as one. The second says which search they are of.
struct Numbered {
  static TCA_DEVICE std::uint64_t make(Word value, Word search) {
    return std::uint64_t{search} << 32 | value;
  }
  static TCA_DEVICE Word value(std::uint64_t bits) { return static_cast<Word>(bits); }
  static TCA_DEVICE Word search(std::uint64_t bits) { return static_cast<Word>(bits >> 32); }
};

// When the first block was through with its part of a level, and when with the level's barrier, behind the root.
struct LevelEnds {
  Word searched_ns, ended_ns;
  Word vertices;  // that the level has reached, on all ranks
  Word is_from_below;
};
inline constexpr Word most_timed_levels = 16;  // of a search; those of the benchmark have up to 9

// In host memory, by which a kernel and its host talk: each number is a Numbered.
struct Talk {
  std::uint64_t order;   // the root, or `nowhere` to leave; stored by the host
  std::uint64_t awaits;  // whose order the kernel waits for; its value is of no matter
  std::uint64_t levels;  // that a search has found below its root
  std::uint64_t steps;   // how many levels it has gone through, of which the last may have found nothing
  std::uint64_t ns;      // from the root to the end of the search, less than 4 s
  LevelEnds ends[most_timed_levels];  // there when the kernel waits for the next order, or has ended
};

// Searches in one kernel, which is launched cooperatively.
struct Run {
  GraphArrays graph;
  // On every rank three bitmaps of all vertices, of which the levels use one after the other: the frontier of
  // a level, the next one, and one that is cleared meanwhile for the level after. So nothing waits for a
  // bitmap to be cleared, and none is written to that another rank still reads.
  DeviceWindow<Word> frontiers;
  Word first_frontier;  // where the first search begins, 0 to 2: on all ranks alike
  // Searches take turns: what one has found stays while the other's vertices are made ready, behind it.
  OwnVertices own[2];
  DeviceTeam team;
  Word search;  // the number of the first search
  bool stays;   // to wait for the order of each search, until one says to leave; or for a single search
  Vertex root;  // of the single search
  Talk* talk;
  std::uint64_t* order;  // in this GPU's memory: the first block hands the order on to the others
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

// A level with the messages of the paper, from below.
struct PaperStep {
  GraphArrays graph;
  std::int32_t* frontier;  // of all vertices: those with the stamp of the level
  std::int32_t* next;      // of own vertices: those that are found get the next stamp
  // Stamps never come again, not even in further searches, so nothing has to be cleared.
  std::int32_t* stamp;
  std::int32_t* flag;  // whether any have been found
  std::int32_t* told;  // the same in host memory
  OwnVertices own;
};
cudaError_t launch_begin(const PaperStep& step, Vertex root, cudaStream_t stream);
cudaError_t launch_level(const PaperStep& step, const GridSize& size, cudaStream_t stream);
// Writes the parents as the integers that TREE brings.
cudaError_t launch_widen(const Vertex* parents, std::int64_t* tree, Word count, cudaStream_t stream);

}  // namespace tca::bfs
