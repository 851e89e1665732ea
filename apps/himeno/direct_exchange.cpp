// The exchange by OpenTCA: two halos and a reduction.
#include <utility>
#include <vector>

#include "himeno/exchange.hpp"
#include "tca/coll.hpp"
#include "tca/halo.hpp"

namespace tca::himeno {

Halo committed_halo(World& world, std::string name, const Grid& grid, const Share& share,
                    const Window<float>& pressure, bool guarded, const std::string& channel) {
  Halo halo(
      world, std::move(name), grid, {share[0].size, share[1].size, share[2].size},
      {.width = {}, .corners = true, .chain = {.guarded = guarded, .time_limit = {}, .channel = channel}});
  halo.add(pressure);
  halo.commit();
  return halo;
}

namespace {

class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, const Grid& grid, const Share& share, const Pressure& pressure, bool guarded,
                 const apps::Channels& channels)
      : halos_{committed_halo(world, "pressure 0", grid, share, pressure[0], guarded, channels.of("HALO")),
               committed_halo(world, "pressure 1", grid, share, pressure[1], guarded, channels.of("HALO"))},
        residual_(world, "residual", 1, ReduceOp::sum, {.channel = channels.of("SUM")}) {}

  void start(int which) override { halo(which).start(); }
  void wait(int which) override { halo(which).wait(); }
  double sum(double mine) override { return residual_.reduce(mine); }

  std::int64_t bytes() const override { return halos_[0].bytes(); }
  std::string explain() const override { return halos_[0].explain(); }
  std::string explain_sum() const override { return residual_.explain(); }

 private:
  Halo& halo(int which) { return halos_[static_cast<std::size_t>(which)]; }

  std::array<Halo, 2> halos_;
  AllReduce<double> residual_;
};

}  // namespace

std::unique_ptr<Exchange> direct_exchange(World& world, const Grid& grid, const Share& share,
                                          const Pressure& pressure, bool guarded,
                                          const apps::Channels& channels) {
  return std::make_unique<DirectExchange>(world, grid, share, pressure, guarded, channels);
}

}  // namespace tca::himeno
