// Misuse: a layout whose count is not an integer.
#include "tca/tca.hpp"

tca::Layout half(double rows) {
#ifdef TCA_MISUSE
  return tca::block(rows / 2);
#else
  return tca::block(static_cast<long>(rows / 2));
#endif
}
