#include "pic/push.hpp"

#include <array>
#include <cmath>

namespace tca::pic {

namespace {

using Place = std::array<double, 3>;

// How far an array's next element is along y and z.
struct Steps {
  std::int64_t y, z;
};

struct Felt {
  Vec<double> e, b;
};

template <int Dims>
Felt interpolated(const Vec<double>* e, const Vec<double>* b, const Place& at, Steps step) {
  const double x1 = at[0], y1 = at[1], x0 = 1 - x1, y0 = 1 - y1;
  if constexpr (Dims == 2) {
    return {.e = {y0 * e[0].x + y1 * e[step.y].x, x0 * e[0].y + x1 * e[1].y,
                  y0 * (x0 * e[0].z + x1 * e[1].z) + y1 * (x0 * e[step.y].z + x1 * e[step.y + 1].z)},
            .b = {x0 * b[0].x + x1 * b[1].x, y0 * b[0].y + y1 * b[step.y].y, b[0].z}};
  } else {
    const double z1 = at[2], z0 = 1 - z1;
    const auto bilinear = [](double u0, double u1, double v0, double v1, double a, double au, double av,
                             double auv) { return v0 * (u0 * a + u1 * au) + v1 * (u0 * av + u1 * auv); };
    return {.e = {bilinear(y0, y1, z0, z1, e[0].x, e[step.y].x, e[step.z].x, e[step.y + step.z].x),
                  bilinear(x0, x1, z0, z1, e[0].y, e[1].y, e[step.z].y, e[step.z + 1].y),
                  bilinear(x0, x1, y0, y1, e[0].z, e[1].z, e[step.y].z, e[step.y + 1].z)},
            .b = {x0 * b[0].x + x1 * b[1].x, y0 * b[0].y + y1 * b[step.y].y, z0 * b[0].z + z1 * b[step.z].z}};
  }
}

// A charge goes straight from one place of a cell to another. A product of two linear shares has as its mean over the way
// that of the middle, and a twelfth of both changes.
template <int Dims, class Number>
void carry(Vec<Number>* flow, const Place& from, const Place& to, double charge, Steps step) {
  const double dx = to[0] - from[0], dy = to[1] - from[1], dz = to[2] - from[2];
  const double x1 = (from[0] + to[0]) / 2, y1 = (from[1] + to[1]) / 2, x0 = 1 - x1, y0 = 1 - y1;
  const double twelfth_xy = dx * dy / 12, qz = charge * dz;
  const auto add = [](Number& sum, double value) { sum += to_number<Number>(value); };
  add(flow[0].z, qz * (x0 * y0 + twelfth_xy));
  add(flow[1].z, qz * (x1 * y0 - twelfth_xy));
  add(flow[step.y].z, qz * (x0 * y1 - twelfth_xy));
  add(flow[step.y + 1].z, qz * (x1 * y1 + twelfth_xy));
  const double qx = charge * dx, qy = charge * dy;
  if constexpr (Dims == 2) {
    add(flow[0].x, qx * y0);
    add(flow[step.y].x, qx * y1);
    add(flow[0].y, qy * x0);
    add(flow[1].y, qy * x1);
  } else {
    const double z1 = (from[2] + to[2]) / 2, z0 = 1 - z1, twelfth_yz = dy * dz / 12,
                 twelfth_xz = dx * dz / 12;
    add(flow[0].x, qx * (y0 * z0 + twelfth_yz));
    add(flow[step.y].x, qx * (y1 * z0 - twelfth_yz));
    add(flow[step.z].x, qx * (y0 * z1 - twelfth_yz));
    add(flow[step.y + step.z].x, qx * (y1 * z1 + twelfth_yz));
    add(flow[0].y, qy * (x0 * z0 + twelfth_xz));
    add(flow[1].y, qy * (x1 * z0 - twelfth_xz));
    add(flow[step.z].y, qy * (x0 * z1 - twelfth_xz));
    add(flow[step.z + 1].y, qy * (x1 * z1 + twelfth_xz));
  }
}

// Returns the new momentum of an electron after a step of 2 `half`.
Vec<double> pushed(const Vec<double>& p, const Felt& felt, double half) {
  const auto& [e, b] = felt;
  const Vec<double> before{p.x - half * e.x, p.y - half * e.y, p.z - half * e.z};
  const double turn = -half / std::sqrt(1 + before.x * before.x + before.y * before.y + before.z * before.z);
  const Vec<double> t{turn * b.x, turn * b.y, turn * b.z};
  const Vec<double> halfway{before.x + (before.y * t.z - before.z * t.y),
                            before.y + (before.z * t.x - before.x * t.z),
                            before.z + (before.x * t.y - before.y * t.x)};
  const double s = 2 / (1 + t.x * t.x + t.y * t.y + t.z * t.z);
  return {before.x + s * (halfway.y * t.z - halfway.z * t.y) - half * e.x,
          before.y + s * (halfway.z * t.x - halfway.x * t.z) - half * e.y,
          before.z + s * (halfway.x * t.y - halfway.y * t.x) - half * e.z};
}

// Moves a place along one dimension, and into the next cell where it leaves its own. A place just below 0 may become 1 by
// rounding, and then stays in its cell at 0.
struct Moved {
  double at, middle_before, middle_after;  // the last two where the way is cut, in the old and the new cell
  int cells;
};
inline Moved moved(double at, double by) {
  double to = at + by;
  int cells = 0;
  if (to < 0) {
    to += 1;
    --cells;
  }
  if (to >= 1) {
    to -= 1;
    ++cells;
  }
  if (cells == 0) return {to, (at + to) / 2, (at + to) / 2, 0};
  return {to, cells > 0 ? 1.0 : 0.0, cells > 0 ? 0.0 : 1.0, cells};
}

template <int Dims, class Number>
class Pusher {
 public:
  Pusher(Particles& particles, const Fields& fields, const Deck& deck, const Domain& domain,
         Vec<Number>* flow, std::vector<std::uint32_t>& outside)
      : particles_(particles),
        e_(fields.e()),
        b_(fields.b()),
        flow_(flow),
        half_(deck.dt() / 2),
        ratio_(deck.dt() / deck.cell),
        step_{domain.step(1), domain.step(2)},
        directions_(domain.directions()),
        outside_(outside) {}

  // Pushes a particle, and returns its kinetic energy.
  double push(std::size_t i) {
    const std::int64_t cell = particles_.cell[i];
    const Place from{particles_.at[0][i], particles_.at[1][i], Dims == 3 ? particles_.at[2][i] : 0};
    const Felt felt = interpolated<Dims>(e_ + cell, b_ + cell, from, step_);
    const Vec<double> p = pushed({particles_.p[0][i], particles_.p[1][i], particles_.p[2][i]}, felt, half_);
    particles_.p[0][i] = p.x;
    particles_.p[1][i] = p.y;
    particles_.p[2][i] = p.z;
    const double square = p.x * p.x + p.y * p.y + p.z * p.z, gamma = std::sqrt(1 + square);
    const double speed = ratio_ / gamma;
    move(i, from, {p.x * speed, p.y * speed, p.z * speed});
    return -particles_.charge[i] * square / (gamma + 1);
  }

 private:
  void move(std::size_t i, const Place& from, const Vec<double>& by) {
    const Moved x = moved(from[0], by.x), y = moved(from[1], by.y);
    // In two dimensions what is carried along z stays in the plane.
    const Moved z = Dims == 3 ? moved(from[2], by.z) : Moved{by.z, by.z / 2, by.z / 2, 0};
    particles_.at[0][i] = x.at;
    particles_.at[1][i] = y.at;
    if constexpr (Dims == 3) particles_.at[2][i] = z.at;
    const double charge = particles_.charge[i] * units<Number>;
    const std::int64_t cell = particles_.cell[i];
    if ((x.cells | y.cells | z.cells) == 0) {
      carry<Dims>(flow_ + cell, from, {x.at, y.at, z.at}, charge, step_);
      return;
    }
    const std::int64_t to = cell + x.cells + y.cells * step_.y + z.cells * step_.z;
    carry<Dims>(flow_ + cell, from, {x.middle_before, y.middle_before, z.middle_before}, charge, step_);
    carry<Dims>(flow_ + to, {x.middle_after, y.middle_after, z.middle_after}, {x.at, y.at, z.at}, charge,
                step_);
    particles_.cell[i] = static_cast<std::int32_t>(to);
    if (directions_[to] != Domain::here) outside_.push_back(static_cast<std::uint32_t>(i));
  }

  Particles& particles_;
  const Vec<double>*e_, *b_;
  Vec<Number>* flow_;
  double half_, ratio_;
  Steps step_;
  const std::uint8_t* directions_;
  std::vector<std::uint32_t>& outside_;
};

template <int Dims, class Number>
double push_all(Pusher<Dims, Number> pusher, std::size_t particles) {
  double energy = 0;
  for (std::size_t i = 0; i < particles; ++i) energy += pusher.push(i);
  return energy;
}

}  // namespace

template <class Number>
double push(Particles& particles, const Fields& fields, const Deck& deck, const Domain& domain,
            Vec<Number>* flow, std::vector<std::uint32_t>& outside) {
  if (domain.dims() == 2)
    return push_all(Pusher<2, Number>(particles, fields, deck, domain, flow, outside), particles.size());
  return push_all(Pusher<3, Number>(particles, fields, deck, domain, flow, outside), particles.size());
}

template <class Number>
void deposit_charge(const Particles& particles, const Domain& domain, Number* charge) {
  const std::int64_t sy = domain.step(1), sz = domain.step(2);
  const bool is_flat = domain.dims() == 2;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double x1 = particles.at[0][i], y1 = particles.at[1][i], z1 = is_flat ? 0 : particles.at[2][i];
    const double q = particles.charge[i] * units<Number>;
    Number* const at = charge + particles.cell[i];
    const auto add_layer = [&](Number* layer, double share) {
      layer[0] += to_number<Number>(share * ((1 - x1) * (1 - y1)));
      layer[1] += to_number<Number>(share * (x1 * (1 - y1)));
      layer[sy] += to_number<Number>(share * ((1 - x1) * y1));
      layer[sy + 1] += to_number<Number>(share * (x1 * y1));
    };
    add_layer(at, q * (1 - z1));
    if (!is_flat) add_layer(at + sz, q * z1);
  }
}

template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<double>*,
                     std::vector<std::uint32_t>&);
template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<std::int64_t>*,
                     std::vector<std::uint32_t>&);
template void deposit_charge(const Particles&, const Domain&, double*);
template void deposit_charge(const Particles&, const Domain&, std::int64_t*);

}  // namespace tca::pic
