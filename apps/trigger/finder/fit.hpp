// The circle that fits hits best. Callable on the GPU.
//
// It is the algebraic fit of A. Al-Sharadqah and N. Chernov, "Error analysis for circle fitting algorithms", Electron. J.
// Stat. 3 (2009) 886: as precise as the geometric fit, which needs iterations over the hits, and without its bias of the
// radius, which is sigma^2/(2 r), a fiftieth of the error of a ring of 20 hits at 1 % resolution.
#pragma once

#include <cmath>

#include "tca/device/memory.hpp"
#include "trigger/event.hpp"
#include "trigger/finder/lanes.hpp"

namespace tca::trigger {

TCA_DEVICE float distance(const Ring& centre, float x, float y) {
  const float dx = x - centre.x, dy = y - centre.y;
  return std::sqrt(dx * dx + dy * dy);
}

struct Fit {
  Ring ring;
  std::uint32_t hits;
  float squares;  // the sum of the hits' squared distances from the circle that they were chosen by
};

// Means over hits whose own mean is 0, of x, y and z = x^2 + y^2.
struct Moments {
  float xx, yy, xy, xz, yz, zz;
};

// The circle around a mean of 0. The smallest root of the fit's characteristic polynomial is next to 0, and Newton's
// steps reach it from there.
TCA_DEVICE Ring circle_of(const Moments& m) {
  const float z = m.xx + m.yy, covariance = m.xx * m.yy - m.xy * m.xy, variance = m.zz - z * z;
  const float a2 = 4 * covariance - 3 * z * z - m.zz;
  const float a1 = variance * z + 4 * covariance * z - m.xz * m.xz - m.yz * m.yz;
  const float a0 =
      m.xz * (m.xz * m.yy - m.yz * m.xy) + m.yz * (m.yz * m.xx - m.xz * m.xy) - variance * covariance;
  float root = 0;
  constexpr int steps = 3;  // each doubles the digits
  for (int step = 0; step < steps; ++step) {
    const float value = a0 + root * (a1 + root * (a2 + 4 * root * root));
    root -= value / (a1 + root * (2 * a2 + 16 * root * root));
  }
  const float twice = 2 * (root * root - root * z + covariance);
  const float x = (m.xz * (m.yy - root) - m.yz * m.xy) / twice;
  const float y = (m.yz * (m.xx - root) - m.xz * m.xy) / twice;
  return {x, y, std::sqrt(x * x + y * y + z - 2 * root)};
}

// Fits those of `count` hits that are nearer to a circle than `reach`; less than three have no circle.
template <class Lanes>
TCA_DEVICE Fit fitted(const Lanes& lanes, const Ring& near, float reach, const float* x, const float* y,
                      std::uint32_t count) {
  float hits = 0, mean_x = 0, mean_y = 0, squares = 0;
  const auto for_each = [&](const auto& act) {
    for (std::uint32_t at = lanes.lane(); at < count; at += Lanes::count) {
      const float off = distance(near, x[at], y[at]) - near.r;
      if (std::fabs(off) < reach) act(x[at], y[at], off);
    }
  };
  for_each([&](float px, float py, float off) {
    hits += 1;
    mean_x += px - near.x;
    mean_y += py - near.y;
    squares += off * off;
  });
  hits = lanes.sum(hits);
  if (hits < 3) return {};
  mean_x = near.x + lanes.sum(mean_x) / hits;
  mean_y = near.y + lanes.sum(mean_y) / hits;
  Moments sums{};
  const float scale = 1 / near.r;  // so that no moment is small
  for_each([&](float px, float py, float) {
    const float u = scale * (px - mean_x), v = scale * (py - mean_y), w = u * u + v * v;
    sums.xx += u * u, sums.yy += v * v, sums.xy += u * v;
    sums.xz += u * w, sums.yz += v * w, sums.zz += w * w;
  });
  const Ring circle =
      circle_of({lanes.sum(sums.xx) / hits, lanes.sum(sums.yy) / hits, lanes.sum(sums.xy) / hits,
                 lanes.sum(sums.xz) / hits, lanes.sum(sums.yz) / hits, lanes.sum(sums.zz) / hits});
  return {{mean_x + near.r * circle.x, mean_y + near.r * circle.y, near.r * circle.r},
          static_cast<std::uint32_t>(hits),
          lanes.sum(squares)};
}

}  // namespace tca::trigger
