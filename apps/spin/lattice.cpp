#include "spin/lattice.hpp"

#include <algorithm>
#include <cmath>

#include "spin/update.hpp"

namespace tca::spin {

// Pointers to a row's first own cell, in the arrays of its colour and of the other one, and how far its neighbours are.
template <class Real>
struct Lattice<Real>::Row {
  std::array<Real*, 3> spin;
  std::array<const Real*, 3> other;
  std::array<const Real*, 3> forward, backward;  // couplings, by dimension; those at the other colour's sites
  std::int64_t next, previous;                   // along x
  std::int64_t row, plane;

  Vector<Real> field(std::int64_t h) const {
    const Real coupling[] = {forward[2][h], backward[2][h + previous], forward[1][h], backward[1][h - row],
                             forward[0][h], backward[0][h - plane]};
    const auto along = [&](std::size_t c) {
      const Real* const s = other[c] + h;
      const Real spin[] = {s[next], s[previous], s[row], s[-row], s[plane], s[-plane]};
      return field_of(coupling, spin);
    };
    return {along(0), along(1), along(2)};
  }
  // Takes the spins' components apart from the row, so that compilers know that no field changes with them.
  void over_relax(Real* __restrict x, Real* __restrict y, Real* __restrict z, std::int64_t begin,
                  std::int64_t end) const {
    for (std::int64_t h = begin; h < end; ++h) {
      const Vector<Real> updated = over_relaxed({x[h], y[h], z[h]}, field(h));
      x[h] = updated.x;
      y[h] = updated.y;
      z[h] = updated.z;
    }
  }
  Vector<Real> at(std::int64_t h) const { return {spin[0][h], spin[1][h], spin[2][h]}; }
  Vector<Real> neighbour(std::int64_t h) const { return {other[0][h], other[1][h], other[2][h]}; }
};

template <class Real>
Lattice<Real>::Lattice(World& world, const Problem& problem, const Grid& grid)
    : share_(problem, grid, world.rank()),
      betas_(first_betas(problem)),
      spins_{world.window<Real>(share_.elements() * share_.fields(), "even spins"),
             world.window<Real>(share_.elements() * share_.fields(), "odd spins")} {
  for (const std::size_t colour : {0U, 1U}) {
    spins_[colour].write(0, share_.first_spins<Real>(static_cast<int>(colour)));
    for (std::size_t d = 0; d < 3; ++d)
      couplings_[colour][d] = share_.couplings<Real>(static_cast<int>(colour), d);
  }
}

template <class Real>
typename Lattice<Real>::Row Lattice<Real>::row(int colour, int replica, std::int64_t z,
                                               std::int64_t y) const {
  const std::int64_t begin = share_.index(z, y, 0);
  const auto own = static_cast<std::size_t>(colour), other = 1 - own;
  Row row;
  for (std::size_t c = 0; c < 3; ++c) {
    const std::int64_t field = (3 * replica + static_cast<std::int64_t>(c)) * share_.elements();
    row.spin[c] = spins_[own].data() + field + begin;
    row.other[c] = spins_[other].data() + field + begin;
    row.forward[c] = couplings_[own][c].data() + begin;
    row.backward[c] = couplings_[other][c].data() + begin;
  }
  const int shifted = share_.offset(colour, z, y);
  row.next = shifted;
  row.previous = shifted - 1;
  row.row = share_.cells()[2] + 2;
  row.plane = row.row * (share_.cells()[1] + 2);
  return row;
}

template <class Real>
template <class Act>
void Lattice<Real>::each_row(int colour, const Box& box, const Act& update) {
  for (int replica = 0; replica < share_.problem().replicas; ++replica)
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
      const auto site = static_cast<std::uint64_t>(share_.problem().site(share_.site_of(colour, z, y, h)));
      const auto drawn = in<Real>(drawn_spin(
          scaled(betas_[static_cast<std::size_t>(replica)], in<double>(row.field(h))),
          draw(share_.problem().seed, Purpose::heat_bath, site, static_cast<std::uint32_t>(replica), sweep)));
      row.spin[0][h] = drawn.x;
      row.spin[1][h] = drawn.y;
      row.spin[2][h] = drawn.z;
    }
  });
}

template <class Real>
void Lattice<Real>::wrap(int colour) {
  const Extents size{share_.cells()[0] + 2, share_.cells()[1] + 2, share_.cells()[2] + 2},
      step{size[1] * size[2], size[2], 1};
  for (std::size_t d = 0; d < 3; ++d) {
    if (share_.is_cut(d)) continue;
    const std::size_t outer = d == 0 ? 1 : 0, inner = d == 2 ? 1 : 2;
    for (int field = 0; field < share_.fields(); ++field) {
      Real* const first =
          spins_[static_cast<std::size_t>(colour)].data() + field * share_.elements() + step[d];
      const std::int64_t round = share_.cells()[d] * step[d];
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
    for (std::int64_t z = 0; z < share_.cells()[0]; ++z)
      for (std::int64_t y = 0; y < share_.cells()[1]; ++y) add_bonds(colour, z, y, sums);
  return sums;
}

template <class Real>
void Lattice<Real>::add_bonds(int colour, std::int64_t z, std::int64_t y, Sums& sums) const {
  std::array<Row, most_replicas> rows;
  std::array<double, most_replicas> along{};
  const auto replicas = static_cast<std::size_t>(share_.problem().replicas);
  for (std::size_t r = 0; r < replicas; ++r) rows[r] = row(colour, static_cast<int>(r), z, y);
  const std::array<std::int64_t, 3> step{rows[0].plane, rows[0].row, rows[0].next};
  for (std::int64_t h = 0; h < share_.cells()[2]; ++h) {
    for (std::size_t d = 0; d < 3; ++d) {
      for (std::size_t a = 0; a < replicas; ++a) {
        along[a] = dot(in<double>(rows[a].at(h)), in<double>(rows[a].neighbour(h + step[d])));
        const double energy = -static_cast<double>(rows[a].forward[d][h]) * along[a];
        sums.energy += energy;
        sums.energies[a] += coarse(energy);
        sums.alike += along[a] * along[a];
        for (std::size_t b = 0; b < a; ++b) sums.shared += along[a] * along[b];
      }
    }
    for (std::size_t a = 0; a < replicas; ++a) {
      const Vector<double> spin = in<double>(rows[a].at(h));
      sums.off_unit = std::max(sums.off_unit, std::abs(dot(spin, spin) - 1));
    }
  }
}

template <class Real>
Vector<Real> Lattice<Real>::spin(int colour, const Extents& cell, int replica) const {
  return row(colour, replica, cell[0], cell[1]).at(cell[2]);
}

template class Lattice<float>;
template class Lattice<double>;

}  // namespace tca::spin
