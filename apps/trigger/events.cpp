#include "trigger/events.hpp"

#include <algorithm>
#include <cmath>

#include "trigger/draws.hpp"

namespace tca::trigger {
namespace {

std::uint16_t pixel(double at) {
  return static_cast<std::uint16_t>(std::clamp(at * pixels, 0.0, double{pixels} - 1));
}

// A ring is far enough from the border for all of its hits to be in the plane.
Ring draw_ring(Draws& draws) {
  constexpr double margin = 1.1;
  const double r = draws.uniform(smallest_radius, largest_radius);
  const double x = draws.uniform(margin * r, 1 - margin * r), y = draws.uniform(margin * r, 1 - margin * r);
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(r)};
}

}  // namespace

Event make_event(const Physics& physics, std::uint64_t number) {
  constexpr double turn = 2 * 3.14159265358979323846;
  Draws draws(physics.seed, Purpose::event, number);
  Event event;
  const int rings = draws.whole(physics.fewest_rings, physics.most_rings);
  for (int i = 0; i < rings; ++i) {
    TrueRing& ring = event.rings.emplace_back(TrueRing{draw_ring(draws), {}});
    const int hits = draws.whole(fewest_ring_hits, most_ring_hits);
    for (int hit = 0; hit < hits; ++hit) {
      const double angle = draws.uniform(0, turn), error = physics.resolution * ring.ring.r;
      ring.angles.push_back(static_cast<float>(angle));
      const double x = ring.ring.x + ring.ring.r * std::cos(angle) + error * draws.normal();
      const double y = ring.ring.y + ring.ring.r * std::sin(angle) + error * draws.normal();
      event.hits.push_back({pixel(x), pixel(y)});
    }
  }
  for (int i = 0; i < physics.noise; ++i) {
    const double x = draws.uniform(), y = draws.uniform();
    event.hits.push_back({pixel(x), pixel(y)});
  }
  std::ranges::stable_sort(event.hits, {}, &Hit::x);
  return event;
}

}  // namespace tca::trigger
