// Misuse: a put between windows of different element types.
#include "tca/tca.hpp"

void put_of_other_type(tca::Chain& chain, const tca::Window<double>& to, const tca::Window<float>& floats,
                       const tca::Window<double>& from) {
#ifdef TCA_MISUSE
  chain.put(to.on(1).at(0), floats.at(0), tca::block(1));
#endif
  (void)floats;
  chain.put(to.on(1).at(0), from.at(0), tca::block(1));
}
