// Misuse: a put whose source stands where the target belongs.
#include "tca/tca.hpp"

void swapped_source_and_target(tca::Chain& chain, const tca::Window<double>& window) {
#ifdef TCA_MISUSE
  chain.put(window.at(8), window.on(1).at(0), tca::block(1));
#else
  chain.put(window.on(1).at(0), window.at(8), tca::block(1));
#endif
}
