// The circle that has the most hits of an event, among circles through three of them. Callable on the GPU; see find.hpp.
#pragma once

#include <cmath>

#include "tca/device/memory.hpp"
#include "trigger/event.hpp"
#include "trigger/finder/fit.hpp"
#include "trigger/finder/lanes.hpp"

namespace tca::trigger {

inline constexpr std::uint32_t cells = 64;      // of the histogram of centres, along x and along y
inline constexpr std::uint32_t triplets = 512;  // circles for each ring that is looked for
inline constexpr std::uint32_t examined = 32;   // of the circles whose centres met

// What an event needs while it is looked at.
struct Scratch {
  std::uint16_t votes[cells * cells];
  float x[most_hits], y[most_hits];  // the hits that belong to no ring yet
  Ring circles[triplets];
  std::uint16_t met[examined];  // numbers of circles
};

// How far from a ring its hits may be: four errors.
TCA_DEVICE float reach_of(const Ring& ring, float resolution) { return 4 * resolution * ring.r; }

// Whether a circle may be a ring.
TCA_DEVICE bool may_be_ring(const Ring& ring) {
  constexpr float margin = 0.9F;
  const float inside = margin * smallest_radius;
  return ring.r > margin * smallest_radius && ring.r < largest_radius / margin && ring.x > inside &&
         ring.x < 1 - inside && ring.y > inside && ring.y < 1 - inside;
}

// The circle through three hits; one that may not be a ring where they are so near to a line that errors of the hits
// move its centre far.
TCA_DEVICE Ring circle_through(float ax, float ay, float bx, float by, float cx, float cy) {
  bx -= ax, by -= ay, cx -= ax, cy -= ay;
  const float b2 = bx * bx + by * by, c2 = cx * cx + cy * cy, area = 2 * (bx * cy - by * cx);
  const float scale = 1 / area;
  const float x = scale * (cy * b2 - by * c2), y = scale * (bx * c2 - cx * b2), r2 = x * x + y * y;
  const bool is_wide = std::fabs(area) > r2;
  return {ax + x, ay + y, is_wide ? std::sqrt(r2) : 0};
}

// Numbers that look random: the finaliser of MurmurHash3 (A. Appleby).
TCA_DEVICE std::uint32_t mixed(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bU;
  h ^= h >> 13;
  h *= 0xc2b2ae35U;
  return h ^ (h >> 16);
}

// A whole number below `most`, of 11 bits that look random.
TCA_DEVICE std::uint32_t below(std::uint32_t bits, std::uint32_t most) { return bits * most >> 11; }

TCA_DEVICE std::uint32_t cell_of(const Ring& ring) {
  return static_cast<std::uint32_t>(ring.y * cells) * cells + static_cast<std::uint32_t>(ring.x * cells);
}

// Enters the centres of circles through three of `count` hits.
template <class Lanes>
TCA_DEVICE void vote(const Lanes& lanes, std::uint32_t attempt, std::uint32_t count, Scratch& scratch) {
  clear(lanes, scratch.votes);
  lanes.sync();
  for (std::uint32_t at = lanes.lane(); at < triplets; at += Lanes::count) {
    // Three different numbers below `count`: the others by their distance from the first, and the third past the second.
    // Three different hits: the others by their distance from the first, that of the third past that of the second.
    const std::uint32_t draw = mixed(attempt * triplets + at + 1), a = below(draw & 0x7ffU, count);
    const std::uint32_t first = 1 + below(draw >> 11 & 0x7ffU, count - 1);
    std::uint32_t second = 1 + below(draw >> 21 & 0x7ffU, count - 2);
    if (second >= first) ++second;
    const std::uint32_t b = a + first < count ? a + first : a + first - count;
    const std::uint32_t c = a + second < count ? a + second : a + second - count;
    const Ring ring =
        circle_through(scratch.x[a], scratch.y[a], scratch.x[b], scratch.y[b], scratch.x[c], scratch.y[c]);
    const bool counts = may_be_ring(ring);
    scratch.circles[at] = counts ? ring : Ring{};
    if (counts) lanes.increase(scratch.votes, cell_of(ring));
  }
  lanes.sync();
}

// The votes in a cell and the eight around it. No cell at the border has any.
TCA_DEVICE std::uint32_t votes_around(const Scratch& scratch, std::uint32_t cell) {
  std::uint32_t sum = 0;
  for (std::uint32_t row = cell - cells; row <= cell + cells; row += cells)
    sum += std::uint32_t{scratch.votes[row - 1]} + scratch.votes[row] + scratch.votes[row + 1];
  return sum;
}

// The cell that has the most votes with those around it; 0 where there are none.
template <class Lanes>
TCA_DEVICE std::uint32_t peak_of(const Lanes& lanes, const Scratch& scratch) {
  std::uint32_t best = 0;  // the votes, and below them the cell
  for (std::uint32_t at = lanes.lane(); at < triplets; at += Lanes::count) {
    if (scratch.circles[at].r == 0) continue;
    const std::uint32_t cell = cell_of(scratch.circles[at]);
    const std::uint32_t here = votes_around(scratch, cell) << 16 | cell;
    best = here > best ? here : best;
  }
  return lanes.most(best) & 0xffffU;
}

// Collects circles with centres in a cell and around it. Returns their number.
template <class Lanes>
TCA_DEVICE std::uint32_t collect(const Lanes& lanes, std::uint32_t peak, Scratch& scratch) {
  std::uint32_t number = 0;
  for (std::uint32_t first = 0; first < triplets && number < examined; first += Lanes::count) {
    const Ring& circle = scratch.circles[first + lanes.lane()];
    const std::uint32_t cell = cell_of(circle);
    // One step along x, along y or along both.
    const std::uint32_t column = cell % cells + 1 - peak % cells, row = cell / cells + 1 - peak / cells;
    const bool has_met = circle.r > 0 && column <= 2 && row <= 2;
    std::uint32_t all = 0;
    const std::uint32_t at = number + lanes.before(has_met, all);
    if (has_met && at < examined) scratch.met[at] = static_cast<std::uint16_t>(first + lanes.lane());
    number += all;
  }
  lanes.sync();
  return number < examined ? number : examined;
}

// How many hits a circle has: 1 for each one on it, less for others. Of every so-many-th hit.
TCA_DEVICE float score(const Ring& circle, float reach, std::uint32_t first, std::uint32_t step,
                       std::uint32_t count, const Scratch& scratch) {
  const float scale = 1 / reach;
  float sum = 0;
  for (std::uint32_t at = first; at < count; at += step) {
    const float off = scale * (distance(circle, scratch.x[at], scratch.y[at]) - circle.r);
    const float rest = 1 - off * off;
    sum += rest > 0 ? rest : 0;
  }
  return sum;
}

// The best of the circles whose centres met most often.
template <class Lanes>
TCA_DEVICE Ring best_circle(const Lanes& lanes, float resolution, std::uint32_t count, Scratch& scratch) {
  const std::uint32_t peak = peak_of(lanes, scratch);
  if (peak == 0) return {};
  const std::uint32_t number = collect(lanes, peak, scratch);
  constexpr std::uint32_t share = Lanes::a_circle;
  std::uint32_t best = 0;  // the score in 256ths, and below it the number of the circle
  for (std::uint32_t first = 0; first < number; first += Lanes::count / share) {
    const std::uint32_t at = first + lanes.lane() / share;
    const std::uint32_t which = at < number ? scratch.met[at] : 0;
    const Ring& circle = scratch.circles[which];
    const float part =
        at < number ? score(circle, reach_of(circle, resolution), lanes.lane() % share, share, count, scratch)
                    : 0;
    const auto points = static_cast<std::uint32_t>(256 * lanes.sum_of_circle(part));
    const std::uint32_t here = points << 16 | which;
    best = here > best ? here : best;
  }
  return scratch.circles[lanes.most(best) & 0xffffU];
}

}  // namespace tca::trigger
