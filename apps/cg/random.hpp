// The random numbers of the NAS Parallel Benchmarks: x' = 5^13 x mod 2^46, as a fraction of 2^46.
#pragma once

#include <cstdint>

namespace tca::cg {

class Random {
 public:
  static constexpr int bits = 46;

  // Returns the next number, a whole one below 2^46. The benchmark computes it in doubles, in pieces that
  // stay exact; whole numbers give the same.
  std::uint64_t next() {
    state_ = (state_ * multiplier) & ((std::uint64_t{1} << bits) - 1);
    return state_;
  }
  double fraction() { return static_cast<double>(next()) * 0x1p-46; }

 private:
  static constexpr std::uint64_t multiplier = 1'220'703'125;  // 5^13
  std::uint64_t state_ = 314'159'265;
};

}  // namespace tca::cg
