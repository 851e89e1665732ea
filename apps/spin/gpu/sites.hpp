// A rank's sites as kernels see them: plain numbers and device pointers, passed to kernels by value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "spin/share.hpp"
#include "spin/update.hpp"
#include "tca/device/produced.hpp"
#include "tca/device/walk.hpp"

namespace tca::spin {

using device::Divisor;
using device::Word;

// A cell of a colour, in one replica.
struct Cell {
  Word replica, z, y, h;
};

// A rank's cells of a colour in all replicas, numbered box by box, those of the shell first. Neighbours along x have numbers
// side by side.
struct Cells {
  struct Numbered {
    Word begin[3];
    Divisor box, plane, row;  // how many cells of a replica each has
    Word end;                 // one past its last number
  };
  static constexpr Word most = 7;
  Numbered boxes[most];
  Word count = 0;  // of boxes
  Word shell = 0, all = 0;

  TCA_DEVICE Cell operator[](Word number) const {
    Word which = 0, first = 0;
    while (number >= boxes[which].end) first = boxes[which++].end;
    const Numbered& in = boxes[which];
    Word rest = number - first;
    const Word replica = in.box.divide(rest);
    rest -= replica * in.box.value;
    const Word z = in.plane.divide(rest);
    rest -= z * in.plane.value;
    const Word y = in.row.divide(rest);
    return {replica, in.begin[0] + z, in.begin[1] + y, in.begin[2] + rest - y * in.row.value};
  }
};

// Along x, y and z, the dimensions of a Neighbour, but arrays by dimension begin with z.
TCA_DEVICE constexpr int dim_of(int neighbour) { return 2 - neighbour / 2; }
TCA_DEVICE constexpr bool is_next(int neighbour) { return neighbour % 2 == 0; }

template <class Real>
struct Sites {
  Real* spins[2];
  const Real* couplings[2][3];  // by colour and dimension: of the bond to the next site
  std::size_t elements;         // of a field
  Word cells[3];
  Word pitch[3];  // to the next cell
  Word first[3];  // this rank's first cell among all
  Word extents[3];
  device::Flag cut[3];  // where cells beyond the last are another rank's, and ghosts here
  Word replicas;
  Word tempered;  // how many of these exchange their temperatures: all or none
  double beta[most_replicas];
  std::uint64_t seed;

  TCA_DEVICE Word index(const Cell& cell) const {
    return (cell.z + 1) * pitch[0] + (cell.y + 1) * pitch[1] + cell.h + 1;
  }
  // Whether the cell's site lies at an odd x.
  TCA_DEVICE Word odd(Word colour, const Cell& cell) const {
    return (first[0] + cell.z + first[1] + cell.y + colour) & 1;
  }
  TCA_DEVICE std::uint64_t site(const Cell& cell, Word odd) const {
    const std::uint64_t row = std::uint64_t{first[0] + cell.z} * extents[1] + first[1] + cell.y;
    return row * extents[2] + 2 * (first[2] + cell.h) + odd;
  }

  // Whether the cell is the last that this rank has on the side of a neighbour.
  TCA_DEVICE bool is_last(const Cell& cell, Word odd, int neighbour) const {
    const int dim = dim_of(neighbour);
    const Word at = dim == 0 ? cell.z : dim == 1 ? cell.y : cell.h;
    if (dim == 2 && (odd != 0) != is_next(neighbour)) return false;  // the neighbour has the same h
    return at == (is_next(neighbour) ? cells[dim] - 1 : 0);
  }
  TCA_DEVICE bool is_ghost(const Cell& cell, Word odd, int neighbour) const {
    return cut[dim_of(neighbour)] != 0 && is_last(cell, odd, neighbour);
  }

  // The place in a field of a cell's neighbour, of the other colour. Where the rank has both ends of a dimension,
  // neighbours of the last cells are the first ones.
  TCA_DEVICE Word neighbour(const Cell& cell, Word odd, int neighbour) const {
    const int dim = dim_of(neighbour);
    const Word at = index(cell);
    if (dim == 2 && (odd != 0) != is_next(neighbour)) return at;
    const Word step = pitch[dim];
    const Word round = cut[dim] == 0 && is_last(cell, odd, neighbour) ? cells[dim] * step : 0;
    return is_next(neighbour) ? at + step - round : at - step + round;
  }

  // The number of a cell in its face on the side of a neighbour, and of that neighbour in the face there.
  TCA_DEVICE Word in_face(const Cell& cell, int neighbour) const {
    const int dim = dim_of(neighbour);
    const Word in_replica = dim == 0   ? cell.y * cells[2] + cell.h
                            : dim == 1 ? cell.z * cells[2] + cell.h
                                       : cell.z * cells[1] + cell.y;
    return cell.replica * face(dim) + in_replica;
  }
  TCA_DEVICE Word face(int dim) const {
    return dim == 0 ? cells[1] * cells[2] : dim == 1 ? cells[0] * cells[2] : cells[0] * cells[1];
  }

  TCA_DEVICE Real* of_replica(Word colour, Word replica) const {
    return spins[colour] + std::size_t{3} * replica * elements;
  }
};

// Without the pointers.
template <class Real>
Sites<Real> sites_of(const Share& share);
// The cells of some boxes, at most Cells::most, all of them shell.
Cells numbered(std::span<const Box> boxes, int replicas);
// With `overlap` the shell is the share's, and otherwise all cells.
Cells cells_of(const Share& share, bool overlap);

template <class Real>
TCA_DEVICE Vector<Real> load(const Real* from, std::size_t pitch) {
  return {from[0], from[pitch], from[2 * pitch]};
}
template <class Real>
TCA_DEVICE void store(Real* to, std::size_t pitch, const Vector<Real>& spin) {
  to[0] = spin.x;
  to[pitch] = spin.y;
  to[2 * pitch] = spin.z;
}

// What an update of a cell reads.
template <class Real>
struct Around {
  Real coupling[neighbours];
  Real spin[3][neighbours];  // by component

  TCA_DEVICE void load(const Sites<Real>& sites, Word colour, const Cell& cell, Word odd) {
    const Real* const others = sites.of_replica(1 - colour, cell.replica);
    TCA_UNROLL
    for (int n = 0; n < neighbours; ++n) {
      const Word at = sites.neighbour(cell, odd, n);
      coupling[n] = is_next(n) ? sites.couplings[colour][dim_of(n)][sites.index(cell)]
                               : sites.couplings[1 - colour][dim_of(n)][at];
      TCA_UNROLL
      for (int c = 0; c < 3; ++c) spin[c][n] = others[static_cast<std::size_t>(c) * sites.elements + at];
    }
  }
  TCA_DEVICE void set(int n, const Vector<Real>& ghost) {
    spin[0][n] = ghost.x;
    spin[1][n] = ghost.y;
    spin[2][n] = ghost.z;
  }
  TCA_DEVICE Vector<Real> field() const {
    return {field_of(coupling, spin[0]), field_of(coupling, spin[1]), field_of(coupling, spin[2])};
  }
};

template <Update update, class Real>
TCA_DEVICE Vector<Real> updated(const Sites<Real>& sites, const Cell& cell, Word odd, Word sweep,
                                const Vector<Real>& own, const Vector<Real>& field) {
  if constexpr (update == Update::over_relaxation) {
    return over_relaxed(own, field);
  } else {
    return in<Real>(
        drawn_spin(scaled(sites.beta[cell.replica], in<double>(field)),
                   draw(sites.seed, Purpose::heat_bath, sites.site(cell, odd), cell.replica, sweep)));
  }
}

// How a rank's last cells and the neighbours' reach each other in a kernel, by Neighbour. A bond between two ranks has an
// element each way, which the thread that updates its end writes, and the thread that updates the other end reads.
template <class Real>
struct Seams {
  DeviceProducedPut<Vector<Real>> to[neighbours];
  DeviceProducedArrival<Vector<Real>> from[neighbours];
};

}  // namespace tca::spin
