// Misuse: a put into this rank's own part of a window that does not name the rank.
#include "tca/tca.hpp"

void local_as_target(tca::Chain& chain, const tca::Window<double>& window) {
#ifdef TCA_MISUSE
  chain.put(window.at(0), window.at(8), tca::block(1));
#else
  chain.put(window.on(0).at(0), window.at(8), tca::block(1));
#endif
}
