#include "fold_check.hpp"

#include <fmt/ranges.h>

#include <random>

namespace tca::test {

std::map<std::int64_t, OthersShares> fold_shares(const Grid& grid, const HaloCase& test) {
  std::map<std::int64_t, OthersShares> shares;
  for (int rank = 0; rank < grid.ranks(); ++rank) {
    const std::vector<HaloCell> cells = halo_cells(grid, rank, test);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].interior || !cells[i].filled) continue;
      Grid::Coordinates seen_by_owner{};
      std::ranges::transform(cells[i].side, seen_by_owner.begin(), std::negate<>());
      shares[cells[i].global].emplace_back(rank, seen_by_owner, i);
    }
  }
  for (auto& [cell, others] : shares) std::ranges::sort(others);
  return shares;
}

HaloCase random_halo(unsigned seed, int ranks, std::string channel) {
  std::mt19937 random(seed);
  const auto in = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  HaloCase test{.corners = in(0, 1) == 1, .steps = 3, .channel = std::move(channel)};
  const int dims = in(1, in(1, 4));
  test.shape.assign(static_cast<std::size_t>(dims), 1);
  for (int rest = ranks; rest > 1;) {  // deals the prime factors out
    int factor = 2;
    while (rest % factor != 0) ++factor;
    rest /= factor;
    test.shape[static_cast<std::size_t>(in(0, dims - 1))] *= factor;
  }
  for (const int parts : test.shape) {
    // One in five has more ranks than cells.
    const std::int64_t cells =
        in(0, 4) == 0 ? in(1, parts) : parts * in(1, dims < 3 ? 5 : 3) + in(0, parts - 1);
    const int most = static_cast<int>(std::clamp<std::int64_t>(cells / parts, 1, 3));
    test.extents.push_back(cells);
    test.periodic.push_back(in(0, 1) == 1);
    const GhostWidth width{in(0, most), in(0, most)};
    test.width.push_back(width);
    test.exchange.push_back({in(0, static_cast<int>(width.low)), in(0, static_cast<int>(width.high))});
  }
  if (in(0, 2) > 0) test.exchange.clear();
  return test;
}

std::string describe(const HaloCase& test) {
  const auto words = [](const std::vector<GhostWidth>& widths) {
    std::vector<std::string> all;
    for (const GhostWidth& width : widths) all.push_back(fmt::format("{}/{}", width.low, width.high));
    return all;
  };
  const std::vector<int> periodic(test.periodic.begin(), test.periodic.end());
  return fmt::format("a grid of {}, {} cells, periodic {}, ghosts {}, exchanged {}, {} corners, channel '{}'",
                     fmt::join(test.shape, "x"), fmt::join(test.extents, "x"), fmt::join(periodic, ","),
                     fmt::join(words(test.width), ","),
                     test.exchange.empty() ? "all" : fmt::format("{}", fmt::join(words(test.exchange), ",")),
                     test.corners ? "with" : "without", test.channel);
}

}  // namespace tca::test
