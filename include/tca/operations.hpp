// The operations that kernels combine two values by: BlockTeam::allreduce takes one of them, or a function object of the
// program's own. They are the same four as those of Op, for the host.
#pragma once

#include "tca/device/memory.hpp"

namespace tca {

struct Sum {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return a + b;
  }
};
struct Min {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Max {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct Product {
  template <class T>
  TCA_DEVICE T operator()(T a, T b) const {
    return a * b;
  }
};

}  // namespace tca
