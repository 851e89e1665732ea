// What kernels are told of a rank's plasma.
#pragma once

#include <cstdint>

#include "pic/images.hpp"
#include "pic/particles.hpp"
#include "pic/push_one.hpp"
#include "pic/yee.hpp"
#include "tca/device/counted.hpp"

namespace tca::pic {

inline constexpr int most_neighbours = 26;

// This rank's part of what is known after a step; see Sample. Kernels add to it, or take the larger value.
struct Sums {
  double twice_field_energy, kinetic_energy, sine, cosine;
  unsigned long long
      off_gauss;  // the bits of a number that is not negative, of which larger ones have larger bits
  unsigned long long particles, absorbed, rounds;
};

// An antenna: what it emits in each step, and at each row of own cells, y fastest.
struct Antenna {
  const double *emitted, *profile;
  std::int64_t x;  // an own cell, or none
};

// Gauss's law; see Solver.
template <class Number>
struct Gauss {
  Number* charge;
  const Number* ions;
  std::int64_t unchecked[3];
};

template <class Number>
struct OnGpu {
  Medium<Number> medium;
  Lattice lattice;
  Vec<double>*e, *b;  // those of the medium
  std::int64_t elements, origin;
  OwnCells own;
  int dims;
  bool wall_below, wall_above;
  Antenna antenna;
  Gauss<Number> gauss;
  const double *sine, *cosine;  // of the deck's wave, by own cells along x
  bool is_vacuum;

  Rows rows, spare;   // particles, and as much memory for sorting
  unsigned* used;     // how many entries of the rows are in use; those in cell -1 are gaps
  unsigned capacity;  // of the rows
  unsigned* begin;    // by cell, for sorting; one more than there are elements
  unsigned* failed;   // in pinned memory: set where particles did not fit

  Way ways[27];
  Traveller* out;       // a queue of `room` to each neighbour
  const Traveller* in;  // and from each
  unsigned* leaving;    // by neighbour: how many want into its queue
  unsigned room;
  int neighbours;
  // Of particles that did not fit into their queues, and still lie in ghosts: which they are, and how many.
  unsigned *late, *lates;
  unsigned* more;  // in pinned memory: set where the ranks need a further round

  unsigned long long* absorbed;  // by walls, since the beginning
  unsigned long long* step;      // which comes next
  Sums* sums;                    // of one step after the other
};

// By which particles travel.
struct QueueEnds {
  DeviceCountedPut to[most_neighbours];
  DeviceCountedArrival from[most_neighbours];
  double*
      unfinished;  // 1 where this rank needs a further round, and then how many do; null where there are none
};

}  // namespace tca::pic
