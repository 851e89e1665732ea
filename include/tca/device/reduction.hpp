// How collectives combine the values of several ranks, a few bytes at a time.
#pragma once

#include <cstring>

#include "tca/device/memory.hpp"
#include "tca/operations.hpp"

namespace tca::device {

// Combines pieces, each of which holds one or more values of T.
template <class T, class Op>
struct Reduction {
  static constexpr bool combines = true;
  using Element = T;

  template <class Piece>
  static TCA_DEVICE Piece combine(const Piece& left, const Piece& right) {
    static_assert(sizeof(Piece) % sizeof(T) == 0);
    constexpr Word elements = sizeof(Piece) / sizeof(T);
    T a[elements], b[elements];
    memcpy(a, &left, sizeof(Piece));
    memcpy(b, &right, sizeof(Piece));
    TCA_UNROLL
    for (Word i = 0; i < elements; ++i) a[i] = Op()(a[i], b[i]);
    Piece result;
    memcpy(&result, a, sizeof(Piece));
    return result;
  }
};

// The kind of collectives that leave values as they are.
struct Copying {
  static constexpr bool combines = false;
};

}  // namespace tca::device
