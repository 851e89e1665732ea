#include "qcd/lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

constexpr std::size_t at(int mu) { return static_cast<std::size_t>(mu); }

// The index of a site, with x fastest.
std::int64_t index_in(const Extents& c, const Extents& extents) {
  return c[0] + extents[0] * (c[1] + extents[1] * (c[2] + extents[2] * c[3]));
}

std::int64_t product(const Extents& e) { return e[0] * e[1] * e[2] * e[3]; }

int parity(const Extents& c) { return static_cast<int>((c[0] + c[1] + c[2] + c[3]) & 1); }

// Visits the sites block by block. Consecutive blocks are neighbours along z; t is the slowest.
template <class Visit>
void for_each_site(const Extents& extents, const Extents& block, const Visit& visit) {
  Extents first, c;
  for (first[3] = 0; first[3] < extents[3]; first[3] += block[3])
    for (first[1] = 0; first[1] < extents[1]; first[1] += block[1])
      for (first[0] = 0; first[0] < extents[0]; first[0] += block[0])
        for (first[2] = 0; first[2] < extents[2]; first[2] += block[2])
          for (c[3] = first[3]; c[3] < first[3] + block[3]; ++c[3])
            for (c[2] = first[2]; c[2] < first[2] + block[2]; ++c[2])
              for (c[1] = first[1]; c[1] < first[1] + block[1]; ++c[1])
                for (c[0] = first[0]; c[0] < first[0] + block[0]; ++c[0]) visit(c);
}

// The largest block of at most 4 x 4 x 2 x 2 that divides the extents. A full one has 32 sites of either
// parity, as many as a GPU's warp has threads.
Extents block_of(const Extents& extents) {
  constexpr Extents most{4, 4, 2, 2};
  Extents block;
  for (std::size_t mu = 0; mu < dims; ++mu) block[mu] = std::gcd(extents[mu], most[mu]);
  return block;
}

Extents plus(const Extents& a, const Extents& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}

int neighbouring_rank(const Grid& grid, int rank, int mu, int step) {
  Grid::Coordinates to{};
  to[at(mu)] = step;
  return grid.neighbour(rank, to).value();
}

}  // namespace

Lattice::Lattice(const Grid& grid, const Extents& global, int rank)
    : grid_(grid), rank_(rank), global_(global) {
  if (grid.dims() != dims) {
    throw Error(Errc::invalid_argument, fmt::format("the grid {} has {} dimensions, the lattice has 4",
                                                    grid.describe(), grid.dims()));
  }
  const Grid::Coordinates place = grid.coordinates(rank);
  for (int mu = 0; mu < dims; ++mu) {
    const std::int64_t extent = global[at(mu)], ranks = grid.extent(mu);
    if (extent < 1 || extent % ranks != 0) {
      throw Error(Errc::invalid_argument,
                  fmt::format("the lattice {} does not divide by the grid {}: {} sites along {} for {} ranks",
                              describe(global), grid.describe(), extent, "xyzt"[mu], ranks));
    }
    local_[at(mu)] = extent / ranks;
    origin_[at(mu)] = place[at(mu)] * local_[at(mu)];
  }
  // Computed in floating point, where the product cannot overflow.
  const double sites = static_cast<double>(local_[0]) * static_cast<double>(local_[1]) *
                       static_cast<double>(local_[2]) * static_cast<double>(local_[3]);
  if (sites > std::numeric_limits<std::int32_t>::max() / directions) {
    throw Error(Errc::invalid_argument,
                fmt::format("{:.4g} sites on each rank are too many; use more ranks", sites));
  }
  order_sites();
  lay_out_faces();
  find_neighbours();
}

void Lattice::order_sites() {
  site_.resize(static_cast<std::size_t>(product(local_)));
  coordinates_.reserve(site_.size());
  for (const int wanted : {0, 1}) {
    for_each_site(local_, block_of(local_), [&](const Extents& c) {
      if (parity(plus(c, origin_)) != wanted) return;
      site_[static_cast<std::size_t>(index_in(c, local_))] = static_cast<std::int32_t>(coordinates_.size());
      coordinates_.push_back(c);
    });
    if (wanted == 0) even_ = static_cast<std::int64_t>(coordinates_.size());
  }
}

// All ranks' faces have the same sizes, and so the same slots.
void Lattice::lay_out_faces() {
  for (int mu = 0; mu < dims; ++mu) {
    if (grid_.extent(mu) == 1) continue;
    const std::int64_t area = volume() / local_[at(mu)];
    const std::int64_t first = slots_;
    for (const int step : {1, -1}) {
      const bool ahead = step > 0;
      Face face{.direction = ahead ? forward(mu) : backward(mu),
                .neighbour = neighbouring_rank(grid_, rank_, mu, step),
                .slots = {slots_, slots_ + area},
                .to = ahead ? first + area : first,
                .even = {},
                .sites = {}};
      slots_ += area;
      std::vector<std::int32_t> slot_of;
      fill_face(face, slot_of);
      faces_.push_back(std::move(face));
      ghost_slots_.push_back(std::move(slot_of));
    }
  }
}

// Sender and receiver visit the same sites of the whole lattice in the same order: by parity, then block by
// block.
void Lattice::fill_face(Face& face, std::vector<std::int32_t>& slot_of) {
  const int mu = face.direction / 2;
  const bool ahead = face.direction == forward(mu);
  Extents plane = local_, block = block_of(local_);
  plane[at(mu)] = block[at(mu)] = 1;
  slot_of.resize(static_cast<std::size_t>(product(plane)));
  std::int64_t ghost = face.slots.begin;
  for (const int wanted : {0, 1}) {
    for_each_site(plane, block, [&](const Extents& within) {
      Extents sent = within, received = plus(within, origin_);
      sent[at(mu)] = ahead ? local_[at(mu)] - 1 : 0;
      received[at(mu)] = ahead ? (origin_[at(mu)] + local_[at(mu)]) % global_[at(mu)]
                               : (origin_[at(mu)] + global_[at(mu)] - 1) % global_[at(mu)];
      if (parity(plus(sent, origin_)) == wanted) face.sites.push_back(static_cast<std::int32_t>(site(sent)));
      if (parity(received) == wanted)
        slot_of[static_cast<std::size_t>(index_in(within, plane))] = static_cast<std::int32_t>(ghost++);
    });
    if (wanted == 0)
      face.even = {face.slots.begin, face.slots.begin + static_cast<std::int64_t>(face.sites.size())};
  }
}

void Lattice::find_neighbours() {
  neighbours_.resize(static_cast<std::size_t>(volume()) * directions);
  std::array<const std::vector<std::int32_t>*, directions> ghosts{};
  for (std::size_t f = 0; f < faces_.size(); ++f) ghosts[at(faces_[f].direction)] = &ghost_slots_[f];
  for (std::int64_t s = 0; s < volume(); ++s) {
    for (int direction = 0; direction < directions; ++direction) {
      const int mu = direction / 2;
      const std::int64_t extent = local_[at(mu)];
      Extents c = coordinates(s);
      c[at(mu)] += direction == forward(mu) ? 1 : -1;
      std::int32_t& entry = neighbours_[static_cast<std::size_t>(s * directions + direction)];
      const bool leaves = c[at(mu)] < 0 || c[at(mu)] >= extent;
      if (leaves && ghosts[at(direction)] != nullptr) {
        Extents plane = local_;
        plane[at(mu)] = 1;
        c[at(mu)] = 0;
        entry = ~(*ghosts[at(direction)])[static_cast<std::size_t>(index_in(c, plane))];
      } else {
        c[at(mu)] = (c[at(mu)] + extent) % extent;
        entry = static_cast<std::int32_t>(site(c));
      }
    }
  }
}

std::int64_t Lattice::global_volume() const { return product(global_); }

Range Lattice::range(Sites sites) const {
  switch (sites) {
    case Sites::even:
      return {0, even_};
    case Sites::odd:
      return {even_, volume()};
    default:
      return {0, volume()};
  }
}

std::int64_t Lattice::site(const Extents& local) const {
  return site_[static_cast<std::size_t>(index_in(local, local_))];
}

Extents Lattice::global_coordinates(std::int64_t site) const { return plus(coordinates(site), origin_); }

std::int64_t Lattice::global_index(std::int64_t site) const {
  return index_in(global_coordinates(site), global_);
}

Division Lattice::divide(Sites sites) const {
  Division division;
  const Range all = range(sites);
  for (std::int64_t s = all.begin; s < all.end; ++s) {
    const auto* const next = &neighbours_[static_cast<std::size_t>(s * directions)];
    const bool outside = std::any_of(next, next + directions, [](std::int32_t n) { return n < 0; });
    (outside ? division.boundary : division.interior).push_back(static_cast<std::int32_t>(s));
  }
  return division;
}

void Lattice::require_even() const {
  for (int mu = 0; mu < dims; ++mu) {
    if (local_[at(mu)] % 2 == 0) continue;
    throw Error(
        Errc::invalid_argument,
        fmt::format("even-odd preconditioning needs an even number of sites on each rank, but the grid "
                    "{} leaves {} along {}; choose another grid, or leave even-odd out",
                    grid_.describe(), local_[at(mu)], "xyzt"[mu]));
  }
}

Grid choose_grid(int ranks, const Extents& global) {
  std::optional<std::array<int, dims>> best;
  std::pair<bool, std::int64_t> least;
  for (int x = 1; x <= ranks; ++x) {
    for (int y = 1; x * y <= ranks; ++y) {
      for (int z = 1; x * y * z <= ranks; ++z) {
        if (ranks % (x * y * z) != 0) continue;
        const std::array<int, dims> shape{x, y, z, ranks / (x * y * z)};
        std::int64_t sent = 0;
        bool fits = true, even = true;
        for (std::size_t mu = 0; mu < dims; ++mu) {
          fits = fits && global[mu] % shape[mu] == 0;
          even = even && global[mu] / shape[mu] % 2 == 0;
          if (shape[mu] > 1) sent += product(global) / global[mu] * shape[mu];
        }
        // An odd extent comes last whatever it sends, since it makes even-odd preconditioning impossible.
        const std::pair cost(!even, sent);
        if (!fits || (best && cost >= least)) continue;
        best = shape;
        least = cost;
      }
    }
  }
  if (!best) {
    throw Error(Errc::invalid_argument,
                fmt::format("the lattice {} does not divide among {} ranks", describe(global), ranks));
  }
  return Grid(ranks, {best->begin(), best->end()}, std::vector<bool>(dims, true));
}

std::string describe(const Extents& extents) {
  return fmt::format("{}x{}x{}x{}", extents[0], extents[1], extents[2], extents[3]);
}

}  // namespace tca::qcd
