// The exchange by OpenTCA: two halos and a reduction.
#include <utility>
#include <vector>

#include "himeno/exchange.hpp"
#include "tca/coll.hpp"
#include "tca/halo.hpp"

namespace tca::himeno {

Halo committed_halo(World& world, std::string name, const Grid& grid, const Share& share,
                    const Window<float>& pressure, bool guarded) {
  Halo halo(world, std::move(name), grid, {share[0].size, share[1].size, share[2].size},
            {.width = {}, .corners = true, .chain = {.guarded = guarded, .time_limit = {}, .channel = {}}});
  halo.add(pressure);
  halo.commit();
  return halo;
}

namespace {

class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, const Grid& grid, const Share& share, const Pressure& pressure, bool guarded)
      : halos_{committed_halo(world, "pressure 0", grid, share, pressure[0], guarded),
               committed_halo(world, "pressure 1", grid, share, pressure[1], guarded)},
        residual_(world, "residual") {}

  void start(int which) override { halo(which).start(); }
  void wait(int which) override { halo(which).wait(); }
  double sum(double mine) override { return residual_.reduce(mine); }

  std::int64_t bytes() const override { return halos_[0].bytes(); }
  std::string explain() const override { return halos_[0].explain(); }

 private:
  Halo& halo(int which) { return halos_[static_cast<std::size_t>(which)]; }

  std::array<Halo, 2> halos_;
  AllReduce<double> residual_;
};

}  // namespace

std::unique_ptr<Exchange> direct_exchange(World& world, const Grid& grid, const Share& share,
                                          const Pressure& pressure, bool guarded) {
  return std::make_unique<DirectExchange>(world, grid, share, pressure, guarded);
}

}  // namespace tca::himeno
