// The ghost cells of an N-dimensional array and their exchange, overlapped by construction:
//
//   tca::Grid grid = tca::Grid::choose(world.size(), global);
//   tca::Halo halo(world, "u", grid, {ny, nx}, {.width = {{1, 1}, {1, 1}}});
//   auto u = world.window<double>(halo.elements());
//   halo.add(u);
//   halo.commit();
//   for (...) {
//     boundary(u);                  // the cells whose values the neighbours need
//     halo.start();
//     interior(u);                  // overlaps
//     halo.wait();
//   }
//
// A field is a row-major array of `extents()` elements, ghosts included: dimension d has width[d].low ghosts,
// then the interior, then width[d].high ghosts. The last dimension is contiguous.
//
// The exchange is a chain of the halo's name, and what goes wrong with its puts and steps is told of that chain.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca {

struct GhostWidth {
  std::int64_t low = 1;
  std::int64_t high = 1;
};

struct HaloOptions {
  // By dimension, the outermost first as in the grid; one ghost on each side when empty.
  std::vector<GhostWidth> width = {};
  // Fills edges and corners as well, for stencils that reach diagonally; otherwise these ghosts are left as they are.
  bool corners = false;
  ChainOptions chain = {};
};

// A halo that was moved from may only be destroyed or assigned to.
class Halo {
 public:
  // Collective, with the same grid and corners on every rank. `interior` is what this rank owns; neighbours must agree on
  // the extents of what they share, and each has widths of its own.
  // Throws Error{invalid_argument} for extents or widths that do not fit the grid, and Error{refused} on
  // every rank when ranks disagree or a ghost is wider than the neighbour it comes from.
  Halo(World& world, std::string name, const Grid& grid, std::vector<std::int64_t> interior,
       HaloOptions options = {});

  std::span<const std::int64_t> extents() const { return extents_; }
  std::int64_t elements() const;  // of one field, ghosts included

  // The offset of a cell in a field. `cell` has as many numbers as the grid has dimensions, which is not checked. The
  // interior begins at 0; ghosts may be named too, -1 below it and the interior's extent above it.
  std::int64_t index(std::span<const std::int64_t> cell) const;

  // Adds a field that starts `offset` elements into this rank's part of its window; any number of fields, of any types,
  // travel in the one chain. Throws Error{invalid_argument} when the window is too small, for a field that overlaps
  // another one, and after `commit`.
  template <Element T>
  Halo& add(const Window<T>& field, Count offset = 0) {
    add_field({core::window_id(*field.state_), offset.value(), sizeof(T),
               [field](Chain& chain, const Face& face, Count mine, Count theirs) {
                 chain.put(field.on(face.neighbour).at(theirs), face.to, field.at(mine), face.from);
               }},
              static_cast<std::int64_t>(field.size()));
    return *this;
  }

  // Collective. Throws Error{refused}, on every rank alike, when ranks have added different windows, the same in another
  // order, or none, and what Chain::commit does.
  void commit();
  void start() { chain_.start(); }
  bool test() { return chain_.test(); }
  void wait() { chain_.wait(); }

  // The same, ordered on a stream, and for kernels; see Chain.
  void start(Stream stream) { chain_.start(stream); }
  void wait(Stream stream) { chain_.wait(stream); }
  void exchange(Stream stream) { chain_.exchange(stream); }
  const DeviceChain& device() const { return chain_.device(); }
  const DeviceBell& bell() const { return chain_.bell(); }

  std::string explain() const { return chain_.explain(); }

  // Bytes this rank sends in a step, all fields together.
  std::int64_t bytes() const { return bytes_; }

 private:
  // One direction: what of the own array goes where in the neighbour's.
  struct Face {
    int neighbour;
    Layout from;
    Layout to;
  };

  struct Field {
    std::uint32_t window;
    std::int64_t offset;
    std::size_t element_bytes;
    std::function<void(Chain&, const Face&, Count mine, Count theirs)> put;
  };

  void require_uncommitted(const char* call) const;
  void add_field(Field field, std::int64_t window_elements);
  std::int64_t sent_elements() const;

  std::shared_ptr<core::WorldState> world_;
  std::vector<std::int64_t> extents_;
  std::vector<GhostWidth> width_;
  std::vector<Face> faces_;
  std::vector<Field> fields_;  // until commit
  bool committed_ = false;
  Chain chain_;
  std::chrono::milliseconds time_limit_;  // the chain's
  std::int64_t bytes_ = 0;
};

}  // namespace tca
