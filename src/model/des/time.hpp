// Simulated time.
#pragma once

#include <cmath>
#include <cstdint>

namespace tca::des {

using Time = std::int64_t;  // picoseconds since the simulation began, or a span of them

constexpr Time nanosecond = 1'000;
constexpr Time microsecond = 1'000'000;
constexpr Time second = 1'000'000'000'000;
constexpr Time never = INT64_MAX;

constexpr double to_us(Time time) { return static_cast<double>(time) * 1e-6; }

// These round to whole picoseconds, so that a number in a machine file means the same on every computer.
inline Time from_us(double us) { return std::llround(us * 1e6); }
inline Time from_ns(double ns) { return std::llround(ns * 1e3); }

}  // namespace tca::des
