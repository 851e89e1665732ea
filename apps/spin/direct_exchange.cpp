// The exchange by OpenTCA: two halos and a reduction.
#include <span>
#include <vector>

#include "spin/exchange.hpp"
#include "tca/coll.hpp"
#include "tca/halo.hpp"

namespace tca::spin {

namespace {

template <class Real>
Halo committed_halo(World& world, const Lattice<Real>& lattice, int colour, const std::string& channel) {
  const Extents& cells = lattice.share().cells();
  Halo halo(world, colour == 0 ? "even spins" : "odd spins", lattice.share().grid(),
            {cells[0], cells[1], cells[2]}, {.chain = {.channel = channel}});
  for (int field = 0; field < lattice.share().fields(); ++field)
    halo.add(lattice.spins(colour), field * halo.elements());
  halo.commit();
  return halo;
}

template <class Real>
class DirectExchange : public Exchange {
 public:
  DirectExchange(World& world, const Lattice<Real>& lattice, const apps::Channels& channels)
      : halos_{committed_halo(world, lattice, 0, channels.of("HALO")),
               committed_halo(world, lattice, 1, channels.of("HALO"))},
        sum_(world, "sums", sum_count(lattice.share().problem()), ReduceOp::sum,
             {.channel = channels.of("SUM")}) {}

  void start(int colour) override { halos_[static_cast<std::size_t>(colour)].start(); }
  void wait(int colour) override { halos_[static_cast<std::size_t>(colour)].wait(); }

  void add_up(std::span<double> values) override { sum_.reduce_in_place(values); }

  std::int64_t bytes() const override { return halos_[0].bytes(); }
  std::string explain() const override { return halos_[0].explain(); }
  std::string explain_sum() const override { return sum_.explain(); }

 private:
  std::array<Halo, 2> halos_;
  AllReduce<double> sum_;
};

}  // namespace

template <class Real>
std::unique_ptr<Exchange> direct_exchange(World& world, const Lattice<Real>& lattice,
                                          const apps::Channels& channels) {
  return std::make_unique<DirectExchange<Real>>(world, lattice, channels);
}

template std::unique_ptr<Exchange> direct_exchange(World&, const Lattice<float>&, const apps::Channels&);
template std::unique_ptr<Exchange> direct_exchange(World&, const Lattice<double>&, const apps::Channels&);

}  // namespace tca::spin
