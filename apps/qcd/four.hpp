// Four is a vector of four reals: two spins of one colour, as (re, im, re, im). On the host it is one vector
// register. On the GPU, where a thread has a site, it is four scalars, loaded with one or two 16-byte
// accesses.
#pragma once

#include <cstring>

#include "tca/device/memory.hpp"

namespace tca::qcd {

#ifdef __CUDACC__
template <class T>
struct alignas(16) Four {
  T v[4];
};
template <class T>
TCA_DEVICE Four<T> operator+(Four<T> a, Four<T> b) {
  return {{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2], a.v[3] + b.v[3]}};
}
template <class T>
TCA_DEVICE Four<T> operator*(Four<T> a, Four<T> b) {
  return {{a.v[0] * b.v[0], a.v[1] * b.v[1], a.v[2] * b.v[2], a.v[3] * b.v[3]}};
}
template <class T>
TCA_DEVICE Four<T> operator*(T a, Four<T> b) {
  return {{a * b.v[0], a * b.v[1], a * b.v[2], a * b.v[3]}};
}
#define TCA_QCD_SHUFFLE(x, i, j, k, l) \
  {                                    \
    { x.v[i], x.v[j], x.v[k], x.v[l] } \
  }
#else
template <class T>
struct FourReals {
  using Type [[gnu::vector_size(4 * sizeof(T))]] = T;
};
template <class T>
using Four = typename FourReals<T>::Type;
#define TCA_QCD_SHUFFLE(x, i, j, k, l) __builtin_shufflevector(x, x, i, j, k, l)
#endif

template <class T>
TCA_DEVICE Four<T> load_four(const T* from) {
  Four<T> value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
TCA_DEVICE void store_four(T* to, Four<T> value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace tca::qcd
