// Misuse: the receiver of a counted put sets its length.
#include "tca/tca.hpp"

void set_of_arrival(tca::Chain& chain) {
  tca::CountedArrival come = chain.expect_counted(1);
#ifdef TCA_MISUSE
  come.set(1);
#else
  static_cast<void>(come.count());
#endif
}
