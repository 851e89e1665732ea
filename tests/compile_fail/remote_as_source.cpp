// Misuse: a put that reads from another rank.
#include "tca/tca.hpp"

void remote_as_source(tca::Chain& chain, const tca::Window<double>& window) {
#ifdef TCA_MISUSE
  chain.put(window.on(1).at(0), window.on(0).at(8), tca::block(1));
#else
  chain.put(window.on(1).at(0), window.at(8), tca::block(1));
#endif
}
