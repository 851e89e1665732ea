// Misuse: an immediate put of more than a cache line.
#include <array>

#include "tca/tca.hpp"

template <int Bytes>
using Value = std::array<char, Bytes>;

void large_immediate_put(const tca::Window<Value<64>>& fits, const tca::Window<Value<65>>& too_large) {
#ifdef TCA_MISUSE
  too_large.on(1).at(0).put(Value<65>{});
#endif
  (void)too_large;
  fits.on(1).at(0).put(Value<64>{});
}
