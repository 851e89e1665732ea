#include "spin/lattice.hpp"

#include <algorithm>
#include <cmath>

#include "spin/draws.hpp"
#include "spin/elementary.hpp"

namespace tca::spin {

namespace {

template <class Real>
using Vector = std::array<Real, 3>;

template <class Real>
Real dot(const Vector<Real>& a, const Vector<Real>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class Real>
Vector<double> in_double(const Vector<Real>& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}

Vector<double> scaled(double factor, const Vector<double>& v) {
  return {factor * v[0], factor * v[1], factor * v[2]};
}

// A direction at an angle to the z axis, turned by a part of a full turn around it.
Vector<double> direction(double cosine, double turn) {
  const double sine = std::sqrt(std::max(0.0, 1 - cosine * cosine));
  const Turned around = exact_turn(turn);
  return {sine * around.cosine, sine * around.sine, cosine};
}

// Turns a direction so that the z axis becomes `axis`, of length 1 (T. Duff et al., "Building an orthonormal basis,
// revisited", JCGT 6 (2017)).
Vector<double> turned_to(const Vector<double>& axis, const Vector<double>& v) {
  const double sign = std::copysign(1.0, axis[2]), a = -1 / (sign + axis[2]), b = axis[0] * axis[1] * a;
  const Vector<double> first{1 + sign * axis[0] * axis[0] * a, sign * b, -sign * axis[0]};
  const Vector<double> second{b, sign + axis[1] * axis[1] * a, -axis[1]};
  Vector<double> out{};
  for (std::size_t c = 0; c < 3; ++c) out[c] = v[0] * first[c] + v[1] * second[c] + v[2] * axis[c];
  return out;
}

// Draws a spin in a field that it follows with the weight exp(field.spin). (Its component along the field by inversion: J. A.
// Olive, A. P. Young and D. Sherrington, Phys. Rev. B 34 (1986) 6341.)
Vector<double> drawn_spin(const Vector<double>& field, const Uniforms& u) {
  constexpr double none = 1e-6;  // below, the distribution is flat to the resolution of what is drawn
  const double strength = std::sqrt(dot(field, field));
  if (strength < none) return direction(2 * u.first - 1, u.second);
  const double along = 1 + exact_log(1 - u.first * (1 - exact_exp(-2 * strength))) / strength;
  return turned_to(scaled(1 / strength, field), direction(std::clamp(along, -1.0, 1.0), u.second));
}

Extents cells_of_a_colour(const Problem& problem) {
  return {problem.extents[0], problem.extents[1], problem.extents[2] / 2};
}

// A rank's cells among those of a colour.
Box cells_of(const Problem& problem, const Grid& grid, int rank) {
  const Extents all = cells_of_a_colour(problem);
  Box own{};
  for (int d = 0; d < 3; ++d) {
    const auto dim = static_cast<std::size_t>(d);
    const Range part = grid.part(rank, d, all[dim]);
    own.begin[dim] = part.begin;
    own.end[dim] = part.begin + part.size;
  }
  return own;
}

Division divide(const Extents& cells, const Grid& grid) {
  Division division{.shell = {}, .core = {{0, 0, 0}, cells}};
  Box& core = division.core;
  const auto take = [&](std::size_t d, std::int64_t begin, std::int64_t end) {
    Box slab = core;
    slab.begin[d] = begin;
    slab.end[d] = end;
    if (!slab.empty()) division.shell.push_back(slab);
  };
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid.extent(static_cast<int>(d)) == 1) continue;
    take(d, core.begin[d], core.begin[d] + 1);
    ++core.begin[d];
    if (core.begin[d] < core.end[d]) take(d, core.end[d] - 1, core.end[d]);
    --core.end[d];
  }
  return division;
}

}  // namespace

Grid make_grid(const Problem& problem, int ranks, const std::vector<int>& shape) {
  const Extents all = cells_of_a_colour(problem);
  const Grid chosen(ranks, shape, {}, all);
  std::vector<int> extents;
  std::vector<bool> periodic;
  for (int d = 0; d < 3; ++d) {
    extents.push_back(chosen.extent(d));
    periodic.push_back(chosen.extent(d) > 1);
  }
  return {ranks, extents, periodic};
}

// Pointers to a row's first own cell, in the arrays of its colour and of the other one, and how far its neighbours are.
template <class Real>
struct Lattice<Real>::Row {
  std::array<Real*, 3> spin;
  std::array<const Real*, 3> other;
  std::array<const Real*, 3> forward, backward;  // couplings, by dimension; those at the other colour's sites
  std::int64_t next, previous;                   // along x
  std::int64_t row, plane;

  Vector<Real> field(std::int64_t h) const {
    Vector<Real> sum;
    for (std::size_t c = 0; c < 3; ++c) {
      const Real* const s = other[c] + h;
      sum[c] = forward[2][h] * s[next] + backward[2][h + previous] * s[previous] + forward[1][h] * s[row] +
               backward[1][h - row] * s[-row] + forward[0][h] * s[plane] + backward[0][h - plane] * s[-plane];
    }
    return sum;
  }
  // Takes the spins' components apart from the row, so that compilers know that no field changes with them.
  void over_relax(Real* __restrict x, Real* __restrict y, Real* __restrict z, std::int64_t begin,
                  std::int64_t end) const {
    for (std::int64_t h = begin; h < end; ++h) {
      const Vector<Real> around = field(h), own{x[h], y[h], z[h]};
      const Real square = dot(around, around), twice = 2 * dot(own, around) / square;
      const bool is_felt = square > 0;  // any direction will do where there is no field
      x[h] = is_felt ? twice * around[0] - own[0] : own[0];
      y[h] = is_felt ? twice * around[1] - own[1] : own[1];
      z[h] = is_felt ? twice * around[2] - own[2] : own[2];
    }
  }
  Vector<Real> at(std::int64_t h) const { return {spin[0][h], spin[1][h], spin[2][h]}; }
  Vector<Real> neighbour(std::int64_t h) const { return {other[0][h], other[1][h], other[2][h]}; }
};

template <class Real>
Lattice<Real>::Lattice(World& world, const Problem& problem, const Grid& grid)
    : problem_(problem),
      grid_(grid),
      first_(cells_of(problem, grid, world.rank()).begin),
      cells_(cells_of(problem, grid, world.rank()).size()),
      elements_((cells_[0] + 2) * (cells_[1] + 2) * (cells_[2] + 2)),
      division_(divide(cells_, grid)),
      spins_{world.window<Real>(elements_ * fields(), "even spins"),
             world.window<Real>(elements_ * fields(), "odd spins")} {
  draw_couplings();
  draw_spins();
}

template <class Real>
Extents Lattice<Real>::site_of(int colour, std::int64_t z, std::int64_t y, std::int64_t h) const {
  return {first_[0] + z, first_[1] + y, 2 * (first_[2] + h) + offset(colour, z, y)};
}

template <class Real>
void Lattice<Real>::draw_couplings() {
  for (int colour = 0; colour < 2; ++colour) {
    for (std::size_t d = 0; d < 3; ++d) {
      std::vector<Real>& couplings = couplings_[static_cast<std::size_t>(colour)][d];
      couplings.resize(static_cast<std::size_t>(elements_));
      for (std::int64_t z = -1; z < cells_[0]; ++z)
        for (std::int64_t y = -1; y < cells_[1]; ++y)
          for (std::int64_t h = -1; h < cells_[2]; ++h) {
            Extents at = site_of(colour, z, y, h);
            for (std::size_t e = 0; e < 3; ++e) at[e] += problem_.extents[e];  // a ghost's may be below 0
            couplings[static_cast<std::size_t>(index(z, y, h))] = static_cast<Real>(problem_.coupling(at, d));
          }
    }
  }
}

template <class Real>
void Lattice<Real>::draw_spins() {
  for (int colour = 0; colour < 2; ++colour) {
    each_row(colour, whole(), [&](const Row& row, int replica, std::int64_t z, std::int64_t y) {
      for (std::int64_t h = 0; h < cells_[2]; ++h) {
        const auto site = static_cast<std::uint64_t>(problem_.site(site_of(colour, z, y, h)));
        const Uniforms u =
            draw(problem_.seed, Purpose::beginning, site, static_cast<std::uint32_t>(replica), 0);
        const Vector<double> drawn = direction(2 * u.first - 1, u.second);
        for (std::size_t c = 0; c < 3; ++c) row.spin[c][h] = static_cast<Real>(drawn[c]);
      }
    });
  }
}

template <class Real>
typename Lattice<Real>::Row Lattice<Real>::row(int colour, int replica, std::int64_t z,
                                               std::int64_t y) const {
  const std::int64_t begin = index(z, y, 0);
  const auto own = static_cast<std::size_t>(colour), other = 1 - own;
  Row row;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::int64_t field = (3 * replica + static_cast<std::int64_t>(c)) * elements_;
    row.spin[c] = spins_[own].data() + field + begin;
    row.other[c] = spins_[other].data() + field + begin;
    row.forward[c] = couplings_[own][c].data() + begin;
    row.backward[c] = couplings_[other][c].data() + begin;
  }
  const int shifted = offset(colour, z, y);
  row.next = shifted;
  row.previous = shifted - 1;
  row.row = cells_[2] + 2;
  row.plane = row.row * (cells_[1] + 2);
  return row;
}

template <class Real>
template <class Update>
void Lattice<Real>::each_row(int colour, const Box& box, const Update& update) {
  for (int replica = 0; replica < problem_.replicas; ++replica)
    for (std::int64_t z = box.begin[0]; z < box.end[0]; ++z)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
        update(row(colour, replica, z, y), replica, z, y);
}

template <class Real>
void Lattice<Real>::over_relax(int colour, const Box& box) {
  each_row(colour, box, [&](const Row& row, int, std::int64_t, std::int64_t) {
    row.over_relax(row.spin[0], row.spin[1], row.spin[2], box.begin[2], box.end[2]);
  });
}

template <class Real>
void Lattice<Real>::heat_bath(int colour, const Box& box, std::uint32_t sweep) {
  each_row(colour, box, [&](const Row& row, int replica, std::int64_t z, std::int64_t y) {
    for (std::int64_t h = box.begin[2]; h < box.end[2]; ++h) {
      const auto site = static_cast<std::uint64_t>(problem_.site(site_of(colour, z, y, h)));
      const Vector<double> drawn = drawn_spin(
          scaled(problem_.beta, in_double(row.field(h))),
          draw(problem_.seed, Purpose::heat_bath, site, static_cast<std::uint32_t>(replica), sweep));
      for (std::size_t c = 0; c < 3; ++c) row.spin[c][h] = static_cast<Real>(drawn[c]);
    }
  });
}

template <class Real>
void Lattice<Real>::wrap(int colour) {
  const Extents size{cells_[0] + 2, cells_[1] + 2, cells_[2] + 2}, step{size[1] * size[2], size[2], 1};
  for (std::size_t d = 0; d < 3; ++d) {
    if (grid_.extent(static_cast<int>(d)) > 1) continue;
    const std::size_t outer = d == 0 ? 1 : 0, inner = d == 2 ? 1 : 2;
    for (int field = 0; field < fields(); ++field) {
      Real* const first = spins_[static_cast<std::size_t>(colour)].data() + field * elements_ + step[d];
      const std::int64_t round = cells_[d] * step[d];
      for (std::int64_t i = 0; i < size[outer]; ++i) {
        for (std::int64_t j = 0; j < size[inner]; ++j) {
          Real* const at = first + i * step[outer] + j * step[inner];
          at[-step[d]] = at[round - step[d]];
          at[round] = at[0];
        }
      }
    }
  }
}

template <class Real>
Sums Lattice<Real>::sums() const {
  Sums sums;
  for (int colour = 0; colour < 2; ++colour)
    for (std::int64_t z = 0; z < cells_[0]; ++z)
      for (std::int64_t y = 0; y < cells_[1]; ++y) add_bonds(colour, z, y, sums);
  return sums;
}

template <class Real>
void Lattice<Real>::add_bonds(int colour, std::int64_t z, std::int64_t y, Sums& sums) const {
  std::array<Row, most_replicas> rows;
  std::array<double, most_replicas> along{};
  const auto replicas = static_cast<std::size_t>(problem_.replicas);
  for (std::size_t r = 0; r < replicas; ++r) rows[r] = row(colour, static_cast<int>(r), z, y);
  const std::array<std::int64_t, 3> step{rows[0].plane, rows[0].row, rows[0].next};
  for (std::int64_t h = 0; h < cells_[2]; ++h) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t a = 0; a < replicas; ++a) {
        along[a] = dot(in_double(rows[a].at(h)), in_double(rows[a].neighbour(h + step[d])));
        sums.energy -= static_cast<double>(rows[a].forward[d][h]) * along[a];
        sums.alike += along[a] * along[a];
        for (std::size_t b = 0; b < a; ++b) sums.shared += along[a] * along[b];
      }
    }
    for (std::size_t a = 0; a < replicas; ++a) {
      const Vector<double> spin = in_double(rows[a].at(h));
      sums.off_unit = std::max(sums.off_unit, std::abs(dot(spin, spin) - 1));
    }
  }
}

template <class Real>
std::array<Real, 3> Lattice<Real>::spin(int colour, const Extents& cell, int replica) const {
  return row(colour, replica, cell[0], cell[1]).at(cell[2]);
}

template class Lattice<float>;
template class Lattice<double>;

}  // namespace tca::spin
