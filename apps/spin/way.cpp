#include "spin/way.hpp"

namespace tca::spin {

namespace {

template <class Real>
class HostWay : public Way {
 public:
  HostWay(Solver<Real>& solver, Exchange& exchange, bool overlap)
      : solver_(solver), exchange_(exchange), overlap_(overlap) {}

  Phase run(Update update, int sweeps) override {
    Phase phase;
    for (int n = 0; n < sweeps; ++n) {
      const Phases taken = solver_.sweep(update, exchange_, overlap_);
      phase.total_us += taken.total_us();
      phase.compute_us += taken.compute_us;
      phase.halo_us.insert(phase.halo_us.end(), taken.halo_us.begin(), taken.halo_us.end());
    }
    phase.state = solver_.measure(exchange_);
    return phase;
  }
  void set_betas(std::span<const double> betas) override { solver_.set_betas(betas); }
  std::int64_t bytes() const override { return exchange_.bytes(); }

 private:
  Solver<Real>& solver_;
  Exchange& exchange_;
  bool overlap_;
};

}  // namespace

template <class Real>
std::unique_ptr<Way> host_way(Solver<Real>& solver, Exchange& exchange, bool overlap) {
  return std::make_unique<HostWay<Real>>(solver, exchange, overlap);
}

template std::unique_ptr<Way> host_way(Solver<float>&, Exchange&, bool);
template std::unique_ptr<Way> host_way(Solver<double>&, Exchange&, bool);

}  // namespace tca::spin
