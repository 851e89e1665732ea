// Finds the rings of an event, whose number is not known before. Callable on the GPU, where the lanes of a block share the
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
#include "trigger/finder/circles.hpp"
#include "trigger/finder/fit.hpp"
#include "trigger/finder/lanes.hpp"
#include "trigger/ring_view.hpp"

namespace tca::trigger {

inline constexpr std::uint32_t fewest_hits = 10;  // of which a ring is made
inline constexpr float largest_chi2 = 3.2F;       // a degree of freedom
// As many as there may be rings, and some in vain: with other triplets there may be a ring after all.
inline constexpr std::uint32_t attempts = most_rings + 2;

// The squared distances of hits from their ring, in units of what they are expected to be.
TCA_DEVICE float chi2_of(const Fit& fit, float resolution) {
  const float error = resolution * fit.ring.r;
  return fit.squares / (error * error * static_cast<float>(fit.hits - 3));
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
    std::uint32_t all = 0;
    const std::uint32_t to = kept + lanes.before(stays, all);  // by now all have read what may be overwritten
    if (stays) {
      scratch.x[to] = x;
      scratch.y[to] = y;
    }
    kept += all;
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
TCA_DEVICE void find_rings(const Lanes& lanes, const Hit* hits, std::uint32_t count, float resolution,
                           Scratch& scratch, Answer& answer) {
  lanes.sync();  // all are done with the event before
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
        settled(lanes.few(), best_circle(lanes, resolution, count, scratch), resolution, count, scratch);
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
