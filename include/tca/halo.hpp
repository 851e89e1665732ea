/// @file
/// The ghost cells of an N-dimensional array and their exchange, overlapped by construction:
///
///     tca::Grid grid = tca::Grid::choose(world.size(), {global_ny, global_nx});
///     tca::Halo halo(world, "u", grid, {ny, nx}, {.width = {{1, 1}, {1, 1}}});
///     auto u = world.window<double>(halo.elements());
///     halo.add(u);
///     halo.commit();
///     for (...) {
///       boundary(u);                  // the cells whose values the neighbours need
///       halo.start();
///       interior(u);                  // overlaps
///       halo.wait();
///     }
///
/// A field is a row-major array of `extents()` elements, ghosts included: dimension d has width[d].low
/// ghosts, then the interior, then width[d].high ghosts. The last dimension is contiguous.
///
/// A halo is a chain of the same name, and errors of its puts and steps name that chain.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tca/counted.hpp"
#include "tca/detail/api.hpp"
#include "tca/detail/counts.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca {

/// How many ghosts a dimension has below and above its interior, in elements.
struct GhostWidth {
  std::int64_t low = 1;
  std::int64_t high = 1;
};

struct HaloOptions {
  /// The widths of all dimensions, the outermost first as in the grid. If empty, each has one ghost on each
  /// side.
  std::vector<GhostWidth> width = {};
  /// How many of these ghosts are filled, those next to the interior; if empty, all of them. Halos of the
  /// same fields may fill different ones, for parts of a program whose stencils reach less far.
  std::vector<GhostWidth> exchange = {};
  /// Fills edges and corners as well, for stencils that reach diagonally. Otherwise these ghosts stay as they
  /// are.
  bool corners = false;
  ChainOptions chain = {};
};

/// A halo that was moved from may only be destroyed or assigned to; `add`, `commit` and the calls of the
/// chain throw Error{invalid_argument}.
class TCA_API Halo {
 public:
  /// Collective, with the same grid and corners on every rank. `interior` is the number of cells of each
  /// dimension that this rank owns, without ghosts. A rank that owns none, for example because there are
  /// more ranks than cells, exchanges nothing; the ranks on its two sides are neighbours. Neighbours must
  /// have the same extents along the face that they share; the widths of their ghosts may differ. A face of
  /// an array of more than four dimensions is one put if those without ghosts are contiguous, and otherwise
  /// as many puts as there are layouts in it (tca/layout.hpp). Throws on every rank alike:
  ///   - Error{invalid_argument} if a rank gives extents or widths that do not fit the grid.
  ///   - Error{refused} if ranks disagree, or a ghost is wider than the interior of the neighbour that it
  ///     comes from.
  Halo(World& world, std::string name, const Grid& grid, std::vector<std::int64_t> interior,
       HaloOptions options = {});
  Halo(World& world, std::string name, const Grid& grid, std::initializer_list<Count> interior,
       HaloOptions options = {})
      : Halo(world, std::move(name), grid, detail::values_of(interior), std::move(options)) {}

  /// Returns the number of elements of each dimension of a field, ghosts included. The span points into the
  /// halo.
  std::span<const std::int64_t> extents() const { return {extents_.data(), dims_}; }
  /// Returns the number of elements of a field, ghosts included.
  std::int64_t elements() const { return elements_; }

  /// Return the offset of a cell in a field, in elements. `cell` has a number for each dimension of the grid;
  /// its range is not checked. The interior begins at 0. Ghosts may be named too: -1 is the one just below
  /// the interior, and the interior's extent the one just above it. In braces, too few or too many numbers,
  /// or an unsigned difference that has wrapped around, throw Error{invalid_argument}.
  [[nodiscard]] std::int64_t index(std::span<const std::int64_t> cell) const {
    std::int64_t row = origin_;
    for (std::size_t d = 0; d + 1 < cell.size(); ++d) row += cell[d] * pitch_[d];
    return row + cell.back();  // the last dimension is contiguous
  }
  template <std::size_t Dims>
  [[nodiscard]] std::int64_t index(const Count (&cell)[Dims]) const {
    static_assert(Dims <= Grid::max_dims, "a halo has up to seven dimensions");
    std::array<std::int64_t, Dims> numbers{};
    for (std::size_t d = 0; d < Dims; ++d) {
      numbers[d] = cell[d].value();
      if (numbers[d] == std::numeric_limits<std::int64_t>::min()) [[unlikely]]
        fail_wrapped(d);
    }
    // Checked last, so that a compiler can hoist the loads from the halo out of a loop.
    const std::int64_t at = index(std::span<const std::int64_t>(numbers));
    if (Dims != dims_) [[unlikely]]
      fail_dims(Dims);
    return at;
  }

  /// Adds a field that begins at element `offset` of this rank's part of a window. A halo has any number of
  /// fields, of any types, and exchanges them in one chain. Throws Error{invalid_argument} if the window is
  /// too small, for a field that overlaps another one, and after `commit`.
  template <Element T>
  Halo& add(const Window<T>& field, Count offset = 0) {
    return add(field.untyped(), offset);
  }
  Halo& add(const raw::Window& field, Count offset = 0);

  /// Adds a field whose faces are counted puts (tca/counted.hpp): a step moves as many elements of each
  /// face as its sender has set, in the order of the sender's cells and of the receiver's ghosts. So the
  /// cells next to a side can be a queue of what goes to the neighbour there, such as particles. Throws as
  /// `add` does, and Error{invalid_argument} if a face takes several puts.
  template <Element T>
  Halo& add_counted(const Window<T>& field, Count offset = 0) {
    return add_counted(field.untyped(), offset);
  }
  Halo& add_counted(const raw::Window& field, Count offset = 0);

  /// Return the two ends of a counted field's exchange on one side, such as {-1, 0} for the neighbour below
  /// in the first dimension: what goes from this rank's cells to the neighbour there, and what arrives from
  /// it in the ghosts there. Nothing if there is no neighbour or no ghosts are to be filled. Fields are
  /// numbered from 0 in the order in which they were added. Throw Error{invalid_argument} before `commit`,
  /// for a field that does not exist or is not counted, and for a side with too few or too many numbers, or
  /// numbers other than -1, 0 and 1.
  [[nodiscard]] std::optional<CountedPut> to(std::size_t field, std::span<const int> side) const;
  [[nodiscard]] std::optional<CountedArrival> from(std::size_t field, std::span<const int> side) const;
  [[nodiscard]] std::optional<CountedPut> to(std::size_t field, std::initializer_list<int> side) const {
    return to(field, std::span(side.begin(), side.size()));
  }
  [[nodiscard]] std::optional<CountedArrival> from(std::size_t field, std::initializer_list<int> side) const {
    return from(field, std::span(side.begin(), side.size()));
  }

  /// Collective. Throws Error{refused}, with the same message on every rank, if ranks have added no window,
  /// different ones, or the same in another order. Throws what Chain::commit does as well.
  void commit();

  /// The calls of the chain; see Chain. `run` is a start and a wait.
  void start() { chain_.start(); }
  [[nodiscard]] bool test() { return chain_.test(); }
  void wait() { chain_.wait(); }
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds duration) { return chain_.wait_for(duration); }
  void run() { chain_.run(); }
  void start(Stream stream) { chain_.start(stream); }
  void wait(Stream stream) { chain_.wait(stream); }
  void run(Stream stream) { chain_.run(stream); }
  [[nodiscard]] const DeviceChain& device() const { return chain_.device(); }
  [[nodiscard]] const DeviceTimedChain& device_timed() const { return chain_.device_timed(); }
  [[nodiscard]] const DeviceDoorbell& doorbell() const { return chain_.doorbell(); }

  [[nodiscard]] std::string explain() const { return chain_.explain(); }
  [[nodiscard]] Timing timing() const { return chain_.timing(); }
  void clear_timing() { chain_.clear_timing(); }

  /// Returns how many bytes of all fields this rank sends in a step; for counted fields the maximum.
  std::int64_t bytes() const { return bytes_; }

 private:
  // One put: `from` of this rank's array goes to `to` of the neighbour's.
  struct Face {
    int neighbour;
    Grid::Coordinates side;  // where the neighbour is
    Layout from;
    Layout to;
  };

  // Ghosts of one side, which one put of a neighbour fills.
  struct Ghosts {
    int neighbour;
    Grid::Coordinates side;
    Layout layout;
  };

  struct Field {
    raw::Window window;
    std::int64_t offset;
    bool counted;
  };

  // The ends of a counted field's puts, in the order of the faces and of the ghosts; none for any other
  // field.
  struct CountedSides {
    bool counted = false;
    std::vector<CountedPut> to = {};
    std::vector<CountedArrival> from = {};
  };

  // The extents and ghosts of every rank's array, as gathered from all.
  struct Arrays;
  friend class Fold;  // goes the other way along the same faces
  Halo(World& world, const std::string& name, const Grid& grid, const Arrays& arrays,
       const HaloOptions& options);

  [[noreturn]] void fail_dims(std::size_t numbers) const;
  [[noreturn]] void fail_wrapped(std::size_t number) const;
  core::WorldState& world() const { return core::present(world_, "halo"); }
  std::string title() const;
  void require_uncommitted(const char* call) const;
  void require_countable() const;
  Halo& add(const raw::Window& field, Count offset, bool counted);
  const CountedSides& counted_sides(const char* call, std::size_t field, std::span<const int> side) const;
  std::int64_t sent_elements() const;

  std::shared_ptr<core::WorldState> world_;
  // The object holds what `index` needs, for inner loops. Pitches beyond the dimensions are 0.
  std::array<std::int64_t, Grid::max_dims> extents_{}, pitch_{};
  std::size_t dims_ = 0;
  std::int64_t origin_ = 0;  // the offset of cell 0, 0, ...
  std::int64_t elements_ = 1;
  std::vector<Face> faces_;
  std::vector<Ghosts> ghosts_;
  std::vector<Field> fields_;          // until commit
  std::vector<CountedSides> counted_;  // by field, from then on
  bool committed_ = false;
  Chain chain_;
  std::chrono::milliseconds time_limit_;  // the chain's
  std::int64_t bytes_ = 0;
};

}  // namespace tca
