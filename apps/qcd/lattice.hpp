// A Lattice is a rank's part of a 4-D lattice that is distributed over a grid of ranks: the order of its
// sites, their neighbours, and the faces.
//
// Sites are ordered by parity, even ones first. Within a parity they are ordered by blocks of up to 4 x 4 x 2
// x 2, so that sites that are close in space are close in memory: a cache that holds the sites of a block
// holds half of their neighbours. Parity is that of the coordinates in the whole lattice. A field of one
// parity is therefore one contiguous half of the field of all sites.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tca/grid.hpp"

namespace tca::qcd {

inline constexpr int dims = 4;

// Numbers of sites along x, y, z and t. Also used for coordinates.
using Extents = std::array<std::int64_t, dims>;

enum class Sites { all, even, odd };

// The eight directions: 2 mu points forward along mu, 2 mu + 1 backward.
constexpr int forward(int mu) { return 2 * mu; }
constexpr int backward(int mu) { return 2 * mu + 1; }
inline constexpr int directions = 2 * dims;

// The sites [begin, end), in the order of the fields.
struct Range {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t size() const { return end - begin; }
};

// A face of this rank's part: what it sends to one neighbour and receives from it.
struct Face {
  int direction;    // towards the neighbour
  int neighbour;    // its rank
  Range slots;      // in the send buffer; what this neighbour sends has the same ones among the ghosts
  std::int64_t to;  // first slot at the neighbour for what this rank sends
  Range even;       // slots whose sites are even, both sent and received; the odd ones follow
  std::vector<std::int32_t> sites;  // the sites to send, slot by slot
};

// The sites of a set: `interior` are those whose neighbours all lie on this rank, `boundary` the others.
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
  const Extents& origin() const { return origin_; }  // coordinates of this rank's first site
  // Number of this rank's sites.
  std::int64_t volume() const { return static_cast<std::int64_t>(coordinates_.size()); }
  std::int64_t global_volume() const;

  Range range(Sites sites) const;
  std::int64_t site(const Extents& local) const;
  const Extents& coordinates(std::int64_t site) const { return coordinates_[static_cast<std::size_t>(site)]; }
  Extents global_coordinates(std::int64_t site) const;
  // Index in the whole lattice, with x fastest.
  std::int64_t global_index(std::int64_t site) const;

  // Eight entries for each site: the neighbouring site, or ~slot if it lies on another rank.
  std::span<const std::int32_t> neighbours() const { return neighbours_; }
  const std::vector<Face>& faces() const { return faces_; }
  std::int64_t slots() const { return slots_; }  // of all faces together
  Division divide(Sites sites) const;

  // Throws Error{invalid_argument} unless every local extent is even. Even-odd preconditioning needs this,
  // because it cuts every face into equal halves.
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
  // For each face: the ghost's slot, by the local index of the site within the face.
  std::vector<std::vector<std::int32_t>> ghost_slots_;
  std::int64_t slots_ = 0;
};

// Chooses a grid of `ranks` ranks whose extents divide those of the lattice, with the smallest faces. Grids
// that leave odd local extents, and so rule out even-odd preconditioning, are penalised. Among equal grids it
// takes the one that cuts the later dimensions. Throws Error{invalid_argument} if there is none.
Grid choose_grid(int ranks, const Extents& global);

std::string describe(const Extents& extents);  // e.g. "8x8x8x16"

}  // namespace tca::qcd
