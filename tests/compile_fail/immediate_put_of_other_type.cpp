// Misuse: an immediate put of a value of another type than the window's elements.
#include <array>

#include "tca/tca.hpp"

void immediate_put_of_other_type(const tca::Window<std::array<int, 2>>& window) {
#ifdef TCA_MISUSE
  window.on(1).at(0).put("12345678");
#else
  window.on(1).at(0).put({1, 2});
#endif
}
