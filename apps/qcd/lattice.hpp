// A 4-D lattice dealt out over a grid of ranks: the order of a rank's sites, their neighbours, and the faces.
//
// Sites are ordered by parity, even ones first, then in blocks of up to 4 x 4 x 2 x 2, so that sites next to each other in
// space are so in memory: a cache that holds a block's sites holds half of their neighbours. Parity is that of the whole
// lattice's coordinates. A field of one parity is therefore one contiguous half of the field of all sites.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tca/grid.hpp"

namespace tca::qcd {

inline constexpr int dims = 4;

// Sites along x, y, z and t; also coordinates.
using Extents = std::array<std::int64_t, dims>;

enum class Sites { all, even, odd };

// Of the eight directions: 2 mu goes forward along mu, 2 mu + 1 backward.
constexpr int forward(int mu) { return 2 * mu; }
constexpr int backward(int mu) { return 2 * mu + 1; }
inline constexpr int directions = 2 * dims;

// Sites [begin, end) in the order of the fields.
struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size() const { return end - begin; }
};

// What crosses to one neighbour and what comes back from it.
struct Face {
  int direction;    // towards the neighbour
  int neighbour;    // its rank
  Range slots;      // of the send buffer; of the ghosts that come from this neighbour as well
  std::int64_t to;  // the neighbour's slot where what is sent lands
  Range even;       // the slots whose sites, here and there, are even; those after them are odd
  std::vector<std::int32_t> sites;  // to be sent, slot by slot
};

// The sites of a set whose neighbours all lie on this rank, and the others.
struct Division {
  std::vector<std::int32_t> interior;
  std::vector<std::int32_t> boundary;
};

class Lattice {
 public:
  // Throws Error{invalid_argument} unless the grid has four dimensions and every extent divides evenly.
  Lattice(const Grid& grid, const Extents& global, int rank);

  const Grid& grid() const { return grid_; }
  int rank() const { return rank_; }
  const Extents& global() const { return global_; }
  const Extents& local() const { return local_; }
  const Extents& origin() const { return origin_; }  // of this rank's first site
  std::int64_t volume() const { return static_cast<std::int64_t>(coordinates_.size()); }  // this rank's
  std::int64_t global_volume() const;

  Range range(Sites sites) const;
  std::int64_t site(const Extents& local) const;
  const Extents& coordinates(std::int64_t site) const { return coordinates_[static_cast<std::size_t>(site)]; }
  Extents global_coordinates(std::int64_t site) const;
  // Of the whole lattice, x fastest.
  std::int64_t global_index(std::int64_t site) const;

  // Eight for each site: the neighbouring site, or ~slot when it lies on another rank.
  std::span<const std::int32_t> neighbours() const { return neighbours_; }
  const std::vector<Face>& faces() const { return faces_; }
  std::int64_t slots() const { return slots_; }  // of all faces together
  Division divide(Sites sites) const;

  // Even-odd preconditioning cuts every face into equal halves. Throws Error{invalid_argument} unless every
  // local extent is even.
  void require_even() const;

 private:
  void order_sites();
  void lay_out_faces();
  void find_neighbours();
  void fill_face(Face& face, std::vector<std::int32_t>& slot_of);

  Grid grid_;
  int rank_;
  Extents global_, local_{}, origin_{};
  std::int64_t even_ = 0;
  std::vector<Extents> coordinates_;
  std::vector<std::int32_t> site_;  // by local index, x fastest
  std::vector<std::int32_t> neighbours_;
  std::vector<Face> faces_;
  std::vector<std::vector<std::int32_t>> ghost_slots_;  // of a face, by local index of the site within it
  std::int64_t slots_ = 0;
};

// Chooses a grid for `ranks` whose extents divide the lattice's, with the smallest faces; among equals the one
// that cuts the later dimensions. Throws Error{invalid_argument} when there is none.
Grid choose_grid(int ranks, const Extents& global);

std::string describe(const Extents& extents);  // e.g. "8x8x8x16"

}  // namespace tca::qcd
