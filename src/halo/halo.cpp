#include "tca/halo.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "base/codec.hpp"
#include "base/fail.hpp"
#include "base/hash.hpp"
#include "base/text/ranks.hpp"
#include "core/world/world_state.hpp"
#include "halo/fields.hpp"
#include "halo/geometry.hpp"

namespace tca {

namespace {

using base::fail;

// Describes what must be the same on every rank.
std::string describe(const Grid& grid, bool corners) {
  std::vector<int> periodic;
  for (int d = 0; d < grid.dims(); ++d)
    if (grid.periodic(d)) periodic.push_back(d);
  return fmt::format("a grid of {}, periodic in {}, {} corners", grid.describe(),
                     periodic.empty() ? "no dimension" : "dimension " + base::list_ranks(periodic),
                     corners ? "with" : "without");
}

bool is_at(const Grid::Coordinates& at, std::span<const int> side) {
  return std::equal(side.begin(), side.end(), at.begin());
}

}  // namespace

struct Halo::Arrays {
  halo::Shapes shapes;

  // Collective. Throws on every rank alike.
  static Arrays agreed(World& world, const std::string& name, const Grid& grid,
                       const std::vector<std::int64_t>& interior, const HaloOptions& options);
};

namespace {

// What ranks learn about each other's arrays before they have a halo. Normally neighbours tell each other,
// and all vote that nothing is wrong. Everything is gathered only if something is, or if a rank without
// cells makes others neighbours.
class Agreement {
 public:
  Agreement(World& world, const std::string& name, const Grid& grid, bool corners)
      : control_(core::WorldState::of(world).control()),
        name_(name),
        grid_(grid),
        steps_(halo::directions(grid.dims(), corners)),
        words_(describe(grid, corners)),
        what_(fmt::format("creation of halo '{}'", name)) {}

  // `make` returns this rank's shape, or throws.
  halo::Shapes run(const std::function<halo::Shape()>& make) const {
    const base::Blob mine =
        control_.attempt(what_, [&] { return base::Writer().put(make()).put_string(words_).blob(); });
    base::Reader reader(mine);
    if (reader.get<bool>()) {
      control_.exchange({}, {1}, what_);
      return of_all(mine);
    }
    if (const std::optional<halo::Shapes> near = of_neighbours(reader.get<halo::Shape>())) return *near;
    return of_all(mine);
  }

 private:
  // Returns nothing if some rank knows a reason to gather everything.
  std::optional<halo::Shapes> of_neighbours(const halo::Shape& mine) const {
    std::set<int> neighbours;
    for (const Grid::Coordinates& step : steps_)
      if (const std::optional<int> rank = grid_.neighbour(control_.rank(), step)) neighbours.insert(*rank);
    neighbours.erase(control_.rank());
    std::vector<control::Letter> letters;
    for (const int rank : neighbours) letters.push_back({rank, base::Writer().put(mine).blob()});
    const auto [same, not_same] = control::vote_for(base::fnv1a(std::as_bytes(std::span(words_))));
    const std::uint64_t is_bare = halo::has_cells(mine, grid_.dims()) ? 0 : 1;
    const control::Exchanged met = control_.exchange(letters, {is_bare, same, not_same}, what_);
    if (met.votes[0] != 0 || !control::all_voted_alike(met.votes[1], met.votes[2])) return std::nullopt;
    halo::Shapes shapes{{control_.rank(), mine}};
    for (const control::Letter& letter : met.letters)
      shapes.emplace(letter.rank, base::Reader(letter.bytes).get<halo::Shape>());
    const bool is_wrong = control_.exchange({}, {is_refused(shapes)}, what_).votes[0] != 0;
    return is_wrong ? std::nullopt : std::optional(std::move(shapes));
  }

  bool is_refused(const halo::Shapes& shapes) const {
    try {
      halo::check_neighbours(name_, grid_, shapes, control_.rank(), steps_);
    } catch (const Error&) {
      return true;
    }
    return false;
  }

  // Throws the problem of the lowest rank that has one.
  halo::Shapes of_all(const base::Blob& mine) const {
    std::vector<base::Blob> all = control_.all_gather(mine, what_);
    control_.require_all(all);
    halo::Shapes shapes;
    std::string first;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      base::Reader reader(all[rank]);
      shapes.emplace(static_cast<int>(rank), reader.get<halo::Shape>());
      const std::string theirs = reader.get_string();
      if (rank == 0) first = theirs;
      if (theirs != first) {
        fail(Errc::refused, "halo '{}': rank 0 has {}; rank {} has {}; give every rank the same", name_,
             first, rank, theirs);
      }
    }
    for (int rank = 0; rank < grid_.ranks(); ++rank)
      halo::check_neighbours(name_, grid_, shapes, rank, steps_);
    return shapes;
  }

  control::Control& control_;
  const std::string& name_;
  const Grid& grid_;
  std::vector<Grid::Coordinates> steps_;
  std::string words_, what_;
};

// Collective. Tells the ranks that put to this one which fields this rank has added, and returns the same
// about those that it puts to, and its own.
std::map<int, std::vector<halo::Added>> fields_of_neighbours(const core::WorldState& world,
                                                             const std::string& whose,
                                                             const std::vector<halo::Added>& mine,
                                                             const std::set<int>& senders) {
  const base::Blob declared = halo::encode(mine);
  std::vector<control::Letter> letters;
  for (const int rank : senders)
    if (rank != world.rank()) letters.push_back({rank, declared});
  std::map<int, std::vector<halo::Added>> added{{world.rank(), mine}};
  for (const control::Letter& letter : halo::exchange_fields(world, whose, mine, letters))
    added[letter.rank] = halo::decode(letter.bytes);
  return added;
}

}  // namespace

Halo::Arrays Halo::Arrays::agreed(World& world, const std::string& name, const Grid& grid,
                                  const std::vector<std::int64_t>& interior, const HaloOptions& options) {
  const std::chrono::milliseconds limit = core::WorldState::of(world).control().time_limit;
  return {Agreement(world, name, grid, options.corners).run([&] {
    core::checked_limit(options.chain.time_limit.value_or(limit), fmt::format("halo '{}'", name));
    if (grid.ranks() != world.size()) {
      fail(Errc::invalid_argument, "halo '{}': a grid of {} is one of {} ranks, and the world has {}", name,
           grid.describe(), grid.ranks(), world.size());
    }
    return halo::check_shape(name, grid, interior, options.width, options.exchange);
  })};
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
  const halo::Shapes& shapes = arrays.shapes;
  const auto shape_of = [&](int rank) -> const halo::Shape& { return shapes.at(rank); };
  const halo::Shape& mine = shape_of(me);

  dims_ = static_cast<std::size_t>(dims);
  extents_ = halo::with_ghosts(mine, dims);
  for (std::size_t d = dims_; d-- > 0; elements_ *= extents_[d]) {
    pitch_[d] = elements_;
    origin_ += mine.width[d].low * elements_;
  }
  if (!halo::has_cells(mine, dims)) return;
  std::set<int> senders;
  for (const Grid::Coordinates& step : halo::directions(dims, options.corners)) {
    // This rank as a receiver: the neighbour on side `step` fills the ghosts there.
    if (const std::optional<int> sender = halo::neighbour_of(grid, shapes, me, step)) {
      for (const halo::Piece& piece : halo::pieces(shape_of(*sender), mine, step, dims)) {
        senders.insert(*sender);
        ghosts_.push_back({*sender, step, piece.ghosts});
      }
    }
    // This rank as a sender: it is on side `step` of its neighbour in the opposite direction.
    const Grid::Coordinates back = halo::opposite(step);
    if (const std::optional<int> receiver = halo::neighbour_of(grid, shapes, me, back)) {
      for (const halo::Piece& piece : halo::pieces(mine, shape_of(*receiver), step, dims))
        faces_.push_back({*receiver, back, piece.cells, piece.ghosts});
    }
  }
  for (const int rank : senders) chain_.expect(rank);
}

std::string Halo::title() const { return fmt::format("halo '{}'", chain_.name()); }

void Halo::require_uncommitted(const char* call) const {
  if (committed_) fail(Errc::invalid_argument, "{} on {} after its commit; make a new halo", call, title());
}

Halo& Halo::add(const raw::Window& window, Count first) { return add(window, first, false); }
Halo& Halo::add_counted(const raw::Window& window, Count first) { return add(window, first, true); }

// The two ends of a counted put are looked up by their side.
void Halo::require_countable() const {
  const auto is_one_side = [](const auto& a, const auto& b) { return a.side == b.side; };
  if (std::ranges::adjacent_find(faces_, is_one_side) == faces_.end() &&
      std::ranges::adjacent_find(ghosts_, is_one_side) == ghosts_.end())
    return;
  fail(Errc::invalid_argument,
       "add_counted: a face of {} takes several puts, as of so many dimensions it keeps more than {} loops, "
       "and a counted one is a single put",
       title(), Layout::max_loops);
}

Halo& Halo::add(const raw::Window& window, Count first, bool counted) {
  world();  // throws if the halo was moved from
  require_uncommitted(counted ? "add_counted" : "add");
  if (counted) require_countable();
  const std::int64_t offset = first.value();
  halo::require_room(*world_, title(), elements(), window, offset);
  std::vector<halo::Added> before;
  for (const Field& field : fields_) before.push_back({field.window.number(), field.offset});
  halo::require_apart(*world_, title(), elements(), before, window, offset);
  bytes_ += sent_elements() * static_cast<std::int64_t>(window.element_bytes());
  fields_.push_back({window, offset, counted});
  return *this;
}

void Halo::commit() {
  control::Control& control = world().control();
  require_uncommitted("commit");
  const core::TimeLimit limit(control, time_limit_);
  std::vector<halo::Added> mine_added;
  for (const Field& field : fields_) mine_added.push_back({field.window.number(), field.offset});
  std::set<int> senders;
  for (const Ghosts& ghosts : ghosts_) senders.insert(ghosts.neighbour);
  const std::map<int, std::vector<halo::Added>> added =
      fields_of_neighbours(*world_, title(), mine_added, senders);
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const auto& [window, mine, counted] = fields_[i];
    CountedSides& sides = counted_.emplace_back(CountedSides{.counted = counted});
    for (const Face& face : faces_) {
      const raw::Remote target = window.on(face.neighbour).at(added.at(face.neighbour)[i].offset);
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

// Throws if there is no such field or side.
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
