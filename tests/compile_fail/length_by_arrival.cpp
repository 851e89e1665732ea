// Misuse: a kernel sets the length of what comes to it.
#include "tca/device/counted.hpp"

void length_by_arrival(const tca::DeviceCountedArrival& come) {
#ifdef TCA_MISUSE
  come.set(1);
#else
  static_cast<void>(come.count());
#endif
}
