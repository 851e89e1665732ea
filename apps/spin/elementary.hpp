// Logarithm, exponential, sine and cosine that are the same to the bit on every processor, which those of libraries are
// not: made of additions, multiplications and divisions, which are rounded alike everywhere. Right to some 1e-14.
// Factors of the series are divided out when this is compiled, because a GPU takes long to divide in double precision.
// Callable on the GPU; compile without fused multiply-adds.
#pragma once

#include <cstdint>

#include "tca/device/memory.hpp"

namespace tca::spin {

// __builtin_bit_cast, because nvcc takes std::bit_cast for a function of the host.

// The natural logarithm of a normal number above 0: that of its mantissa, between the square roots of 1/2 and 2, by the
// series of the inverse hyperbolic tangent.
TCA_DEVICE double exact_log(double x) {
  constexpr double ln2 = 0.6931471805599453094, root_half = 0.7071067811865475244;
  constexpr std::uint64_t mantissa = (std::uint64_t{1} << 52) - 1, half = std::uint64_t{1022} << 52;
  const auto bits = __builtin_bit_cast(std::uint64_t, x);
  auto power = static_cast<double>(static_cast<std::int64_t>(bits >> 52) - 1022);
  double m = __builtin_bit_cast(double, (bits & mantissa) | half);
  if (m < root_half) {
    m = 2 * m;
    power = power - 1;
  }
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  TCA_UNROLL
  for (int k = 23; k > 0; k -= 2) sum = sum * square + 1.0 / k;
  return power * ln2 + 2 * s * sum;
}

// The exponential of a number from -700 to 0; of smaller ones 0.
TCA_DEVICE double exact_exp(double x) {
  constexpr double ln2 = 0.6931471805599453094, per_ln2 = 1.4426950408889634074;
  if (x < -700) return 0;
  const auto power = static_cast<std::int64_t>(x * per_ln2 - 0.5);
  const double rest = x - static_cast<double>(power) * ln2;
  double sum = 1;
  TCA_UNROLL
  for (int k = 14; k > 0; --k) sum = sum * rest * (1.0 / k) + 1;
  return sum * __builtin_bit_cast(double, static_cast<std::uint64_t>(power + 1023) << 52);
}

struct Turned {
  double cosine, sine;
};

// The cosine and the sine of a part of a full turn, from 0 to 1.
TCA_DEVICE Turned exact_turn(double part) {
  constexpr double pi = 3.1415926535897932385;
  const auto quarter = static_cast<int>(4 * part + 0.5);
  const double angle = (part - 0.25 * quarter) * (2 * pi), square = angle * angle;
  double cosine = 1, sine = 1;
  TCA_UNROLL
  for (int k = 18; k > 0; k -= 2) {
    cosine = 1 - cosine * square * (1.0 / (k * (k - 1)));
    sine = 1 - sine * square * (1.0 / (k * (k + 1)));
  }
  sine = sine * angle;
  switch (quarter % 4) {
    case 1:
      return {-sine, cosine};
    case 2:
      return {-cosine, -sine};
    case 3:
      return {sine, -cosine};
    default:
      return {cosine, sine};
  }
}

}  // namespace tca::spin
