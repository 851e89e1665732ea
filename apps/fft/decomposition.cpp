#include "fft/decomposition.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "shared/workers.hpp"
#include "tca/error.hpp"

namespace tca::fft {

std::string describe(const Extents& extents) {
  return fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]);
}

Box Box::part(std::size_t dim, int part, int parts) const {
  const std::int64_t begin = apps::begin_of_part(size[dim], part, parts);
  Box box = *this;
  box.first[dim] += begin;
  box.size[dim] = apps::begin_of_part(size[dim], part + 1, parts) - begin;
  return box;
}

Box common(const Box& a, const Box& b) {
  Box box;
  for (std::size_t d = 0; d < 3; ++d) {
    box.first[d] = std::max(a.first[d], b.first[d]);
    const std::int64_t end = std::min(a.first[d] + a.size[d], b.first[d] + b.size[d]);
    box.size[d] = std::max(end - box.first[d], std::int64_t{0});
  }
  return box;
}

std::optional<std::size_t> Stage::batch_dim() const {
  for (const std::size_t dim : {std::size_t{0}, std::size_t{1}})
    if (std::ranges::find(over, dim) == over.end()) return dim;
  return std::nullopt;
}

namespace {

bool fits(const Extents& extents, int rows, int columns) {
  return rows <= std::min(extents[0], extents[1]) && columns <= std::min(extents[1], extents[2]);
}

// Dimensions of which a rank has all after the same exchange are transformed together.
std::vector<Stage> stages_of(int rows, int columns) {
  using Cut = Stage::Cut;
  constexpr std::array before{Cut::rows, Cut::columns, Cut::none};
  constexpr std::array between{Cut::rows, Cut::none, Cut::columns};
  constexpr std::array after{Cut::none, Cut::rows, Cut::columns};
  if (rows == 1 && columns == 1) return {{before, {0, 1, 2}}};
  if (columns == 1) return {{before, {1, 2}}, {after, {0}}};
  if (rows == 1) return {{before, {2}}, {after, {0, 1}}};
  return {{before, {2}}, {between, {1}}, {after, {0}}};
}

}  // namespace

Decomposition::Decomposition(const Extents& extents, int rows, int columns)
    : extents_(extents), rows_(rows), columns_(columns), stages_(stages_of(rows, columns)) {
  if (!fits(extents, rows, columns))
    throw Error(
        Errc::invalid_argument,
        fmt::format("a grid of {}x{} ranks leaves some of them nothing of {} complex numbers: x and y are "
                    "divided among {} rows, y and z among {} columns",
                    rows, columns, describe(extents), rows, columns));
}

Box Decomposition::box(std::size_t stage, int rank) const {
  Box box{.first = {}, .size = extents_};
  for (std::size_t d = 0; d < 3; ++d) {
    const Stage::Cut cut = stages_[stage].cut[d];
    if (cut == Stage::Cut::rows) box = box.part(d, rank / columns_, rows_);
    if (cut == Stage::Cut::columns) box = box.part(d, rank % columns_, columns_);
  }
  return box;
}

int Decomposition::most_batches() const {
  std::int64_t most = std::max(extents_[0], extents_[1]);
  for (std::size_t stage = 0; stage < stages_.size(); ++stage)
    if (const auto dim = stages_[stage].batch_dim())
      for (int rank = 0; rank < ranks(); ++rank) most = std::min(most, box(stage, rank).size[*dim]);
  return static_cast<int>(most);
}

Box Decomposition::source(const Hop& hop, int rank, int batch) const {
  const Box whole = box(hop.from, rank);
  return hop.dim ? whole.part(*hop.dim, batch, hop.batches) : whole;
}

std::vector<int> Decomposition::group(const Hop& hop, int rank) const {
  std::vector<int> ranks_in;
  for (int other = 0; other < ranks(); ++other)
    if (common(box(hop.from, rank), box(hop.to, other)).elements() > 0) ranks_in.push_back(other);
  return ranks_in;
}

std::vector<Piece> Decomposition::sent(const Hop& hop, int rank, int batch) const {
  std::vector<Piece> pieces;
  for (const int target : group(hop, rank))
    pieces.push_back({rank, target, common(source(hop, rank, batch), box(hop.to, target))});
  return pieces;
}

std::vector<Piece> Decomposition::received(const Hop& hop, int rank, int batch) const {
  std::vector<Piece> pieces;
  for (const int from : group(hop, rank))
    pieces.push_back({from, rank, common(source(hop, from, batch), box(hop.to, rank))});
  return pieces;
}

std::array<int, 2> choose_grid(const Extents& extents, int ranks, std::span<const int> wanted) {
  if (!wanted.empty()) return {wanted[0], wanted[1]};
  if (fits(extents, ranks, 1)) return {ranks, 1};
  std::array<int, 2> best{};
  for (int columns = 1; columns <= ranks; ++columns) {
    const int rows = ranks / columns;
    if (rows * columns != ranks || !fits(extents, rows, columns)) continue;
    if (best[0] == 0 || std::abs(rows - columns) < std::abs(best[0] - best[1])) best = {rows, columns};
  }
  if (best[0] == 0)
    throw Error(
        Errc::invalid_argument,
        fmt::format("{} complex numbers cannot be divided among {} ranks, in planes or in bundles of lines: "
                    "take fewer ranks",
                    describe(extents), ranks));
  return best;
}

}  // namespace tca::fft
