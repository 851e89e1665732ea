#include "pic/fields.hpp"

#include <algorithm>
#include <cmath>

namespace tca::pic {

Fields::Fields(World& world, const Domain& domain, const Deck& deck)
    : domain_(domain),
      deck_(deck),
      ratio_(deck.dt() / deck.cell),
      e_(world.host_window<Vec<double>>(domain.elements(), "E")),
      b_(static_cast<std::size_t>(domain.elements())) {
  if (deck.per_side == 0) begin_wave();
}

// Calls act(begin, end, y, z) for the indices of each row of own cells.
template <class Act>
void Fields::each_row(const Act& act) const {
  for (std::int64_t z = 0; z < domain_.cells(2); ++z)
    for (std::int64_t y = 0; y < domain_.cells(1); ++y) {
      const std::int64_t begin = domain_.index(0, y, z);
      act(begin, begin + domain_.cells(0), y, z);
    }
}

// With ghosts, as all ranks have the same standing wave.
void Fields::begin_wave() {
  const double k = deck_.wave_number() * deck_.cell;
  Vec<double>* const e = e_.data();
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    for (std::int64_t at = begin; at < end; ++at)
      e[at].z = deck_.amplitude * std::sin(k * static_cast<double>(domain_.first(0) + at - begin));
  });
}

// Of E at an index, in units of a field over the side of a cell.
Vec<double> Fields::curl(std::int64_t at) const {
  const Vec<double>* const e = e_.data() + at;
  const Vec<double>&here = e[0], &right = e[1], &up = e[domain_.step(1)], &far = e[domain_.step(2)];
  return {(up.z - here.z) - (far.y - here.y), (far.x - here.x) - (right.z - here.z),
          (right.y - here.y) - (up.x - here.x)};
}

// In ghosts that lie further out than those of E reach, B gets values that nothing reads.
void Fields::advance_b() {
  const double half = ratio_ / 2;
  Vec<double>* const b = b_.data();
  const bool is_flat = domain_.dims() == 2;
  for (std::int64_t z = is_flat ? 0 : -1; z <= (is_flat ? 0 : domain_.cells(2)); ++z) {
    for (std::int64_t y = -1; y <= domain_.cells(1); ++y) {
      const std::int64_t begin = domain_.index(-1, y, z), end = begin + domain_.cells(0) + 2;
      for (std::int64_t at = begin; at < end; ++at) {
        const Vec<double> change = curl(at);
        b[at].x -= half * change.x;
        b[at].y -= half * change.y;
        b[at].z -= half * change.z;
      }
    }
  }
}

template <class Number>
void Fields::advance_e(const Vec<Number>* flow, double time) {
  if (deck_.walls) absorb(flow);
  const Vec<double>* const b = b_.data();
  Vec<double>* const e = e_.data();
  const std::int64_t sy = domain_.step(1), sz = domain_.step(2);
  const double side = deck_.cell;
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    for (std::int64_t at = begin; at < end; ++at) {
      const Vec<double>&here = b[at], &left = b[at - 1], &down = b[at - sy], &near = b[at - sz];
      e[at].x += ratio_ * ((here.z - down.z) - (here.y - near.y)) - side * to_double(flow[at].x);
      e[at].y += ratio_ * ((here.x - near.x) - (here.z - left.z)) - side * to_double(flow[at].y);
      e[at].z += ratio_ * ((here.y - left.y) - (here.x - down.x)) - side * to_double(flow[at].z);
    }
  });
  if (deck_.laser.a0 != 0) emit(time + deck_.dt() / 2);
}

// Sets B half a cell outside of a wall to what lets a wave leave (S. Silver and C. Mueller's condition, to first order): at
// the wall, in the middle of the step, Ey = -+ Bz and Ez = +- By, with E of before and after the step and B of both sides.
template <class Number>
void Fields::absorb(const Vec<Number>* flow) {
  const std::int64_t sy = domain_.step(1), sz = domain_.step(2), last = domain_.cells(0) - 1;
  const double r = ratio_, side = deck_.cell;
  const auto let_out = [&](std::int64_t wall, std::int64_t inside, std::int64_t outside, double sign) {
    const Vec<double>*e = e_.data() + wall, *at = b_.data() + wall, *within = b_.data() + inside;
    const double by_y =
        r * (at->x - b_[static_cast<std::size_t>(wall - sz)].x) - side * to_double(flow[wall].y);
    const double by_z =
        -r * (at->x - b_[static_cast<std::size_t>(wall - sy)].x) - side * to_double(flow[wall].z);
    Vec<double>& beyond = b_[static_cast<std::size_t>(outside)];
    beyond.z = (sign * (2 * e->y + by_y) + (r - 1) * within->z) / (1 + r);
    beyond.y = (-sign * (2 * e->z + by_z) + (r - 1) * within->y) / (1 + r);
  };
  each_row([&](std::int64_t begin, std::int64_t, std::int64_t, std::int64_t) {
    if (domain_.wall_below()) let_out(begin, begin, begin - 1, -1);
    if (domain_.wall_above()) let_out(begin + last, begin + last - 1, begin + last, 1);
  });
}

// A sheet of current emits half of what it would make of E in a cell to each side; what goes to the wall leaves there.
void Fields::emit(double time) {
  const std::int64_t at = antenna - domain_.first(0);
  if (at < 0 || at >= domain_.cells(0)) return;
  const Laser& laser = deck_.laser;
  const double late = time - laser.delay;
  const double pulse = laser.a0 * laser.omega * std::exp(-late * late / (laser.duration * laser.duration)) *
                       std::sin(laser.omega * late);
  const auto off_axis = [&](int axis, std::int64_t cell, double offset) {
    const std::int64_t all = deck_.extents[static_cast<std::size_t>(deck_.dims() - 1 - axis)];
    return (static_cast<double>(domain_.first(axis) + cell) + offset - 0.5 * static_cast<double>(all)) *
           deck_.cell;
  };
  each_row([&](std::int64_t begin, std::int64_t, std::int64_t y, std::int64_t z) {
    const double from_y = off_axis(1, y, 0), from_z = deck_.dims() == 3 ? off_axis(2, z, 0.5) : 0;
    const double square = from_y * from_y + from_z * from_z;
    const double profile = laser.spot > 0 ? std::exp(-square / (laser.spot * laser.spot)) : 1;
    e_[begin + at].z += 2 * ratio_ * pulse * profile;
  });
}

void Fields::assign(std::span<const Vec<double>> e, std::span<const Vec<double>> b) {
  std::ranges::copy(e, e_.data());
  std::ranges::copy(b, b_.begin());
}

double Fields::divergence(std::int64_t at) const {
  const Vec<double>* const e = e_.data();
  const std::int64_t sy = domain_.step(1), sz = domain_.step(2);
  return ((e[at].x - e[at - 1].x) + (e[at].y - e[at - sy].y) + (e[at].z - e[at - sz].z)) / deck_.cell;
}

// What Yee's scheme conserves in a vacuum to the last digit: of B the product of half a step before and half a step behind.
double Fields::energy() const {
  double sum = 0;
  const auto product = [](const Vec<double>& v, const Vec<double>& w) {
    return v.x * w.x + v.y * w.y + v.z * w.z;
  };
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    for (std::int64_t at = begin; at < end; ++at) {
      const Vec<double>&e = e_.data()[at], &b = b_[static_cast<std::size_t>(at)];
      sum += product(e, e) + product(b, b) - ratio_ * product(b, curl(at));
    }
  });
  return sum / 2;
}

template void Fields::advance_e(const Vec<double>*, double);
template void Fields::advance_e(const Vec<std::int64_t>*, double);

}  // namespace tca::pic
