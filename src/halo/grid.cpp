#include "tca/grid.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"

namespace tca {

namespace {

using base::fail;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Adds to `all` every way to write `ranks` as an ordered product that keeps the given nonzero factors.
void factorise(int ranks, std::vector<int>& shape, std::size_t dim, const std::vector<int>& given,
               std::vector<std::vector<int>>& all) {
  if (dim == given.size()) {
    if (ranks == 1) all.push_back(shape);
    return;
  }
  for (int factor = 1; factor <= ranks; ++factor) {
    if (ranks % factor != 0 || (given[dim] != 0 && given[dim] != factor)) continue;
    shape[dim] = factor;
    factorise(ranks / factor, shape, dim + 1, given, all);
  }
}

// Returns the number of elements of the rank that has the most.
std::int64_t most_elements(std::int64_t extent, int ranks) { return (extent - 1) / ranks + 1; }

// Returns the weight of what the busiest rank sends: a face to each neighbour. Of two ranks along a
// dimension each has one neighbour there, or two if the dimension is periodic. In a face of the contiguous
// dimension every element drags a whole cache line along, so it counts as several.
double busiest_faces(const std::vector<int>& shape, const std::vector<bool>& periodic,
                     std::span<const std::int64_t> extents) {
  double cells = 1;
  for (std::size_t d = 0; d < shape.size(); ++d)
    cells *= static_cast<double>(most_elements(extents[d], shape[d]));
  constexpr double strided_weight = 8;
  double faces = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool strided = shape.size() > 1 && d + 1 == shape.size();
    const double face = cells / static_cast<double>(most_elements(extents[d], shape[d]));
    const double neighbours = shape[d] == 1 ? 0 : shape[d] == 2 && !periodic[d] ? 1 : 2;
    faces += neighbours * face * (strided ? strided_weight : 1);
  }
  return faces;
}

bool fits(const std::vector<int>& shape, std::span<const std::int64_t> extents) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (extents[d] < shape[d]) return false;
  }
  return true;
}

std::vector<std::vector<int>> grids(int ranks, const std::vector<int>& given,
                                    std::span<const std::int64_t> extents) {
  std::vector<std::vector<int>> all;
  std::vector<int> scratch(given.size());
  factorise(ranks, scratch, 0, given, all);
  std::erase_if(all, [&](const auto& candidate) { return !fits(candidate, extents); });
  return all;
}

// Says why no grid gives each rank a part of the array, and what would.
[[noreturn]] void fail_to_fit(int ranks, const std::vector<int>& shape,
                              std::span<const std::int64_t> extents) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (extents[d] >= shape[d]) continue;
    fail(Errc::invalid_argument,
         "grid {}: dimension {} has {} cell{} for {} ranks; use a grid of at most {} rank{} there (0 leaves "
         "the side to be chosen), or a larger array",
         fmt::join(shape, "x"), d, extents[d], extents[d] == 1 ? "" : "s", shape[d], extents[d],
         extents[d] == 1 ? "" : "s");
  }
  int most = ranks - 1;
  while (most > 0 && grids(most, shape, extents).empty()) --most;
  fail(Errc::invalid_argument,
       "grid{}: an array of {} cells cannot be dealt out over {} ranks so that each has "
       "some; {}",
       std::ranges::all_of(shape, [](int n) { return n == 0; }) ? ""
                                                                : fmt::format(" {}", fmt::join(shape, "x")),
       fmt::join(extents, "x"), ranks,
       most > 0 ? fmt::format("use {} rank{}, or a larger array", most, most == 1 ? "" : "s")
                : "use another shape");
}

}  // namespace

Grid::Grid(int ranks, std::vector<int> shape, std::vector<bool> periodic,
           std::span<const std::int64_t> extents)
    : periodic_(std::move(periodic)) {
  const std::size_t dims = shape.size();
  if (dims < 1 || dims > max_dims)
    fail(Errc::invalid_argument, "grid: it has 1 to {} dimensions, not {}", max_dims, dims);
  if (periodic_.empty()) periodic_.assign(dims, false);
  const auto require_dims = [&](const char* what, std::size_t has) {
    if (has != dims)
      fail(Errc::invalid_argument, "grid {}: {} has {} dimension{}, not {}", fmt::join(shape, "x"), what, has,
           has == 1 ? "" : "s", dims);
  };
  require_dims("periodic", periodic_.size());
  if (!extents.empty()) require_dims("extents", extents.size());
  if (ranks < 1 || std::any_of(shape.begin(), shape.end(), [](int n) { return n < 0; })) {
    fail(Errc::invalid_argument,
         "grid {} for {} ranks: there must be at least 1 rank, and no side may be negative (0 is a side to "
         "be chosen)",
         fmt::join(shape, "x"), ranks);
  }
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t n) { return n < 1; })) {
    fail(Errc::invalid_argument,
         "grid: an array of {} has no cells to deal out; every extent must be at least 1",
         fmt::join(extents, "x"));
  }
  const std::vector<std::int64_t> equal(dims, std::numeric_limits<std::int32_t>::max());
  if (grids(ranks, shape, equal).empty()) {
    fail(
        Errc::invalid_argument,
        "grid {}: no such grid holds {} ranks; its sides multiply to their number (0 is a side to be chosen)",
        fmt::join(shape, "x"), ranks);
  }
  if (extents.empty()) extents = equal;
  const std::vector<std::vector<int>> all = grids(ranks, shape, extents);
  if (all.empty()) fail_to_fit(ranks, shape, extents);
  // Among equals, outer dimensions are divided first: their faces are contiguous in memory.
  shape_ = *std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    const double left = busiest_faces(a, periodic_, extents), right = busiest_faces(b, periodic_, extents);
    return left != right ? left < right : a > b;
  });
}

Grid Grid::choose(int ranks, std::span<const std::int64_t> extents, std::vector<bool> periodic) {
  return Grid(ranks, std::vector<int>(extents.size(), 0), std::move(periodic), extents);
}

int Grid::ranks() const {
  int product = 1;
  for (const int n : shape_) product *= n;
  return product;
}

void Grid::check_rank(const char* call, int rank) const {
  if (rank < 0 || rank >= ranks())
    fail(Errc::invalid_argument, "{}: there is no rank {} in a grid of {}", call, rank, describe());
}

Grid::Coordinates Grid::coordinates(int rank) const {
  check_rank("coordinates", rank);
  Coordinates result{};
  for (int d = dims() - 1; d >= 0; --d) {
    result[at(d)] = rank % extent(d);
    rank /= extent(d);
  }
  return result;
}

int Grid::rank_at(const Coordinates& coordinates) const {
  int rank = 0;
  for (int d = 0; d < dims(); ++d) {
    const int place = coordinates[at(d)];
    if (place < 0 || place >= extent(d)) {
      fail(Errc::invalid_argument, "rank_at: a place of {} in dimension {} lies outside a grid of {}", place,
           d, describe());
    }
    rank = rank * extent(d) + place;
  }
  return rank;
}

std::optional<int> Grid::neighbour(int rank, const Coordinates& step) const {
  check_rank("neighbour", rank);
  Coordinates place = coordinates(rank);
  for (int d = 0; d < dims(); ++d) {
    const std::int64_t extent = this->extent(d), moved = std::int64_t{place[at(d)]} + step[at(d)];
    if (!periodic(d) && (moved < 0 || moved >= extent)) return std::nullopt;
    place[at(d)] = static_cast<int>((moved % extent + extent) % extent);
  }
  return rank_at(place);
}

Range Grid::part(int rank, int dim, std::int64_t whole) const {
  check_rank("part", rank);
  if (dim < 0 || dim >= dims())
    fail(Errc::invalid_argument, "part: there is no dimension {} in a grid of {}", dim, describe());
  if (whole < 0)
    fail(Errc::invalid_argument, "part: {} cells of dimension {} cannot be dealt out; there are none or more",
         whole, dim);
  const std::int64_t parts = extent(dim), index = coordinates(rank)[at(dim)];
  const std::int64_t each = whole / parts, larger = whole % parts;
  return {index * each + std::min(index, larger), each + (index < larger ? 1 : 0)};
}

std::string Grid::describe() const { return fmt::format("{}", fmt::join(shape_, "x")); }

}  // namespace tca
