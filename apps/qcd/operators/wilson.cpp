#include "qcd/operators/wilson.hpp"

#include <algorithm>

#include "qcd/spinor.hpp"

namespace tca::qcd {

template <class T>
Wilson<T>::Wilson(World& world, const Gauge& gauge, const WilsonOptions& options)
    : options_(options), hop_(world, gauge, options) {
  if (options.even_odd) odd_.resize(shape().size());
}

template <class T>
Shape Wilson<T>::whole_shape() const {
  return {static_cast<std::size_t>(hop_.lattice().volume()), hop_.rhs(), spinor_reals};
}

template <class T>
Shape Wilson<T>::shape() const {
  return {static_cast<std::size_t>(hop_.lattice().range(sites()).size()), hop_.rhs(), spinor_reals};
}

template <class T>
void Wilson<T>::apply(const Field<T>& in, Field<T>& out, bool dagger) {
  const T kappa = static_cast<T>(options_.kappa);
  if (!options_.even_odd) {
    hop_.apply(Sites::all, in.data(), out.data(), {.same = in.data(), .a = 1, .b = -kappa}, dagger);
    return;
  }
  hop_.apply(Sites::odd, in.data(), odd_.data(), {}, dagger);
  hop_.apply(Sites::even, odd_.data(), out.data(), {.same = in.data(), .a = 1, .b = -kappa * kappa}, dagger);
}

template <class T>
double Wilson<T>::flops() const {
  // Counts the hopping terms, and one multiplication and one addition for each real.
  const auto volume = static_cast<double>(hop_.lattice().global_volume());
  return options_.even_odd ? volume * wilson_flops + volume / 2 * 2 * spinor_reals
                           : volume * (wilson_flops + 2 * spinor_reals);
}

template <class T>
std::int64_t Wilson<T>::bytes() const {
  return options_.even_odd ? hop_.bytes(Sites::even) + hop_.bytes(Sites::odd) : hop_.bytes(Sites::all);
}

template <class T>
void Wilson<T>::prepare(const Field<T>& whole_source, Field<T>& source) {
  if (!options_.even_odd) {
    source = whole_source;
    return;
  }
  const T* const odd = whole_source.data() + shape().size();
  source.resize(shape().size());
  hop_.apply(Sites::even, odd, source.data(),
             {.same = whole_source.data(), .a = 1, .b = static_cast<T>(options_.kappa)}, false);
}

template <class T>
void Wilson<T>::reconstruct(const Field<T>& whole_source, const Field<T>& solution,
                            Field<T>& whole_solution) {
  whole_solution.resize(whole_shape().size());
  std::copy(solution.begin(), solution.end(), whole_solution.begin());
  if (!options_.even_odd) return;
  const std::size_t half = shape().size();
  hop_.apply(Sites::odd, solution.data(), whole_solution.data() + half,
             {.same = whole_source.data() + half, .a = 1, .b = static_cast<T>(options_.kappa)}, false);
}

template class Wilson<float>;
template class Wilson<double>;

}  // namespace tca::qcd
