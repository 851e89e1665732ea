// Checks that Himeno and lattice QCD on GPUs in several sub-clusters, with MPI between them, give the same
// answers as in one.
#include <gtest/gtest.h>

#include <string>

#include "himeno/check.hpp"
#include "himeno/gpu/exchange.hpp"
#include "himeno/gpu/solver.hpp"
#include "himeno/gpu/way.hpp"
#include "mpi/mpi_ranks.hpp"
#include "qcd_reference.hpp"

namespace tca::test {
namespace {

std::string run_across(int ranks, int sub_cluster, const Ranks::Body& body) {
  return mpi_backend("cuda+mpi", sub_cluster, {})
      .make()
      ->run(ranks, body, {.time_limit = std::chrono::seconds(25)});
}

void solve_himeno(World& world, himeno::Start start) {
  const himeno::Problem problem{.extents = himeno::size_named("XS").extents};
  const Grid grid(world.size(), {2, world.size() / 2, 1});
  himeno::GpuSolver solver(world, problem, grid, true);
  const auto exchange = himeno::direct_gpu_exchange(world, grid, solver.share(), solver.pressure(), true);
  const auto way = himeno::gpu_way(world, solver, *exchange, start);
  for (const int iterations : {1, 7, 10}) way->run(iterations);
  const himeno::Check verdict = himeno::check(world, problem, solver.solution());
  require(verdict.different_ranks.empty(), "cells differ on rank {}",
          fmt::join(verdict.different_ranks, ", "));
  require(verdict.residual > 0 && verdict.residual_difference <= 1e-10, "the residual differs by {} of {}",
          verdict.residual_difference, verdict.residual);
}

TEST(HybridApps, HimenoGivesTheSerialAnswer) {
  for (const himeno::Start start : {himeno::Start::host, himeno::Start::graph})
    EXPECT_EQ(run_across(4, 2, [&](World& world) { solve_himeno(world, start); }), "");
  EXPECT_EQ(run_across(2, 1, [&](World& world) { solve_himeno(world, himeno::Start::graph); }), "");
}

TEST(HybridApps, HimenosKernelStaysInItsSubCluster) {
  const std::string message =
      run_across(2, 1, [&](World& world) { solve_himeno(world, himeno::Start::kernel); });
  EXPECT_NE(message.find("one kernel for all iterations needs every rank in one sub-cluster"),
            std::string::npos)
      << message;
}

void solve_qcd(World& world, const Grid& grid, qcd::Method method, qcd::Start start,
               qcd::Precision precision = qcd::Precision::double_only, int rhs = 1) {
  using namespace qcd;
  const Lattice lattice(grid, global, world.rank());
  Gauge gauge(world, lattice);
  gauge.randomise(1);
  GpuInverter inverter(world, gauge,
                       {.wilson = {.kappa = kappa, .storage = Storage::two_rows, .rhs = rhs},
                        .method = method,
                        .precision = precision,
                        .solve = {.tolerance = tolerance, .max_iterations = 500}},
                       start);
  qcd::Field<double> x;
  for (int n = 0; n < 2; ++n) {
    const Inversion found = inverter.invert(random_field(lattice, Sites::all, rhs), x);
    require(found.solution.converged && largest(found.true_residuals) <= tolerance,
            "it did not converge: {} after {} iterations", fmt::join(found.true_residuals, " "),
            found.solution.iterations);
    const auto& known = rhs == 1 ? reference().solution : reference_together().solution;
    const double off = difference(lattice, Sites::all, x, known);
    require(off < 1e-7, "the solution differs by {}", off);
  }
}

TEST(HybridApps, LatticesAreSolvedAsOnTheHost) {
  using namespace qcd;
  const Grid four = grid_of({1, 1, 2, 2}), two = grid_of({1, 1, 1, 2});
  for (const Method method : {Method::cg, Method::bicgstab}) {
    EXPECT_EQ(run_across(4, 2, [&](World& world) { solve_qcd(world, four, method, Start::automatic); }), "");
    EXPECT_EQ(run_across(2, 1, [&](World& world) { solve_qcd(world, two, method, Start::host); }), "");
  }
  for (const Start start : {Start::automatic, Start::host}) {
    EXPECT_EQ(run_across(2, 1,
                         [&](World& world) {
                           solve_qcd(world, two, Method::cg, start, Precision::mixed);
                           solve_qcd(world, two, Method::cg, start, Precision::double_only, several);
                           solve_qcd(world, two, Method::cg, start, Precision::mixed, several);
                         }),
              "");
  }
  const std::string message =
      run_across(2, 1, [&](World& world) { solve_qcd(world, two, Method::cg, Start::kernel); });
  EXPECT_NE(message.find("the kernel that runs the whole solve"), std::string::npos) << message;
}

}  // namespace
}  // namespace tca::test
