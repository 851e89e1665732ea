#include "runtime/move/steps.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace tca::xacc {
namespace {

// The least t for which `from` + t * `step` is `wanted`, modulo `modulus`; -1 if there is none.
std::int64_t first_at(std::int64_t from, std::int64_t step, std::int64_t wanted, std::int64_t modulus) {
  const std::int64_t rounds = modulus / std::gcd(step, modulus);
  for (std::int64_t t = 0; t < rounds; ++t)
    if ((from + t * step - wanted) % modulus == 0) return t;
  return -1;
}

}  // namespace

Progression steps_between(std::int64_t from, std::int64_t step, std::int64_t count, std::int64_t begin,
                          std::int64_t end) {
  const auto reaches = [&](std::int64_t index) {
    return index <= from ? 0 : std::min(count, (index - from + step - 1) / step);
  };
  return {reaches(begin), 1, reaches(end) - reaches(begin)};
}

std::vector<Progression> steps_in_blocks(std::int64_t from, std::int64_t step, std::int64_t count,
                                         std::int64_t begin, std::int64_t width, std::int64_t stride) {
  std::vector<Progression> found;
  const std::int64_t last = from + (count - 1) * step;
  if (last / stride - from / stride < width) {
    for (std::int64_t block = from / stride * stride + begin; block <= last; block += stride)
      if (const Progression p = steps_between(from, step, count, block, block + width); p.count > 0)
        found.push_back(p);
    return found;
  }
  const std::int64_t distance = stride / std::gcd(step, stride);
  for (std::int64_t i = begin; i < begin + width; ++i)
    if (const std::int64_t first = first_at(from, step, i, stride); first >= 0 && first < count)
      found.push_back({first, distance, (count - 1 - first) / distance + 1});
  return found;
}

Progression intersection(const Progression& a, const Progression& b) {
  if (a.count <= 0 || b.count <= 0) return {};
  if (a.distance < b.distance) return intersection(b, a);
  // One of the first b.distance steps of the wider one is among those of the other, or none ever is.
  std::int64_t first = a.first;
  for (std::int64_t i = 0; i < b.distance && (first - b.first) % b.distance != 0; ++i) first += a.distance;
  if ((first - b.first) % b.distance != 0) return {};
  const std::int64_t distance = std::lcm(a.distance, b.distance), last = std::min(a.last(), b.last());
  const std::int64_t lowest = std::max(a.first, b.first);
  if (first < lowest) first += (lowest - first + distance - 1) / distance * distance;
  return {first, distance, first > last ? 0 : (last - first) / distance + 1};
}

std::int64_t volume(const Box& box) {
  std::int64_t all = 1;
  for (const Progression& steps : box) all *= steps.count;
  return all;
}

Box intersection(const Box& a, const Box& b) {
  Box both;
  for (std::size_t d = 0; d < a.size(); ++d) both.push_back(intersection(a[d], b[d]));
  return both;
}

Steps dense(const Box& box) { return dense(box, box); }

Steps dense(const Box& part, const Box& whole) {
  Steps steps{0, std::vector<std::int64_t>(whole.size())};
  std::int64_t pitch = 1;
  for (std::size_t d = whole.size(); d-- > 0;) {
    steps.pitch[d] = part[d].distance / whole[d].distance * pitch;
    steps.first += (part[d].first - whole[d].first) / whole[d].distance * pitch;
    pitch *= whole[d].count;
  }
  return steps;
}

void copy(void* to, const Steps& to_steps, const void* from, const Steps& from_steps, const Box& box,
          std::size_t element_bytes) {
  if (volume(box) == 0) return;
  // Elements that lie one behind the other on both sides go together.
  const bool rows = !box.empty() && to_steps.pitch.back() == 1 && from_steps.pitch.back() == 1;
  const std::size_t loops = box.size() - (rows ? 1 : 0);
  const std::size_t bytes = element_bytes * (rows ? static_cast<std::size_t>(box.back().count) : 1);
  std::vector<std::int64_t> step(loops);
  for (;;) {
    std::int64_t t = to_steps.first, f = from_steps.first;
    for (std::size_t d = 0; d < loops; ++d)
      t += step[d] * to_steps.pitch[d], f += step[d] * from_steps.pitch[d];
    std::memcpy(static_cast<char*>(to) + t * static_cast<std::int64_t>(element_bytes),
                static_cast<const char*>(from) + f * static_cast<std::int64_t>(element_bytes), bytes);
    std::size_t d = loops;
    while (d > 0 && ++step[d - 1] == box[d - 1].count) step[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<Piece> pieces(const Steps& to, const Steps& from, const Box& box) {
  std::vector<std::size_t> left;  // the loops that are still to be described, outermost first
  for (std::size_t d = 0; d < box.size(); ++d)
    if (box[d].count != 1) left.push_back(d);
  std::int64_t run = 1;
  if (!left.empty() && to.pitch[left.back()] == 1 && from.pitch[left.back()] == 1) {
    run = box[left.back()].count;
    left.pop_back();
  }
  std::vector<Layout::Loop> to_loops, from_loops;
  for (; !left.empty() && to_loops.size() < Layout::max_loops; left.pop_back()) {
    to_loops.push_back({box[left.back()].count, to.pitch[left.back()]});
    from_loops.push_back({box[left.back()].count, from.pitch[left.back()]});
  }
  // Of loops beyond these, one piece for each step.
  std::vector<Piece> all{{to.first, from.first, nested(run, to_loops), nested(run, from_loops)}};
  for (; !left.empty(); left.pop_back()) {
    const std::vector<Piece> before = all;
    for (std::int64_t i = 1; i < box[left.back()].count; ++i)
      for (Piece piece : before) {
        piece.to += i * to.pitch[left.back()];
        piece.from += i * from.pitch[left.back()];
        all.push_back(piece);
      }
  }
  return all;
}

}  // namespace tca::xacc
