// Misuse: copying a chain, which would give two handles to it.
#include <utility>

#include "tca/tca.hpp"

tca::Chain copied_chain(tca::Chain& chain) {
#ifdef TCA_MISUSE
  return tca::Chain(chain);
#else
  return std::move(chain);
#endif
}
