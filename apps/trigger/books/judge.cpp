#include "trigger/books/judge.hpp"

#include <algorithm>
#include <cmath>

namespace tca::trigger {
namespace {

// A ring is found where all of it is right to a twentieth of its radius, ten times the error of a fit.
bool are_same(const Ring& found, const Ring& truth) {
  const double most = 0.05 * truth.r;
  return std::abs(found.x - truth.x) < most && std::abs(found.y - truth.y) < most &&
         std::abs(found.r - truth.r) < most;
}

// The inverse of a symmetric matrix's diagonal: a, d, f of (a b c; b d e; c e f).
std::array<double, 3> diagonal_of_inverse(double a, double b, double c, double d, double e, double f) {
  const double det = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d);
  return {(d * f - e * e) / det, (a * f - c * c) / det, (a * d - b * b) / det};
}

// Where hits are around a ring says how precisely they fix its x, y and r.
void add_pulls(const TrueRing& truth, const Ring& found, double resolution, Verdict& verdict) {
  double xx = 0, xy = 0, yy = 0, x = 0, y = 0;
  for (const float angle : truth.angles) {
    const double c = std::cos(angle), s = std::sin(angle);
    xx += c * c, xy += c * s, yy += s * s, x += c, y += s;
  }
  const auto variance = diagonal_of_inverse(xx, xy, x, yy, y, static_cast<double>(truth.angles.size()));
  const double error = resolution * truth.ring.r;
  verdict.x.add((found.x - truth.ring.x) / (error * std::sqrt(variance[0])));
  verdict.y.add((found.y - truth.ring.y) / (error * std::sqrt(variance[1])));
  verdict.r.add((found.r - truth.ring.r) / (error * std::sqrt(variance[2])));
}

void judge_event(const Event& event, const Answer& answer, double resolution, Verdict& verdict) {
  Verdict::Events& here = verdict.by_rings[event.rings.size()];
  std::array<bool, most_rings> is_used{};
  std::uint64_t found = 0;
  for (const TrueRing& truth : event.rings) {
    for (std::uint32_t i = 0; i < answer.rings; ++i) {
      const Ring& ring = answer.found[i].ring;
      if (is_used[i] || !are_same(ring, truth.ring)) continue;
      is_used[i] = true;
      ++found;
      if (event.rings.size() == 1) add_pulls(truth, ring, resolution, verdict);
      break;
    }
  }
  ++here.all;
  here.true_rings += event.rings.size();
  here.found_rings += found;
  here.false_rings += answer.rings - found;
  if (found == event.rings.size() && answer.rings == found) ++here.right;
}

}  // namespace

double Pulls::mean() const { return number == 0 ? 0 : sum / static_cast<double>(number); }

double Pulls::width() const {
  return number == 0 ? 0 : std::sqrt(std::max(0.0, squares / static_cast<double>(number) - mean() * mean()));
}

bool Pulls::are_good() const {
  if (number < 2) return true;
  const double chance = 5 / std::sqrt(static_cast<double>(number));
  return std::abs(mean()) < 0.01 + chance && std::abs(width() - 1) < 0.02 + chance / std::sqrt(2.0);
}

void Verdict::add(const Verdict& other) {
  for (std::size_t rings = 0; rings < by_rings.size(); ++rings) {
    by_rings[rings].all += other.by_rings[rings].all;
    by_rings[rings].right += other.by_rings[rings].right;
    by_rings[rings].true_rings += other.by_rings[rings].true_rings;
    by_rings[rings].found_rings += other.by_rings[rings].found_rings;
    by_rings[rings].false_rings += other.by_rings[rings].false_rings;
  }
  for (Pulls Verdict::*pulls : {&Verdict::x, &Verdict::y, &Verdict::r}) {
    (this->*pulls).sum += (other.*pulls).sum;
    (this->*pulls).squares += (other.*pulls).squares;
    (this->*pulls).number += (other.*pulls).number;
  }
}

Verdict judge(const Book& book) {
  const Run& run = book.run();
  Verdict verdict;
  for (std::uint64_t index = 0; index < book.link().distinct(run); ++index) {
    for (std::uint32_t event = 0; event < events_of(run, book.link().sequence(index)); ++event)
      if (const Answer* const answer = book.answer(index, event))
        judge_event(make_event(run.physics, book.link().physical_event(run, index, event)), *answer,
                    run.physics.resolution, verdict);
  }
  return verdict;
}

}  // namespace tca::trigger
