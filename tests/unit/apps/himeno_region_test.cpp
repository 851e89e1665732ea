// Tests how a rank's cells are divided into a GPU's tasks: every cell belongs to exactly one lane of one
// task.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "himeno/partition.hpp"
#include "himeno/region.hpp"

namespace tca::himeno {
namespace {

std::vector<int> visits(const Region& region, const Extents& extents) {
  std::vector<int> count(static_cast<std::size_t>(extents[0] * extents[1] * extents[2]));
  for (Word task = 0; task < region.tasks; ++task) {
    for (Word lane = 0; lane < 32; ++lane) {
      const Word at = region.element(task, lane);
      if (at != Region::nowhere) ++count.at(at);
    }
  }
  return count;
}

std::vector<int> expected(const std::vector<Box>& boxes, const Extents& extents) {
  std::vector<int> count(static_cast<std::size_t>(extents[0] * extents[1] * extents[2]));
  for (const Box& box : boxes) {
    for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i) {
      for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j) {
        for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k)
          ++count[static_cast<std::size_t>((i * extents[1] + j) * extents[2] + k)];
      }
    }
  }
  return count;
}

TEST(HimenoRegion, VisitsEveryCellOnce) {
  for (const std::int64_t cells : {1, 2, 3, 7, 8, 31, 32, 33, 62, 126, 254}) {
    const Extents extents{5, 9, cells + 2};
    const std::vector<Box> boxes{{{1, 1, 1}, {4, 8, cells + 1}}};
    EXPECT_EQ(visits(region_of(boxes, extents), extents), expected(boxes, extents)) << cells << " cells";
  }
}

// A task that has a row gives the same cells by the row as by its lanes.
TEST(HimenoRegion, TellsATasksRow) {
  for (const std::int64_t cells : {1, 7, 16, 17, 32, 33, 254}) {
    const Extents extents{5, 9, cells + 2};
    const std::vector<Box> boxes{{{1, 1, 1}, {4, 8, cells + 1}}};
    const Region region = region_of(boxes, extents);
    for (Word task = 0; task < region.tasks; ++task) {
      const TaskRow row = region.row_of(task);
      EXPECT_EQ(row.cells == 0, cells <= 16) << cells << " cells: rows of up to 16 share a task";
      for (Word lane = 0; lane < 32 && row.cells > 0; ++lane) {
        EXPECT_EQ(region.element(task, lane), lane < row.cells ? row.first + lane : Region::nowhere)
            << cells << " cells, task " << task << ", lane " << lane;
      }
    }
  }
}

TEST(HimenoRegion, HasNoTasksForNothing) {
  const Extents extents{4, 4, 4};
  EXPECT_EQ(region_of({}, extents).tasks, 0U);
  const Box nothing{{1, 1, 1}, {1, 3, 3}};
  EXPECT_EQ(region_of({&nothing, 1}, extents).tasks, 0U);
}

// On every rank of every grid, the shell and the core together contain each of the rank's cells once.
TEST(HimenoRegion, ShellAndCoreAreTheWhole) {
  const Problem problem{.extents = {14, 15, 40}};
  for (const std::array<int, 3> shape :
       {std::array{1, 1, 1}, {4, 1, 1}, {1, 3, 1}, {1, 1, 5}, {2, 2, 2}, {3, 3, 3}}) {
    const Grid grid(shape[0] * shape[1] * shape[2], {shape[0], shape[1], shape[2]});
    for (int rank = 0; rank < grid.ranks(); ++rank) {
      const Share share = share_of(problem, grid, rank);
      const Extents extents = extents_of(share);
      const Division division = divide(share, grid, rank, {1, 1, 8});
      std::vector<int> both = visits(region_of(division.shell, extents), extents);
      const std::vector<int> core = visits(region_of({&division.core, 1}, extents), extents);
      std::transform(both.begin(), both.end(), core.begin(), both.begin(), std::plus<>());
      EXPECT_EQ(both, expected({whole(share)}, extents)) << grid.describe() << ", rank " << rank;

      // As one region, the tasks of the shell come first.
      std::vector<Box> boxes = division.shell;
      boxes.push_back(division.core);
      Region region = region_of(boxes, extents);
      EXPECT_EQ(visits(region, extents), both) << grid.describe() << ", rank " << rank;
      region.tasks = region_of(division.shell, extents).tasks;
      EXPECT_EQ(visits(region, extents), expected(division.shell, extents))
          << grid.describe() << ", rank " << rank;
    }
  }
}

}  // namespace
}  // namespace tca::himeno
