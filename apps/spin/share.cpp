#include "spin/share.hpp"

#include "spin/update.hpp"

namespace tca::spin {

namespace {

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

Share::Share(const Problem& problem, const Grid& grid, int rank)
    : problem_(problem),
      grid_(grid),
      first_(cells_of(problem, grid, rank).begin),
      cells_(cells_of(problem, grid, rank).size()),
      elements_((cells_[0] + 2) * (cells_[1] + 2) * (cells_[2] + 2)),
      division_(divide(cells_, grid)) {}

template <class Visit>
void Share::each_cell(int colour, const Visit& visit) const {
  for (std::int64_t z = -1; z <= cells_[0]; ++z)
    for (std::int64_t y = -1; y <= cells_[1]; ++y)
      for (std::int64_t h = -1; h <= cells_[2]; ++h) {
        Extents at = site_of(colour, z, y, h);
        for (std::size_t d = 0; d < 3; ++d) at[d] = (at[d] + problem_.extents[d]) % problem_.extents[d];
        visit(at, index(z, y, h));
      }
}

template <class Real>
std::vector<Real> Share::couplings(int colour, std::size_t dim) const {
  std::vector<Real> all(static_cast<std::size_t>(elements_));
  each_cell(colour, [&](const Extents& at, std::int64_t place) {
    all[static_cast<std::size_t>(place)] = static_cast<Real>(problem_.coupling(at, dim));
  });
  return all;
}

template <class Real>
std::vector<Real> Share::first_spins(int colour) const {
  std::vector<Real> all(static_cast<std::size_t>(elements_ * fields()));
  for (int replica = 0; replica < problem_.replicas; ++replica)
    each_cell(colour, [&](const Extents& at, std::int64_t place) {
      const Uniforms u =
          draw(problem_.seed, Purpose::beginning, static_cast<std::uint64_t>(problem_.site(at)),
               static_cast<std::uint32_t>(replica), 0);
      const auto drawn = in<Real>(direction(2 * u.first - 1, u.second));
      Real* const to = all.data() + 3 * replica * elements_ + place;
      to[0] = drawn.x;
      to[elements_] = drawn.y;
      to[2 * elements_] = drawn.z;
    });
  return all;
}

template std::vector<float> Share::couplings(int, std::size_t) const;
template std::vector<double> Share::couplings(int, std::size_t) const;
template std::vector<float> Share::first_spins(int) const;
template std::vector<double> Share::first_spins(int) const;

}  // namespace tca::spin
