#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "shared/gpu_sum.hpp"
#include "spin/gpu/kernels.hpp"
#include "spin/gpu/way.hpp"
#include "tca/chain.hpp"
#include "tca/error.hpp"
#include "tca/team.hpp"

namespace tca::spin {

using namespace apps;

namespace {

template <class Real>
unsigned blocks_for(World& world, const GpuLattice<Real>& lattice) {
  const auto ranks = static_cast<unsigned>(world.ranks_on_device());
  unsigned blocks = 0;
  cuda_ok(blocks_at_once<Real>(ranks, lattice.cells().all, blocks), "asking how many blocks run at once");
  // Every rank has as many.
  blocks = std::ranges::min(world.all_gather(blocks));
  if (blocks == 0)
    throw Error(
        Errc::invalid_argument,
        fmt::format("{} ranks share a GPU, and one kernel of each does not fit on it; take fewer", ranks));
  return blocks;
}

template <class Real>
class KernelWay : public Way {
 public:
  KernelWay(World& world, GpuLattice<Real>& lattice)
      : world_(world),
        lattice_(lattice),
        blocks_(blocks_for(world, lattice)),
        chain_(world.chain("spins", {.guarded = false})),
        team_(world.team("sums", sum_count(lattice.share().problem()), blocks_)) {
    run_.sums = static_cast<Word>(sum_count(lattice.share().problem()));
    run_.cells = lattice.cells();
    connect();
    run_.progress = chain_.device_produced().progress();
    run_.barrier = barrier_.data();
    run_.team = team_.device();
    run_.found = found_.data();
  }

  Phase run(Update update, int sweeps) override {
    run_.sites = lattice_.sites();  // with the present temperatures
    run_.sweep = update == Update::heat_bath ? lattice_.count_heat_baths(sweeps) : 0;
    run_.sweeps = static_cast<Word>(sweeps);
    cuda_ok(launch_run(update, run_, blocks_, lattice_.stream().get()), "starting the sweeps' kernel");
    lattice_.stream().synchronize("sweeping");
    world_.check();
    const Found found = found_.read(lattice_.stream()).front();
    return {.total_us = static_cast<double>(found.end_ns - found.begin_ns) * 1e-3,
            .state = measurement_of(lattice_.share().problem(), found.sums)};
  }
  void set_betas(std::span<const double> betas) override { lattice_.set_betas(betas); }
  std::int64_t bytes() const override { return bytes_; }

 private:
  // Where both neighbours along a dimension are one rank, what is sent down from here comes from above there: hence the order.
  void connect() {
    const Share& share = lattice_.share();
    std::vector<ProducedPut<Vector<Real>>> puts;
    std::vector<ProducedArrival<Vector<Real>>> arrivals;
    const auto for_seams = [&](const auto& visit) {
      for (int dim = 0; dim < 3; ++dim) {
        if (!share.is_cut(static_cast<std::size_t>(dim))) continue;
        Grid::Coordinates step{};
        step[static_cast<std::size_t>(dim)] = 1;
        const int above = *share.grid().neighbour(world_.rank(), step);
        step[static_cast<std::size_t>(dim)] = -1;
        const int below = *share.grid().neighbour(world_.rank(), step);
        const int next = 2 * (2 - dim), before = next + 1;  // as Neighbour numbers them
        const std::int64_t cells = std::int64_t{lattice_.sites().face(dim)} * share.problem().replicas;
        visit(next, before, above, below, cells);
      }
    };
    for_seams([&](int, int, int above, int below, std::int64_t cells) {
      puts.push_back(chain_.put_produced<Vector<Real>>(below, cells));
      puts.push_back(chain_.put_produced<Vector<Real>>(above, cells));
      arrivals.push_back(chain_.expect_produced<Vector<Real>>(above, cells));
      arrivals.push_back(chain_.expect_produced<Vector<Real>>(below, cells));
      bytes_ += 2 * cells * static_cast<std::int64_t>(sizeof(Vector<Real>));
    });
    chain_.commit();
    std::size_t seam = 0;
    for_seams([&](int next, int before, int, int, std::int64_t) {
      run_.seams.to[before] = puts[seam].device();
      run_.seams.to[next] = puts[seam + 1].device();
      run_.seams.from[next] = arrivals[seam].device();
      run_.seams.from[before] = arrivals[seam + 1].device();
      seam += 2;
    });
  }

  World& world_;
  GpuLattice<Real>& lattice_;
  unsigned blocks_;
  Chain chain_;
  Team team_;
  std::int64_t bytes_ = 0;
  DeviceArray<std::uint64_t> barrier_{1};
  DeviceArray<Found> found_{1};
  Run<Real> run_{};
};

}  // namespace

Start chosen_start(const Problem& problem, int ranks, bool kernels_reach_all) {
  constexpr std::int64_t most_spins_by_kernel = 3'000'000;
  const std::int64_t spins = problem.sites() * problem.replicas / ranks;
  return kernels_reach_all && spins <= most_spins_by_kernel ? Start::kernel : Start::graph;
}

template <class Real>
std::unique_ptr<Way> kernel_way(World& world, GpuLattice<Real>& lattice) {
  if (!is_one_sub_cluster(world))
    throw Error(Errc::invalid_argument,
                "one kernel for all sweeps needs every rank in one sub-cluster; across sub-clusters they are "
                "started by the host or a graph");
  return std::make_unique<KernelWay<Real>>(world, lattice);
}

template std::unique_ptr<Way> kernel_way(World&, GpuLattice<float>&);
template std::unique_ptr<Way> kernel_way(World&, GpuLattice<double>&);

}  // namespace tca::spin
