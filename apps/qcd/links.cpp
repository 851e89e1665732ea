#include "qcd/links.hpp"

namespace tca::qcd {

template <class T>
T time_sign(const Lattice& lattice, const Extents& local, bool antiperiodic) {
  const std::int64_t last = lattice.global()[3] - 1, t = lattice.origin()[3] + local[3];
  return antiperiodic && (t == last || t == -1) ? T(-1) : T(1);
}

template <class T>
std::array<T, 18> reals_of(const Link& link, T sign) {
  std::array<T, 18> reals;
  std::size_t i = 0;
  for (const auto& row : link.m) {
    for (const Complex<double>& element : row) {
      reals[i++] = sign * static_cast<T>(element.re);
      reals[i++] = sign * static_cast<T>(element.im);
    }
  }
  return reals;
}

template <class T>
Links<T>::Links(const Gauge& gauge, Storage storage, bool antiperiodic) : storage_(storage) {
  const Lattice& lattice = gauge.lattice();
  const auto sites = static_cast<std::size_t>(lattice.volume());
  const auto count = static_cast<std::size_t>(storage);
  reals_.reserve(sites * dims * count);
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    const Extents& local = lattice.coordinates(s);
    time_sign_.push_back(time_sign<T>(lattice, local, antiperiodic));
    for (int mu = 0; mu < dims; ++mu) {
      const std::array<T, 18> link = reals_of(gauge.links(mu)[gauge.index(local)], sign(s, mu));
      reals_.insert(reals_.end(), link.begin(), link.begin() + count);
    }
  }
}

template float time_sign(const Lattice&, const Extents&, bool);
template double time_sign(const Lattice&, const Extents&, bool);
template std::array<float, 18> reals_of(const Link&, float);
template std::array<double, 18> reals_of(const Link&, double);
template class Links<float>;
template class Links<double>;

}  // namespace tca::qcd
