// Finds the rings of an event, whose number is not known before. Callable on the GPU, where the lanes of a warp share the
// work; on the host there is one lane.
//
//   1. Three hits have a circle. The centres of many such circles, of hits chosen by chance, are entered into a histogram:
//      those of three hits of one ring meet in a cell, all others are anywhere.
//   2. Of the circles whose centres met, the one is taken that has the most hits, the nearer the better.
//   3. The hits near that circle are fitted, and those near the fitted circle again.
//   4. With its hits out of the way, the next ring is looked for.
#pragma once

#include <cmath>

#include "tca/device/memory.hpp"
#include "trigger/event.hpp"
#include "trigger/fit.hpp"
#include "trigger/lanes.hpp"
#include "trigger/ring_view.hpp"

namespace tca::trigger {

inline constexpr std::uint32_t cells = 64;        // of the histogram of centres, along x and along y
inline constexpr std::uint32_t triplets = 512;    // circles for each ring that is looked for
inline constexpr std::uint32_t examined = 32;     // of the circles whose centres met
inline constexpr std::uint32_t fewest_hits = 10;  // of which a ring is made
inline constexpr float largest_chi2 = 3.2F;       // a degree of freedom
// As many as there may be rings, and some in vain: with other triplets there may be a ring after all.
inline constexpr std::uint32_t attempts = most_rings + 2;

// What an event needs while it is looked at.
struct Scratch {
  std::uint16_t votes[cells * cells];
  float x[most_hits], y[most_hits];  // the hits that belong to no ring yet
  Ring circles[triplets];
  std::uint16_t met[examined];  // numbers of circles
};

// How far from a ring its hits may be: four errors.
TCA_DEVICE float reach_of(const Ring& ring, float resolution) { return 4 * resolution * ring.r; }

// The squared distances of hits from their ring, in units of what they are expected to be.
TCA_DEVICE float chi2_of(const Fit& fit, float resolution) {
  const float error = resolution * fit.ring.r;
  return fit.squares / (error * error * static_cast<float>(fit.hits - 3));
}

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
  const float x = (cy * b2 - by * c2) / area, y = (bx * c2 - cx * b2) / area, r2 = x * x + y * y;
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
    const std::uint32_t who = lanes.ballot(has_met), at = number + lanes.before(who);
    if (has_met && at < examined) scratch.met[at] = static_cast<std::uint16_t>(first + lanes.lane());
    number += number_of_bits(who);
  }
  lanes.sync();
  return number < examined ? number : examined;
}

// How many hits a circle has: 1 for each one on it, less for others.
TCA_DEVICE float score(const Ring& circle, float reach, std::uint32_t count, const Scratch& scratch) {
  float sum = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    const float off = (distance(circle, scratch.x[at], scratch.y[at]) - circle.r) / reach,
                rest = 1 - off * off;
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
  std::uint32_t best = 0;  // the score in 256ths, and below it the number of the circle
  for (std::uint32_t at = lanes.lane(); at < number; at += Lanes::count) {
    const Ring& circle = scratch.circles[scratch.met[at]];
    const auto points =
        static_cast<std::uint32_t>(256 * score(circle, reach_of(circle, resolution), count, scratch));
    const std::uint32_t here = points << 16 | scratch.met[at];
    best = here > best ? here : best;
  }
  return scratch.circles[lanes.most(best) & 0xffffU];
}

// Moves hits that are further from a circle than `reach` to the front. Returns their number.
template <class Lanes>
TCA_DEVICE std::uint32_t keep_others(const Lanes& lanes, const Ring& ring, float reach, std::uint32_t count,
                                     Scratch& scratch) {
  std::uint32_t kept = 0;
  for (std::uint32_t first = 0; first < count; first += Lanes::count) {
    const std::uint32_t at = first + lanes.lane();
    const float x = at < count ? scratch.x[at] : 0, y = at < count ? scratch.y[at] : 0;
    const bool stays = at < count && !(std::fabs(distance(ring, x, y) - ring.r) < reach);
    const std::uint32_t who = lanes.ballot(stays);
    lanes.sync();  // all have read what may be overwritten
    if (stays) {
      scratch.x[kept + lanes.before(who)] = x;
      scratch.y[kept + lanes.before(who)] = y;
    }
    kept += number_of_bits(who);
  }
  lanes.sync();
  return kept;
}

// Fits the hits near a circle, and those near the fitted circle again. Has no hits where that is no ring.
template <class Lanes>
TCA_DEVICE Fit settled(const Lanes& lanes, Ring ring, float resolution, std::uint32_t count,
                       const Scratch& scratch) {
  Fit fit{};
  for (int pass = 0; pass < 3; ++pass) {
    fit = fitted(lanes, ring, reach_of(ring, resolution), scratch.x, scratch.y, count);
    if (fit.hits < fewest_hits || !may_be_ring(fit.ring)) return {};
    ring = fit.ring;
  }
  return chi2_of(fit, resolution) < largest_chi2 ? fit : Fit{};
}

// `resolution` is the error of a hit in units of the ring's radius.
template <class Lanes>
TCA_DEVICE_APART void find_rings(const Lanes& lanes, const Hit* hits, std::uint32_t count, float resolution,
                                 Scratch& scratch, Answer& answer) {
  for (std::uint32_t at = lanes.lane(); at < count; at += Lanes::count) {
    scratch.x[at] = (static_cast<float>(hits[at].x) + 0.5F) / pixels;
    scratch.y[at] = (static_cast<float>(hits[at].y) + 0.5F) / pixels;
  }
  lanes.sync();
  std::uint32_t found = 0, on_rings = 0;
  for (std::uint32_t attempt = 0; attempt < attempts && found < most_rings && count >= fewest_hits;
       ++attempt) {
    vote(lanes, attempt, count, scratch);
    const Fit fit =
        settled(lanes, best_circle(lanes, resolution, count, scratch), resolution, count, scratch);
    if (fit.hits == 0) continue;
    if (lanes.lane() == 0) answer.found[found] = {fit.ring, chi2_of(fit, resolution)};
    const std::uint32_t left = keep_others(lanes, fit.ring, reach_of(fit.ring, resolution), count, scratch);
    on_rings += count - left;
    count = left;
    ++found;
  }
  if (lanes.lane() == 0) {
    answer.rings = found;
    answer.hits = on_rings;
  }
}

// Answers an event of a slot.
template <class Lanes>
TCA_DEVICE void answer_event(const Lanes& lanes, const RingView& ring, std::uint64_t slot,
                             std::uint32_t event, float resolution, Scratch& scratch) {
  const Header* const header = ring.header(slot);
  Answer& answer = ring.answers_of(slot)[event];
  const Hits hits = hits_of(header, event);
  if (lanes.lane() == 0) answer.event = header->first_event + event;
  find_rings(lanes, hits.first, hits.count, resolution, scratch, answer);
}

}  // namespace tca::trigger
