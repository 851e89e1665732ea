// The exchange on GPUs by OpenTCA: two halos and a sum.
#include "shared/gpu_sum.hpp"
#include "spin/gpu/exchange.hpp"
#include "spin/sums.hpp"
#include "tca/halo.hpp"

namespace tca::spin {

namespace {

template <class Real>
Halo committed_halo(World& world, const GpuLattice<Real>& lattice, int colour, const std::string& channel) {
  const Share& share = lattice.share();
  const Extents& cells = share.cells();
  Halo halo(world, colour == 0 ? "even spins" : "odd spins", share.grid(), {cells[0], cells[1], cells[2]},
            {.chain = {.channel = channel}});
  for (int field = 0; field < share.fields(); ++field)
    halo.add(lattice.spins(colour), field * halo.elements());
  halo.commit();
  return halo;
}

class DirectGpuExchange : public GpuExchange {
 public:
  template <class Real>
  DirectGpuExchange(World& world, const GpuLattice<Real>& lattice, const std::string& channel)
      : halos_{committed_halo(world, lattice, 0, channel), committed_halo(world, lattice, 1, channel)},
        sums_(world, "sums", sum_count(lattice.share().problem())) {}

  void start(int colour, Stream stream) override { halo(colour).start(stream); }
  void wait(int colour, Stream stream) override { halo(colour).wait(stream); }
  void exchange(int colour, Stream stream) override { halo(colour).run(stream); }
  void add_up(double* values, int count, Stream stream) override { sums_.add_up(values, count, stream); }

  std::int64_t bytes() const override { return halos_[0].bytes(); }
  std::string explain() const override { return halos_[0].explain(); }

 private:
  Halo& halo(int colour) { return halos_[static_cast<std::size_t>(colour)]; }

  std::array<Halo, 2> halos_;
  apps::GpuSum sums_;
};

}  // namespace

template <class Real>
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const GpuLattice<Real>& lattice,
                                                 const apps::Channels& channels) {
  return std::make_unique<DirectGpuExchange>(world, lattice, channels.of("HALO"));
}

template std::unique_ptr<GpuExchange> direct_gpu_exchange(World&, const GpuLattice<float>&,
                                                          const apps::Channels&);
template std::unique_ptr<GpuExchange> direct_gpu_exchange(World&, const GpuLattice<double>&,
                                                          const apps::Channels&);

}  // namespace tca::spin
