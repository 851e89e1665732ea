#include "tca/halo.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "base/codec.hpp"
#include "base/fail.hpp"
#include "base/text/ranks.hpp"
#include "core/world_state.hpp"

namespace tca {

namespace {

using base::fail;

// The part of a rank's array that its neighbours need to know.
struct Shape {
  std::array<std::int64_t, Grid::max_dims> interior{};
  std::array<GhostWidth, Grid::max_dims> width{};
  std::array<GhostWidth, Grid::max_dims> filled{};  // of these ghosts, by an exchange
};

std::array<std::int64_t, Grid::max_dims> with_ghosts(const Shape& shape, int dims) {
  std::array<std::int64_t, Grid::max_dims> extents{};
  for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
    extents[d] = shape.width[d].low + shape.interior[d] + shape.width[d].high;
  }
  return extents;
}

// A box of a rank's array: its first element, counted with the ghosts, and its length in each dimension.
struct Box {
  std::array<std::int64_t, Grid::max_dims> first{}, length{};
};

// Return the ghosts on side `step` of a receiver, and the cells of the sender that fill them. Along a
// dimension without a step both extend over the interior.
Box ghosts(const Shape& receiver, const Grid::Coordinates& step, int dims) {
  Box box;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
    const GhostWidth w = receiver.width[d], filled = receiver.filled[d];
    const std::int64_t n = receiver.interior[d];
    box.first[d] = step[d] < 0 ? w.low - filled.low : step[d] > 0 ? w.low + n : w.low;
    box.length[d] = step[d] < 0 ? filled.low : step[d] > 0 ? filled.high : n;
  }
  return box;
}

Box edge_cells(const Shape& sender, const Shape& receiver, const Grid::Coordinates& step, int dims) {
  Box box;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
    const std::int64_t n = sender.interior[d];
    box.length[d] = step[d] < 0   ? receiver.filled[d].low
                    : step[d] > 0 ? receiver.filled[d].high
                                  : receiver.interior[d];
    box.first[d] = sender.width[d].low + (step[d] < 0 ? n - box.length[d] : 0);
  }
  return box;
}

bool empty(const Box& box, int dims) {
  return std::any_of(box.length.begin(), box.length.begin() + dims, [](std::int64_t n) { return n == 0; });
}

Layout layout_of(const Shape& shape, const Box& box, int dims) {
  const auto extents = with_ghosts(shape, dims);
  std::vector<Count> e, f, l;
  for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d) {
    e.emplace_back(extents[d]);
    f.emplace_back(box.first[d]);
    l.emplace_back(box.length[d]);
  }
  return subarray(e, f, l);
}

// Returns all directions to a neighbour: one step along one dimension, or along several when corners are
// wanted.
std::vector<Grid::Coordinates> directions(int dims, bool corners) {
  std::vector<Grid::Coordinates> all;
  int count = 1;
  for (int d = 0; d < dims; ++d) count *= 3;
  for (int code = 0; code < count; ++code) {
    Grid::Coordinates step{};
    int rest = code, moved = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(dims); ++d, rest /= 3) {
      step[d] = rest % 3 - 1;
      moved += step[d] != 0;
    }
    if (moved == 1 || (moved > 1 && corners)) all.push_back(step);
  }
  return all;
}

// Throws where the elements, ghosts included, overflow. Later sums and products of the same numbers then
// cannot.
void check_total(const std::string& name, const Shape& shape, std::size_t dims) {
  std::int64_t all = 1;
  for (std::size_t d = 0; d < dims; ++d) {
    std::int64_t extent = shape.interior[d];
    if (__builtin_add_overflow(extent, shape.width[d].low, &extent) ||
        __builtin_add_overflow(extent, shape.width[d].high, &extent) ||
        __builtin_mul_overflow(all, extent, &all)) {
      fail(Errc::invalid_argument,
           "halo '{}': dimension {} has {} cells and ghosts {} and {} wide; that overflows 63 bits", name, d,
           shape.interior[d], shape.width[d].low, shape.width[d].high);
    }
  }
}

Shape check_shape(const std::string& name, const Grid& grid, const std::vector<std::int64_t>& interior,
                  const std::vector<GhostWidth>& width, const std::vector<GhostWidth>& exchange) {
  const auto dims = static_cast<std::size_t>(grid.dims());
  if (interior.size() != dims || (!width.empty() && width.size() != dims)) {
    fail(Errc::invalid_argument,
         "halo '{}': the grid has {} dimension{}, the interior {}{}; give a number for each", name, dims,
         dims == 1 ? "" : "s", interior.size(),
         width.empty() ? std::string() : fmt::format(" and the widths {}", width.size()));
  }
  if (!exchange.empty() && exchange.size() != dims) {
    fail(Errc::invalid_argument,
         "halo '{}': the grid has {} dimension{}, the exchange {}; give a width for each", name, dims,
         dims == 1 ? "" : "s", exchange.size());
  }
  Shape shape;
  for (std::size_t d = 0; d < dims; ++d) {
    shape.interior[d] = interior[d];
    shape.width[d] = width.empty() ? GhostWidth{} : width[d];
    if (interior[d] < 0 || shape.width[d].low < 0 || shape.width[d].high < 0) {
      fail(Errc::invalid_argument,
           "halo '{}': dimension {} has {} cells and ghosts {} and {} wide; none of them can be negative",
           name, d, interior[d], shape.width[d].low, shape.width[d].high);
    }
    shape.filled[d] = exchange.empty() ? shape.width[d] : exchange[d];
    const auto [low, high] = shape.filled[d];
    if (low < 0 || high < 0 || low > shape.width[d].low || high > shape.width[d].high) {
      fail(Errc::invalid_argument,
           "halo '{}': an exchange of {} and {} in dimension {}, whose ghosts are {} and {} wide; it fills "
           "none of them to all",
           name, low, high, d, shape.width[d].low, shape.width[d].high);
    }
  }
  check_total(name, shape, dims);
  return shape;
}

// Describes in words what must be the same on every rank.
std::string describe(const Grid& grid, bool corners) {
  std::vector<int> periodic;
  for (int d = 0; d < grid.dims(); ++d)
    if (grid.periodic(d)) periodic.push_back(d);
  return fmt::format("a grid of {}, periodic in {}, {} corners", grid.describe(),
                     periodic.empty() ? "no dimension" : "dimension " + base::list_ranks(periodic),
                     corners ? "with" : "without");
}

bool has_cells(const Shape& shape, int dims) {
  return std::none_of(shape.interior.begin(), shape.interior.begin() + dims,
                      [](std::int64_t cells) { return cells == 0; });
}

// Returns the rank on side `step` of one that has cells: the next along each dimension that has some itself.
std::optional<int> neighbour_of(const Grid& grid, const std::vector<Shape>& shapes, int rank,
                                const Grid::Coordinates& step) {
  for (int dim = 0; dim < grid.dims(); ++dim) {
    const auto d = static_cast<std::size_t>(dim);
    if (step[d] == 0) continue;
    Grid::Coordinates along{};
    std::optional<int> next;
    for (int distance = 1; distance <= grid.extent(dim); ++distance) {
      along[d] = distance * step[d];
      next = grid.neighbour(rank, along);
      if (!next || shapes[static_cast<std::size_t>(*next)].interior[d] > 0) break;
    }
    if (!next) return std::nullopt;
    rank = *next;
  }
  return rank;
}

// Checks every pair of neighbours, so that every rank finds the same problem.
void check_neighbours(const std::string& name, const Grid& grid, const std::vector<Shape>& shapes,
                      const std::vector<Grid::Coordinates>& steps) {
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    if (!has_cells(shapes[static_cast<std::size_t>(rank)], grid.dims())) continue;
    for (const Grid::Coordinates& step : steps) {
      const std::optional<int> other = neighbour_of(grid, shapes, rank, step);
      if (!other) continue;
      const Shape &receiver = shapes[static_cast<std::size_t>(rank)],
                  &sender = shapes[static_cast<std::size_t>(*other)];
      if (empty(ghosts(receiver, step, grid.dims()), grid.dims())) continue;
      for (std::size_t d = 0; d < static_cast<std::size_t>(grid.dims()); ++d) {
        const std::int64_t wide = step[d] < 0   ? receiver.filled[d].low
                                  : step[d] > 0 ? receiver.filled[d].high
                                                : 0;
        if (step[d] == 0 && receiver.interior[d] != sender.interior[d]) {
          fail(Errc::refused,
               "halo '{}': ranks {} and {} are neighbours but have {} and {} cells in dimension {}", name,
               rank, *other, receiver.interior[d], sender.interior[d], d);
        }
        if (wide > sender.interior[d]) {
          fail(Errc::refused,
               "halo '{}': the ghosts of rank {} in dimension {} are {} wide, but rank {}, whose cells they "
               "hold, has only {} there; use fewer ranks along it, or narrower ghosts",
               name, rank, d, wide, *other, sender.interior[d]);
        }
      }
    }
  }
}

// A field that a rank has added, as the other ranks learn of it. Its offset in the window may differ from
// rank to rank.
struct Added {
  std::uint64_t window;
  std::int64_t offset;
};

std::vector<Added> read_added(const base::Blob& blob) {
  std::vector<Added> fields;
  for (base::Reader reader(blob); !reader.done();) fields.push_back(reader.get<Added>());
  return fields;
}

std::string describe(const core::WorldState& world, const std::vector<Added>& fields) {
  if (fields.empty()) return "nothing";
  std::vector<std::string> words;
  for (const Added& field : fields)
    words.push_back(world.window_title(static_cast<std::uint32_t>(field.window)));
  return fmt::format("{}", fmt::join(words, ", "));
}

void check_fields(const core::WorldState& world, const std::string& name,
                  const std::vector<std::vector<Added>>& by_rank) {
  const std::vector<Added>& first = by_rank.front();
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (std::ranges::equal(by_rank[rank], first, {}, &Added::window, &Added::window)) continue;
    fail(Errc::refused,
         "halo '{}': rank 0 has added {}; rank {} has added {}; every rank adds the same windows in the same "
         "order",
         name, describe(world, first), rank, describe(world, by_rank[rank]));
  }
  if (first.empty()) fail(Errc::refused, "halo '{}' has no field: add a window before its commit", name);
}

bool is_at(const Grid::Coordinates& at, std::span<const int> side) {
  return std::equal(side.begin(), side.end(), at.begin());
}

}  // namespace

struct Halo::Arrays {
  std::vector<Shape> shapes;  // by rank

  // Collective. Throws on every rank alike.
  static Arrays agreed(World& world, const std::string& name, const Grid& grid,
                       const std::vector<std::int64_t>& interior, const HaloOptions& options);
};

Halo::Arrays Halo::Arrays::agreed(World& world, const std::string& name, const Grid& grid,
                                  const std::vector<std::int64_t>& interior, const HaloOptions& options) {
  control::Control& control = core::WorldState::of(world).control();
  const auto describe_mine = [&] {
    core::checked_limit(options.chain.time_limit.value_or(control.time_limit),
                        fmt::format("halo '{}'", name));
    if (grid.ranks() != world.size()) {
      fail(Errc::invalid_argument, "halo '{}': a grid of {} is one of {} ranks, and the world has {}", name,
           grid.describe(), grid.ranks(), world.size());
    }
    const Shape mine = check_shape(name, grid, interior, options.width, options.exchange);
    return base::Writer().put_string(describe(grid, options.corners)).put(mine).blob();
  };
  Arrays arrays;
  std::string first;
  for (const base::Blob& blob :
       control.make_together(fmt::format("creation of halo '{}'", name), describe_mine)) {
    base::Reader reader(blob);
    const std::string theirs = reader.get_string();
    if (arrays.shapes.empty()) first = theirs;
    if (theirs != first) {
      fail(Errc::refused, "halo '{}': rank 0 has {}; rank {} has {}; give every rank the same", name, first,
           arrays.shapes.size(), theirs);
    }
    arrays.shapes.push_back(reader.get<Shape>());
  }
  check_neighbours(name, grid, arrays.shapes, directions(grid.dims(), options.corners));
  return arrays;
}

Halo::Halo(World& world, std::string name, const Grid& grid, std::vector<std::int64_t> interior,
           HaloOptions options)
    : Halo(world, name, grid, Arrays::agreed(world, name, grid, interior, options), options) {}

Halo::Halo(World& world, const std::string& name, const Grid& grid, const Arrays& arrays,
           const HaloOptions& options)
    : world_(core::WorldState::of(world).shared_from_this()),
      chain_(world.chain(name, options.chain)),
      time_limit_(core::checked_limit(options.chain.time_limit.value_or(world_->control().time_limit),
                                      fmt::format("halo '{}'", name))) {
  const int dims = grid.dims(), me = world.rank();
  const std::vector<Shape>& shapes = arrays.shapes;
  const Shape& mine = shapes[static_cast<std::size_t>(me)];
  const std::vector<Grid::Coordinates> steps = directions(dims, options.corners);

  dims_ = static_cast<std::size_t>(dims);
  extents_ = with_ghosts(mine, dims);
  for (std::size_t d = dims_; d-- > 0; elements_ *= extents_[d]) {
    pitch_[d] = elements_;
    origin_ += mine.width[d].low * elements_;
  }
  std::set<int> senders;
  if (!has_cells(mine, dims)) return;
  for (const Grid::Coordinates& step : steps) {
    // This rank as a receiver: the neighbour on side `step` fills the ghosts there.
    if (const std::optional<int> sender = neighbour_of(grid, shapes, me, step);
        sender && !empty(ghosts(mine, step, dims), dims)) {
      senders.insert(*sender);
      ghosts_.push_back({*sender, step});
    }
    // This rank as a sender: it lies on side `step` of its neighbour in the opposite direction.
    Grid::Coordinates back{};
    std::transform(step.begin(), step.end(), back.begin(), std::negate<>());
    const std::optional<int> receiver = neighbour_of(grid, shapes, me, back);
    if (!receiver) continue;
    const Shape& theirs = shapes[static_cast<std::size_t>(*receiver)];
    const Box to = ghosts(theirs, step, dims);
    if (empty(to, dims)) continue;
    faces_.push_back({*receiver, back, layout_of(mine, edge_cells(mine, theirs, step, dims), dims),
                      layout_of(theirs, to, dims)});
  }
  for (const int rank : senders) chain_.expect(rank);
}

void Halo::require_uncommitted(const char* call) const {
  if (committed_)
    fail(Errc::invalid_argument, "{} on halo '{}' after its commit; make a new halo", call, chain_.name());
}

Halo& Halo::add(const raw::Window& window, Count first) { return add(window, first, false); }
Halo& Halo::add_counted(const raw::Window& window, Count first) { return add(window, first, true); }

Halo& Halo::add(const raw::Window& window, Count first, bool counted) {
  world();  // throws where the halo was moved from
  require_uncommitted(counted ? "add_counted" : "add");
  const std::int64_t offset = first.value(), have = static_cast<std::int64_t>(window.size());
  if (offset < 0 || offset > have || elements() > have - offset) {
    fail(Errc::invalid_argument,
         "halo '{}': a field of {} elements, ghosts included, does not fit at element {} of {}, which has "
         "{} here",
         chain_.name(), elements(), offset, world_->window_title(window.number()), have);
  }
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const Field& other = fields_[i];
    if (other.window.number() != window.number() || std::abs(other.offset - offset) >= elements()) continue;
    fail(Errc::invalid_argument,
         "halo '{}': fields {} and {}, of {} elements from {} and {} on, overlap in {}; add each field once",
         chain_.name(), i, fields_.size(), elements(), other.offset, offset,
         world_->window_title(window.number()));
  }
  bytes_ += sent_elements() * static_cast<std::int64_t>(window.element_bytes());
  fields_.push_back({window, offset, counted});
  return *this;
}

void Halo::commit() {
  control::Control& control = world().control();
  require_uncommitted("commit");
  const core::TimeLimit limit(control, time_limit_);
  base::Writer writer;
  for (const Field& field : fields_) writer.put(Added{field.window.number(), field.offset});
  std::vector<std::vector<Added>> added;  // by rank
  for (const base::Blob& blob :
       control.all_gather(writer.blob(), fmt::format("commit of halo '{}'", chain_.name())))
    added.push_back(read_added(blob));
  check_fields(*world_, chain_.name(), added);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& [window, mine, counted] = fields_[i];
    CountedSides& sides = counted_.emplace_back(CountedSides{.counted = counted});
    for (const Face& face : faces_) {
      const raw::Remote target =
          window.on(face.neighbour).at(added[static_cast<std::size_t>(face.neighbour)][i].offset);
      if (counted)
        sides.to.push_back(chain_.put_counted(target, face.to, window.at(mine), face.from));
      else
        chain_.put(target, face.to, window.at(mine), face.from);
    }
    // A neighbour declares its puts by the same sides, and in the same order.
    for (const Ghosts& ghosts : ghosts_)
      if (counted) sides.from.push_back(chain_.expect_counted(ghosts.neighbour));
  }
  fields_.clear();
  committed_ = true;  // even if the commit fails, since the chain has its puts
  chain_.commit();
}

// Throws where there is no such field or side.
const Halo::CountedSides& Halo::counted_sides(const char* call, std::size_t field,
                                              std::span<const int> side) const {
  world();
  if (!committed_) fail(Errc::invalid_argument, "{} of halo '{}' before its commit", call, chain_.name());
  if (field >= counted_.size() || !counted_[field].counted) {
    fail(Errc::invalid_argument, "{} of halo '{}': field {} is none that was added by add_counted", call,
         chain_.name(), field);
  }
  const auto is_step = [](int step) { return step >= -1 && step <= 1; };
  if (side.size() != dims_ || !std::ranges::all_of(side, is_step)) {
    fail(Errc::invalid_argument, "{} of halo '{}': side {{{}}} in {} dimensions; give -1, 0 or 1 for each",
         call, chain_.name(), fmt::join(side, ", "), dims_);
  }
  return counted_[field];
}

std::optional<CountedPut> Halo::to(std::size_t field, std::span<const int> side) const {
  const CountedSides& sides = counted_sides("to", field, side);
  const auto face = std::ranges::find_if(faces_, [&](const Face& f) { return is_at(f.side, side); });
  if (face == faces_.end()) return std::nullopt;
  return sides.to[static_cast<std::size_t>(face - faces_.begin())];
}

std::optional<CountedArrival> Halo::from(std::size_t field, std::span<const int> side) const {
  const CountedSides& sides = counted_sides("from", field, side);
  const auto found = std::ranges::find_if(ghosts_, [&](const Ghosts& g) { return is_at(g.side, side); });
  if (found == ghosts_.end()) return std::nullopt;
  return sides.from[static_cast<std::size_t>(found - ghosts_.begin())];
}

void Halo::fail_dims(std::size_t numbers) const {
  fail(Errc::invalid_argument, "halo '{}': a cell of {} numbers in {} dimensions", chain_.name(), numbers,
       dims_);
}

// A Count of more than 63 bits is the most negative number: a wrapped difference, such as 0u - 1.
void Halo::fail_wrapped(std::size_t number) const {
  fail(Errc::invalid_argument,
       "halo '{}': number {} of a cell has wrapped around below 0; count ghosts in signed integers",
       chain_.name(), number);
}

std::int64_t Halo::sent_elements() const {
  return std::accumulate(faces_.begin(), faces_.end(), std::int64_t{0},
                         [](std::int64_t sum, const Face& face) { return sum + face.from.elements(); });
}

}  // namespace tca
