// Tests halos in every dimension, cell by cell against global indices, and what a halo refuses.
#include <atomic>
#include <thread>

#include "halo_check.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

void expect_halo(int ranks, const HaloCase& test) {
  EXPECT_NO_THROW(World::run_threads(ranks, [&](World& world) { check_halo<double>(world, test); }));
}

// Runs all combinations of faces with or without corners, periodic or not.
void expect_all(int ranks, HaloCase test) {
  for (const bool corners : {false, true}) {
    for (const bool periodic : {false, true}) {
      SCOPED_TRACE(fmt::format("corners {}, periodic {}", corners, periodic));
      test.corners = corners;
      test.periodic.assign(test.extents.size(), periodic);
      expect_halo(ranks, test);
    }
  }
}

TEST(Halo, OneDimension) {
  expect_all(1, {.shape = {1}, .extents = {6}});
  expect_all(2, {.shape = {2}, .extents = {7}});
  expect_all(4, {.shape = {4}, .extents = {11}, .width = {{2, 1}}});
}

TEST(Halo, TwoDimensions) {
  expect_all(4, {.shape = {2, 2}, .extents = {7, 9}});
  expect_all(4, {.shape = {1, 4}, .extents = {4, 10}, .width = {{2, 2}, {1, 2}}});
  expect_all(3, {.shape = {3, 1}, .extents = {8, 3}, .width = {{1, 2}, {3, 0}}});
}

TEST(Halo, ThreeDimensions) {
  expect_all(4, {.shape = {2, 1, 2}, .extents = {5, 4, 6}, .width = {{1, 2}, {0, 1}, {2, 1}}});
  expect_all(8, {.shape = {2, 2, 2}, .extents = {5, 5, 4}});
}

TEST(Halo, FourDimensions) {
  expect_all(4, {.shape = {2, 1, 1, 2},
                 .extents = {4, 3, 2, 5},
                 .width = {{1, 1}, {1, 0}, {1, 1}, {2, 1}},
                 .steps = 2});
}

TEST(Halo, PeriodicInOneDimensionOnly) {
  expect_halo(4, {.shape = {2, 2}, .periodic = {true, false}, .extents = {6, 6}, .corners = true});
  expect_halo(4, {.shape = {4, 1}, .periodic = {false, true}, .extents = {9, 5}, .corners = true});
}

// Both sides have the same neighbour, and with corners all four have.
TEST(Halo, PeriodicWithTwoRanks) {
  expect_halo(2, {.shape = {2, 1},
                  .periodic = {true, true},
                  .extents = {4, 3},
                  .width = {{2, 2}, {3, 3}},
                  .corners = true});
}

TEST(Halo, GhostsAsWideAsTheNeighbour) {
  expect_halo(3, {.shape = {3}, .periodic = {true}, .extents = {6}, .width = {{2, 2}}});
}

TEST(Halo, AWidthOfNothing) {
  expect_all(4, {.shape = {2, 2}, .extents = {6, 6}, .width = {{0, 0}, {1, 1}}});
  expect_all(2, {.shape = {2, 1}, .extents = {6, 6}, .width = {{0, 2}, {0, 0}}});
  expect_all(2, {.shape = {2, 1}, .extents = {6, 6}, .width = {{0, 0}, {0, 0}}});
}

TEST(Halo, WidthsOfEachRankItsOwn) {
  expect_all(2, {.shape = {2}, .extents = {9}, .widths_by_rank = {{{2, 1}}, {{1, 3}}}});
  expect_all(4, {.shape = {2, 2},
                 .extents = {8, 8},
                 .widths_by_rank = {{{1, 1}, {1, 1}}, {{2, 0}, {1, 3}}, {{0, 2}, {2, 2}}, {{3, 1}, {0, 0}}}});
}

TEST(Halo, SeveralFieldsOfDifferentTypes) {
  World::run_threads(4, [](World& world) {
    check_halo<float>(world, {.shape = {2, 2}, .extents = {8, 9}, .corners = true, .fields = 3});
    check_halo<std::int16_t>(world, {.shape = {4, 1}, .extents = {8, 9}, .fields = 2});
  });
}

TEST(Halo, CountsItsBytes) {
  World::run_threads(2, [](World& world) {
    const Grid grid(2, {2, 1});
    Halo halo(world, "u", grid, {4, 10}, {.width = {{2, 1}, {1, 1}}, .corners = false, .chain = {}});
    EXPECT_EQ(halo.extents()[0], 7);
    EXPECT_EQ(halo.extents()[1], 12);
    EXPECT_EQ(halo.elements(), 84);
    EXPECT_EQ(halo.index(std::array<std::int64_t, 2>{0, 0}), 2 * 12 + 1);
    EXPECT_EQ(halo.index({3, 9}), 5 * 12 + 10);
    EXPECT_EQ(halo.index({-1, 0}), 1 * 12 + 1);
    const std::size_t first = 0;
    EXPECT_THROW(static_cast<void>(halo.index({first - 1, first})), Error);
    EXPECT_THROW(static_cast<void>(halo.index({3})), Error);
    EXPECT_THROW(static_cast<void>(halo.index({3, 9, 0})), Error);
    const auto u = world.window<double>(halo.elements());
    halo.add(u);
    // Rank 0 fills the two low ghost rows of rank 1, which fills the one high row of rank 0.
    EXPECT_EQ(halo.bytes(), (world.rank() == 0 ? 20 : 10) * 8);
    halo.commit();
    EXPECT_TRUE(says(halo.explain(), {"chain 'u'", "shm/"}));
  });
}

testing::AssertionResult all_refused(int ranks, Errc code, std::initializer_list<std::string_view> parts,
                                     const std::function<void(World&)>& body) {
  for (const Caught& error : caught_by_ranks(ranks, body)) {
    if (error.code != code) return testing::AssertionFailure() << error.message;
    if (const auto result = says(error.message, parts); !result) return result;
  }
  return testing::AssertionSuccess();
}

TEST(Halo, RefusesNeighboursThatDisagree) {
  EXPECT_TRUE(all_refused(2, Errc::refused,
                          {"halo 'u': ranks 0 and 1 are neighbours but have 5 and 6 cells in dimension 1"},
                          [](World& world) {
                            Halo(world, "u", Grid(2, {2, 1}), {4, 5 + world.rank()});
                          }));
}

TEST(Halo, NeighboursThatExchangeNothingMayDiffer) {
  World::run_threads(2, [](World& world) {
    Halo halo(world, "u", Grid(2, {2, 1}), {4, 4 + world.rank()},
              {.width = {{0, 0}, {1, 1}}, .corners = false, .chain = {}});
    const auto u = world.window<double>(halo.elements());
    halo.add(u);
    halo.commit();
    EXPECT_EQ(halo.bytes(), 0);
  });
}

TEST(Halo, RefusesRanksWithOtherGridsOrCorners) {
  const auto make = [](World& world, const Grid& grid, bool corners = false) {
    Halo(world, "u", grid, std::vector<std::int64_t>(static_cast<std::size_t>(grid.dims()), 4),
         {.width = {}, .corners = corners, .chain = {}});
  };
  const std::string same = "; give every rank the same";
  EXPECT_TRUE(all_refused(2, Errc::refused,
                          {"halo 'u': rank 0 has a grid of 2x1, periodic in no dimension, with corners",
                           "; rank 1 has a grid of 2x1, periodic in no dimension, without corners" + same},
                          [&](World& world) {
                            make(world, Grid(2, {2, 1}), world.rank() == 0);
                          }));
  EXPECT_TRUE(all_refused(2, Errc::refused,
                          {"rank 0 has a grid of 2, periodic in dimension 0, without corners",
                           "; rank 1 has a grid of 2, periodic in no dimension, without corners" + same},
                          [&](World& world) { make(world, Grid(2, {2}, {world.rank() == 0})); }));
  EXPECT_TRUE(all_refused(2, Errc::refused, {"rank 0 has a grid of 2x1", "; rank 1 has a grid of 1x2"},
                          [&](World& world) {
                            make(world, world.rank() == 0 ? Grid(2, {2, 1}) : Grid(2, {1, 2}));
                          }));
  EXPECT_TRUE(all_refused(2, Errc::refused, {"rank 0 has a grid of 2,", "; rank 1 has a grid of 2x1,"},
                          [&](World& world) {
                            make(world, world.rank() == 0 ? Grid(2, {2}) : Grid(2, {2, 1}));
                          }));
}

TEST(Halo, RefusesGhostsWiderThanTheNeighbour) {
  EXPECT_TRUE(all_refused(
      2, Errc::refused,
      {"the ghosts of rank 1 in dimension 0 are 3 wide, but rank 0, whose cells they hold, has only 2"},
      [](World& world) {
        const std::int64_t wide = world.rank() == 1 ? 3 : 1;
        Halo(world, "u", Grid(2, {2}), {world.rank() == 0 ? 2 : 5},
             {.width = {{wide, 1}}, .corners = false, .chain = {}});
      }));
}

TEST(Halo, RefusesWhatDoesNotFitTheGrid) {
  const auto wrong = [](std::initializer_list<std::string_view> parts,
                        const std::function<void(World&)>& body) {
    return all_refused(1, Errc::invalid_argument, parts, body);
  };
  EXPECT_TRUE(wrong({"halo 'u': a grid of 2x1 is one of 2 ranks, and the world has 1"}, [](World& world) {
    Halo(world, "u", Grid(2, {2, 1}), {4, 4});
  }));
  // The message does not mention widths that were not given.
  const Caught error = caught_by_ranks(1, [](World& world) {
                         Halo(world, "u", Grid(1, {1, 1}), {4});
                       }).front();
  EXPECT_EQ(error.message, "halo 'u': the grid has 2 dimensions, the interior 1; give a number for each");
  EXPECT_TRUE(wrong({"the grid has 2 dimensions, the interior 2 and the widths 1"}, [](World& world) {
    Halo(world, "u", Grid(1, {1, 1}), {4, 4}, {.width = {{1, 1}}, .corners = false, .chain = {}});
  }));
  EXPECT_TRUE(
      wrong({"dimension 0 has -1 cells"}, [](World& world) { Halo(world, "u", Grid(1, {1}), {-1}); }));
  EXPECT_TRUE(wrong({"ghosts -1 and 1 wide"}, [](World& world) {
    Halo(world, "u", Grid(1, {1}), {4}, {.width = {{-1, 1}}, .corners = false, .chain = {}});
  }));
  constexpr std::int64_t large = std::int64_t{1} << 32;
  EXPECT_TRUE(wrong({"dimension 1 has 4294967296 cells", "overflows 63 bits"}, [](World& world) {
    Halo(world, "u", Grid(1, {1, 1}), {large, large});
  }));
  EXPECT_TRUE(
      wrong({"ghosts 4611686018427387904 and 4611686018427387904 wide", "overflows"}, [](World& world) {
        const GhostWidth wide{large << 30, large << 30};
        Halo(world, "u", Grid(1, {1}), {4}, {.width = {wide}, .corners = false, .chain = {}});
      }));
}

// What one rank alone can tell is heard by all, as is what all of them share.
TEST(Halo, RefusesAMistakeOfOneRankOnEveryRank) {
  EXPECT_TRUE(
      all_refused(3, Errc::invalid_argument, {"rank 2: halo 'u': dimension 0 has -4 cells"},
                  [](World& world) { Halo(world, "u", Grid(3, {3}), {world.rank() == 2 ? -4 : 4}); }));
  EXPECT_TRUE(
      all_refused(3, Errc::invalid_argument, {"rank 0, 1: halo 'u': a time limit of 0 ms"}, [](World& world) {
        ChainOptions options;
        if (world.rank() < 2) options.time_limit = std::chrono::milliseconds(0);
        Halo(world, "u", Grid(3, {3}), {4}, {.chain = options});
      }));
}

// Where ranks own no cells, those on their two sides are neighbours.
TEST(Halo, PassesOverRanksWithoutCells) {
  for (const bool periodic : {false, true}) {
    for (const std::vector<std::int64_t>& cells :
         {std::vector<std::int64_t>{2, 1, 1, 0}, {0, 3, 0, 0, 2}, {0, 0, 4}, {0, 0}, {1, 0, 0, 0, 0, 1}}) {
      const int ranks = static_cast<int>(cells.size());
      World::run_threads(ranks, [&](World& world) {
        const auto me = static_cast<std::size_t>(world.rank());
        std::vector<int> line;  // of all cells: the rank that owns each
        std::int64_t first = 0;
        for (std::size_t rank = 0; rank < cells.size(); ++rank) {
          if (rank == me) first = static_cast<std::int64_t>(line.size());
          line.insert(line.end(), static_cast<std::size_t>(cells[rank]), static_cast<int>(rank));
        }
        Halo halo(world, "u", Grid(ranks, {ranks}, {periodic}), {cells[me]});
        const auto u = world.window<int>(halo.elements());
        std::fill(u.elements().begin(), u.elements().end(), -1);
        for (std::int64_t c = 0; c < cells[me]; ++c) u[halo.index({c})] = world.rank();
        halo.add(u).commit();
        halo.run();
        if (cells[me] == 0) return;
        const auto all = static_cast<std::int64_t>(line.size());
        for (const std::int64_t c : {std::int64_t{-1}, cells[me]}) {
          const std::int64_t at = first + c;
          const bool is_inside = periodic || (at >= 0 && at < all);
          EXPECT_EQ(u[halo.index({c})], is_inside ? line[static_cast<std::size_t>((at + all) % all)] : -1)
              << "rank " << me << ", cell " << c;
        }
      });
    }
  }
}

// Fills the ghosts next to the interior alone, and others by another halo of the same field.
TEST(Halo, ExchangesFewerGhostsThanThereAre) {
  World::run_threads(3, [](World& world) {
    const std::vector<GhostWidth> width{{3, 2}};
    const Grid grid(3, {3}, {true});
    Halo one(world, "one", grid, {4}, {.width = width, .exchange = {{1, 0}}}),
        all(world, "all", grid, {4}, {.width = width});
    const auto u = world.window<int>(all.elements());
    EXPECT_EQ(one.elements(), all.elements());
    one.add(u).commit();
    all.add(u).commit();
    const auto value = [](int rank, std::int64_t cell) { return 100 * rank + static_cast<int>(cell); };
    std::fill(u.elements().begin(), u.elements().end(), -1);
    for (std::int64_t c = 0; c < 4; ++c) u[one.index({c})] = value(world.rank(), c);
    one.run();
    const int low = (world.rank() + 2) % 3, high = (world.rank() + 1) % 3;
    EXPECT_EQ(std::vector<int>(u.data(), u.data() + 3), (std::vector<int>{-1, -1, value(low, 3)}));
    EXPECT_EQ(u[one.index({4})], -1);
    world.barrier();
    all.run();
    EXPECT_EQ(std::vector<int>(u.data(), u.data() + 3),
              (std::vector<int>{value(low, 1), value(low, 2), value(low, 3)}));
    EXPECT_EQ(u[one.index({5})], value(high, 1));
  });
  EXPECT_TRUE(
      all_refused(2, Errc::invalid_argument, {"an exchange of 2 and 0 in dimension 0"}, [](World& world) {
        Halo(world, "u", Grid(2, {2}), {4}, {.exchange = {{2, 0}}});
      }));
}

// An array of six dimensions, of which two are cut up.
TEST(Halo, HasMoreThanFourDimensions) {
  World::run_threads(4, [](World& world) {
    const Grid grid(4, {2, 1, 1, 2, 1, 1}, {true, false, false, true, false, false});
    const std::vector<GhostWidth> width{{1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}, {0, 0}};
    Halo halo(world, "u", grid, {2, 3, 2, 2, 2, 3}, {.width = width});
    const auto u = world.window<int>(halo.elements());
    std::fill(u.elements().begin(), u.elements().end(), -1);
    const auto each = [&](auto&& visit) {
      for (std::int64_t b = 0; b < 3; ++b)
        for (std::int64_t c = 0; c < 2; ++c)
          for (std::int64_t e = 0; e < 2; ++e)
            for (std::int64_t f = 0; f < 3; ++f) visit(b, c, e, f);
    };
    const auto value = [](int rank, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d,
                          std::int64_t e, std::int64_t f) {
      return static_cast<int>(((((rank * 2 + a) * 3 + b) * 2 + c) * 2 + d) * 6 + e * 3 + f);
    };
    each([&](auto b, auto c, auto e, auto f) {
      for (std::int64_t a = 0; a < 2; ++a)
        for (std::int64_t d = 0; d < 2; ++d)
          u[halo.index({a, b, c, d, e, f})] = value(world.rank(), a, b, c, d, e, f);
    });
    halo.add(u).commit();
    halo.run();
    const int over = *grid.neighbour(world.rank(), {1}), beside = *grid.neighbour(world.rank(), {0, 0, 0, 1});
    each([&](auto b, auto c, auto e, auto f) {
      EXPECT_EQ(u[halo.index({2, b, c, 1, e, f})], value(over, 0, b, c, 1, e, f));
      EXPECT_EQ(u[halo.index({1, b, c, -1, e, f})], value(beside, 1, b, c, 1, e, f));
    });
  });
}

TEST(Halo, RefusesAFieldThatDoesNotFit) {
  for (const auto& [elements, offset] : {std::pair{9, 1}, {9, -1}, {5, 0}, {10, 5}}) {
    EXPECT_TRUE(all_refused(2, Errc::invalid_argument,
                            {"halo 'u': a field of 6 elements", "does not fit at element"},
                            [elements, offset](World& world) {
                              Halo halo(world, "u", Grid(2, {2}, {true}), {4});
                              const auto u = world.window<double>(elements);
                              halo.add(u, offset == 1 ? 4 : offset);
                            }));
  }
}

TEST(Halo, RefusesFieldsThatOverlap) {
  for (const int offset : {0, 5}) {
    EXPECT_TRUE(all_refused(2, Errc::invalid_argument,
                            {"halo 'u': fields 1 and 2, of 6 elements", "overlap in window 1"},
                            [offset](World& world) {
                              Halo halo(world, "u", Grid(2, {2}, {true}), {4});
                              const auto u = world.window<double>(12), v = world.window<double>(12);
                              halo.add(u).add(v).add(v, offset);
                            }));
  }
}

TEST(Halo, FieldsMayBeginElsewhereOnEveryRank) {
  World::run_threads(2, [](World& world) {
    const std::int64_t cells = world.rank() == 0 ? 8 : 3;
    Halo halo(world, "packed", Grid(2, {2}, {true}), {cells});
    const auto both = world.window<int>(2 * halo.elements() + 5);
    const std::int64_t second = halo.elements() + 5 * world.rank();
    halo.add(both).add(both, second);
    halo.commit();
    for (std::int64_t i = 0; i < cells; ++i) {
      both[static_cast<std::size_t>(1 + i)] = static_cast<int>(100 * world.rank() + i);
      both[static_cast<std::size_t>(second + 1 + i)] = static_cast<int>(1000 + 100 * world.rank() + i);
    }
    halo.start();
    halo.wait();
    const int other = 1 - world.rank(), last = other == 0 ? 7 : 2;
    for (const auto& [begin, value] : {std::pair{std::int64_t{0}, 0}, {second, 1000}}) {
      EXPECT_EQ(both[static_cast<std::size_t>(begin)], value + 100 * other + last);
      EXPECT_EQ(both[static_cast<std::size_t>(begin + cells + 1)], value + 100 * other);
      for (std::int64_t i = 0; i < cells; ++i)
        EXPECT_EQ(both[static_cast<std::size_t>(begin + 1 + i)], value + 100 * world.rank() + i);
    }
  });
}

TEST(Halo, IsFixedByCommit) {
  World::run_threads(1, [](World& world) {
    Halo halo(world, "u", Grid(1, {1}, {true}), {4});
    const auto u = world.window<double>(halo.elements());
    halo.add(u).commit();
    const std::int64_t bytes = halo.bytes();
    EXPECT_TRUE(refuses(Errc::invalid_argument, {"add on halo 'u' after its commit"}, [&] { halo.add(u); }));
    EXPECT_TRUE(
        refuses(Errc::invalid_argument, {"commit on halo 'u' after its commit"}, [&] { halo.commit(); }));
    EXPECT_EQ(halo.bytes(), bytes);
  });
}

TEST(Halo, RefusesToExchangeNothing) {
  EXPECT_TRUE(all_refused(2, Errc::refused, {"halo 'u' has no field"}, [](World& world) {
    Halo halo(world, "u", Grid(2, {2}, {true}), {4});
    halo.commit();
  }));
}

TEST(Halo, RefusesRanksThatAddOtherFields) {
  EXPECT_TRUE(
      all_refused(2, Errc::refused,
                  {"halo 'u': rank 0 has added window 0, window 'v'; rank 1 has added window 0; every "
                   "rank adds the same windows in the same order"},
                  [](World& world) {
                    Halo halo(world, "u", Grid(2, {2}, {true}), {4});
                    const auto u = world.window<double>(halo.elements());
                    const auto v = world.window<float>(halo.elements(), "v");
                    halo.add(u);
                    if (world.rank() == 0) halo.add(v);
                    halo.commit();
                  }));
}

// Otherwise each rank would put into a window that its neighbour has not added.
TEST(Halo, RefusesRanksThatAddOtherWindows) {
  EXPECT_TRUE(all_refused(
      2, Errc::refused, {"halo 'u': rank 0 has added window", "every rank adds"}, [](World& world) {
        Halo halo(world, "u", Grid(2, {2}), {4});
        const auto u = world.window<int>(halo.elements()), v = world.window<int>(halo.elements());
        halo.add(world.rank() == 0 ? u : v).commit();
      }));
  EXPECT_TRUE(all_refused(
      2, Errc::refused, {"halo 'u': rank 0 has added window", "every rank adds"}, [](World& world) {
        Halo halo(world, "u", Grid(2, {2}), {4});
        const auto u = world.window<int>(2 * halo.elements()), v = world.window<int>(2 * halo.elements());
        const bool swaps = world.rank() == 1;
        halo.add(swaps ? v : u).add(swaps ? u : v).commit();
      }));
}

TEST(Halo, CommitKeepsTheTimeLimitOfItsChain) {
  using namespace std::chrono_literals;
  std::atomic<bool> told = false;
  const std::vector<Caught> all = caught_by_ranks(2, [&](World& world) {
    const ChainOptions hasty{.guarded = true, .time_limit = 200ms, .channel = {}};
    Halo halo(world, "u", Grid(2, {2}), {4}, {.width = {}, .corners = false, .chain = hasty});
    halo.add(world.window<double>(halo.elements()));
    if (world.rank() == 0) {
      const Caught error = caught([&] { halo.commit(); });
      told = true;
      throw Error(error.code, error.message);
    }
    // Rank 1 stays in the world for longer than the time limit, without calling commit.
    for (int looks = 0; looks < 500 && !told; ++looks) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message, {"commit of halo 'u'", "rank 1"}));
}

}  // namespace
}  // namespace tca::test
