#include "qcd/links.hpp"

namespace tca::qcd {

template <class T>
Links<T>::Links(const Gauge& gauge, Storage storage, bool antiperiodic) : storage_(storage) {
  const Lattice& lattice = gauge.lattice();
  const auto sites = static_cast<std::size_t>(lattice.volume());
  reals_.reserve(sites * dims * static_cast<std::size_t>(storage));
  const int rows = storage == Storage::full ? 3 : 2;
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    const bool crosses = lattice.global_coordinates(s)[3] == lattice.global()[3] - 1;
    time_sign_.push_back(antiperiodic && crosses ? T(-1) : T(1));
    for (int mu = 0; mu < dims; ++mu) {
      const Link& link = gauge.links(mu)[gauge.index(lattice.coordinates(s))];
      for (int a = 0; a < rows; ++a) {
        for (int b = 0; b < 3; ++b) {
          reals_.push_back(sign(s, mu) * static_cast<T>(link.m[a][b].re));
          reals_.push_back(sign(s, mu) * static_cast<T>(link.m[a][b].im));
        }
      }
    }
  }
}

template class Links<float>;
template class Links<double>;

}  // namespace tca::qcd
