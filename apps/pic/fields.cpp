#include "pic/fields.hpp"

#include <algorithm>
#include <cmath>

namespace tca::pic {

Fields::Fields(World& world, const Domain& domain, const Deck& deck)
    : domain_(domain),
      deck_(deck),
      lattice_{{domain.step(1), domain.step(2)}, deck.dt() / deck.cell, deck.cell},
      e_(world.host_window<Vec<double>>(domain.elements(), "E")),
      b_(static_cast<std::size_t>(domain.elements())),
      images_(domain, field_ghosts) {
  if (deck.per_side == 0) begin_wave();
  images_.fill(e_.data());
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

// In ghosts that lie further out than those of E reach, B gets values that nothing reads.
void Fields::advance_b() {
  const Vec<double>* const e = e_.data();
  Vec<double>* const b = b_.data();
  const bool is_flat = domain_.dims() == 2;
  for (std::int64_t z = is_flat ? 0 : -1; z <= (is_flat ? 0 : domain_.cells(2)); ++z) {
    for (std::int64_t y = -1; y <= domain_.cells(1); ++y) {
      const std::int64_t begin = domain_.index(-1, y, z), end = begin + domain_.cells(0) + 2;
      for (std::int64_t at = begin; at < end; ++at) pic::advance_b(b[at], e + at, lattice_);
    }
  }
}

template <class Number>
void Fields::advance_e(const Vec<Number>* flow, double time) {
  if (deck_.walls) absorb(flow);
  const Vec<double>* const b = b_.data();
  Vec<double>* const e = e_.data();
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    for (std::int64_t at = begin; at < end; ++at) pic::advance_e(e[at], b + at, flow[at], lattice_);
  });
  if (deck_.laser.a0 != 0) emit(time);
  images_.fill(e);
}

template <class Number>
void Fields::absorb(const Vec<Number>* flow) {
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    if (domain_.wall_below())
      let_out({begin, begin, begin - 1, -1}, e_.data(), b_.data(), flow[begin], lattice_);
    if (domain_.wall_above())
      let_out({end - 1, end - 2, end - 1, 1}, e_.data(), b_.data(), flow[end - 1], lattice_);
  });
}

// A sheet of current emits half of what it would make of E in a cell to each side; what goes to the wall leaves there.
double Fields::emitted(double time) const {
  const Laser& laser = deck_.laser;
  const double late = time + deck_.dt() / 2 - laser.delay;
  const double pulse = laser.a0 * laser.omega * std::exp(-late * late / (laser.duration * laser.duration)) *
                       std::sin(laser.omega * late);
  return 2 * lattice_.ratio * pulse;
}

double Fields::profile(std::int64_t y, std::int64_t z) const {
  const Laser& laser = deck_.laser;
  const auto off_axis = [&](int axis, std::int64_t cell, double offset) {
    const std::int64_t all = deck_.extents[static_cast<std::size_t>(deck_.dims() - 1 - axis)];
    return (static_cast<double>(domain_.first(axis) + cell) + offset - 0.5 * static_cast<double>(all)) *
           deck_.cell;
  };
  const double from_y = off_axis(1, y, 0), from_z = deck_.dims() == 3 ? off_axis(2, z, 0.5) : 0;
  const double square = from_y * from_y + from_z * from_z;
  return laser.spot > 0 ? std::exp(-square / (laser.spot * laser.spot)) : 1;
}

void Fields::emit(double time) {
  const std::int64_t at = antenna - domain_.first(0);
  if (at < 0 || at >= domain_.cells(0)) return;
  const double emitted_now = emitted(time);
  each_row([&](std::int64_t begin, std::int64_t, std::int64_t y, std::int64_t z) {
    e_[begin + at].z += emitted_now * profile(y, z);
  });
}

void Fields::assign(std::span<const Vec<double>> e, std::span<const Vec<double>> b) {
  std::ranges::copy(e, e_.data());
  std::ranges::copy(b, b_.begin());
}

double Fields::divergence(std::int64_t at) const { return pic::divergence(e_.data() + at, lattice_); }

double Fields::energy() const {
  double sum = 0;
  each_row([&](std::int64_t begin, std::int64_t end, std::int64_t, std::int64_t) {
    for (std::int64_t at = begin; at < end; ++at)
      sum += twice_energy(e_.data() + at, b_[static_cast<std::size_t>(at)], lattice_);
  });
  return sum / 2;
}

template void Fields::advance_e(const Vec<double>*, double);
template void Fields::advance_e(const Vec<std::int64_t>*, double);

}  // namespace tca::pic
