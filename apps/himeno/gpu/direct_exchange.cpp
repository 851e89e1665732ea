// The exchange on GPUs by OpenTCA: two halos and a sum.
#include <optional>

#include "himeno/gpu/exchange.hpp"
#include "himeno/gpu/kernels.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/halo.hpp"

namespace tca::himeno {

namespace {

class DirectGpuExchange : public GpuExchange {
 public:
  DirectGpuExchange(World& world, const Grid& grid, const Share& share, const Pressure& pressure,
                    bool guarded, const std::string& channel)
      : halos_{committed_halo(world, "pressure 0", grid, share, pressure[0], guarded, channel),
               committed_halo(world, "pressure 1", grid, share, pressure[1], guarded, channel)},
        sum_(world, "residual", 1) {
    if (const Team* team = sum_.team())
      partners_.emplace(Partners{{halos_[0].device(), halos_[1].device()}, team->device()});
  }

  void start(int which, Stream stream) override { halo(which).start(stream); }
  void wait(int which, Stream stream) override { halo(which).wait(stream); }
  void exchange(int which, Stream stream) override { halo(which).run(stream); }
  void sum(double* value, Stream stream) override { sum_.add_up(value, 1, stream); }

  const Partners* partners() const override { return partners_ ? &*partners_ : nullptr; }
  std::int64_t bytes() const override { return halos_[0].bytes(); }
  std::string explain() const override { return halos_[0].explain(); }

 private:
  Halo& halo(int which) { return halos_[static_cast<std::size_t>(which)]; }

  std::array<Halo, 2> halos_;
  apps::GpuSum sum_;
  std::optional<Partners> partners_;
};

}  // namespace

std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Grid& grid, const Share& share,
                                                 const Pressure& pressure, bool guarded,
                                                 const apps::Channels& channels) {
  return std::make_unique<DirectGpuExchange>(world, grid, share, pressure, guarded, channels.of("HALO"));
}

}  // namespace tca::himeno
