// What one kernel for the whole benchmark is given, however its blocks meet, and where a block has what it uses.
#pragma once

#include "cg/gpu/tiles.hpp"

namespace tca::cg {

inline constexpr Word most_sums = 4;  // at a time
inline constexpr Word own_vectors = 5;

// Where in a block's shared memory things are, in bytes; `nowhere` for what has to be in device memory.
struct Room {
  static constexpr Word nowhere = ~Word{0};
  Word residual = nowhere;  // behind the operand, which comes first; only in the merged order
  Word own = nowhere;
  Word slices = nowhere, row_of = nowhere;
  Word value = 0, column = 0;
  Word kept_steps = 0;  // of the tile's steps the first ones, whose elements are here
  Word bytes = 0;
};

// Throws Error{invalid_argument} where not even the operand has room in so many bytes.
Room plan_room(const Tiles::Most& most, const Tiling& tiling, bool merged, std::size_t bytes);
// Returns how many elements of a tile's vectors have none.
std::uint64_t spill_of(const Tiles::Most& most, const Room& room, bool merged);

// What a step of the benchmark found.
struct Found {
  double xz;       // x.z
  double squares;  // of x - A z
};

struct Run {
  TileArrays matrix;
  double* spilled = nullptr;  // what does not fit into shared memory, `spill` of each tile
  std::uint64_t spill = 0;
  std::uint64_t n = 0;     // the length of a vector
  Found* found = nullptr;  // one a step
  Room room;
  Word first_row = 0;  // where the rank's elements are in what is published
  Word most_own = 0;   // of a tile
  Word steps = 0;      // of the benchmark
  device::Flag merged = 0;
};

// The vectors of a block: its own elements, and copies for its tile's columns.
struct TileVectors {
  double *x, *z, *r, *p, *q;
  double* operand;
  double* residual;

  static TCA_DEVICE TileVectors of(const Run& run, Word block, std::byte* shared) {
    double* const spilled = run.spilled + block * run.spill;
    const auto at = [&](Word place, double* otherwise) {
      return place == Room::nowhere ? otherwise : reinterpret_cast<double*>(shared + place);
    };
    double* const own = at(run.room.own, spilled);
    const std::uint64_t of_own = run.room.own == Room::nowhere ? own_vectors * run.most_own : 0;
    const Word most = run.most_own;
    return {own,
            own + most,
            own + 2 * most,
            own + 3 * most,
            own + 4 * most,
            reinterpret_cast<double*>(shared),
            at(run.room.residual, spilled + of_own)};
  }
};

}  // namespace tca::cg
