// How one particle is pushed; see push.hpp. Callable on the GPU.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pic/domain.hpp"
#include "pic/vec.hpp"
#include "tca/device/memory.hpp"

namespace tca::pic {

// The arrays of Particles.
struct Rows {
  std::int32_t* cell;
  double *at[3], *p[3], *charge;
};

struct Felt {
  Vec<double> e, b;
};

template <int Dims>
TCA_DEVICE Felt interpolated(const Vec<double>* e, const Vec<double>* b, const Vec<double>& at, Steps step) {
  const double x1 = at.x, y1 = at.y, x0 = 1 - x1, y0 = 1 - y1;
  if constexpr (Dims == 2) {
    return {.e = {y0 * e[0].x + y1 * e[step.y].x, x0 * e[0].y + x1 * e[1].y,
                  y0 * (x0 * e[0].z + x1 * e[1].z) + y1 * (x0 * e[step.y].z + x1 * e[step.y + 1].z)},
            .b = {x0 * b[0].x + x1 * b[1].x, y0 * b[0].y + y1 * b[step.y].y, b[0].z}};
  } else {
    const double z1 = at.z, z0 = 1 - z1;
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
template <int Dims, class Number, class Add>
TCA_DEVICE void carry(const Add& add, Vec<Number>* flow, const Vec<double>& from, const Vec<double>& to,
                      double charge, Steps step) {
  const double dx = to.x - from.x, dy = to.y - from.y, dz = to.z - from.z;
  const double x1 = (from.x + to.x) / 2, y1 = (from.y + to.y) / 2, x0 = 1 - x1, y0 = 1 - y1;
  const double twelfth_xy = dx * dy / 12, qz = charge * dz;
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
    const double z1 = (from.z + to.z) / 2, z0 = 1 - z1, twelfth_yz = dy * dz / 12, twelfth_xz = dx * dz / 12;
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
TCA_DEVICE Vec<double> pushed(const Vec<double>& p, const Felt& felt, double half) {
  const Vec<double>&e = felt.e, &b = felt.b;
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
TCA_DEVICE Moved moved(double at, double by) {
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

// In what particles are pushed.
template <class Number>
struct Medium {
  const Vec<double>*e, *b;
  Vec<Number>* flow;
  double half, ratio;  // of a time step; of a step to the side of a cell
  Steps step;
  const std::uint8_t* directions;  // of Domain
};

struct Pushed {
  double energy;  // kinetic
  bool has_left;  // its cell is a ghost
};

// Moves a particle from one place, and has `add` add what it carries to the flow. Returns whether it is in a ghost.
template <int Dims, class Number, class Add>
TCA_DEVICE bool move(const Rows& rows, std::size_t i, const Medium<Number>& medium, const Add& add,
                     const Vec<double>& from, const Vec<double>& by) {
  const Moved x = moved(from.x, by.x), y = moved(from.y, by.y);
  // In two dimensions what is carried along z stays in the plane.
  const Moved z = Dims == 3 ? moved(from.z, by.z) : Moved{by.z, by.z / 2, by.z / 2, 0};
  rows.at[0][i] = x.at;
  rows.at[1][i] = y.at;
  if constexpr (Dims == 3) rows.at[2][i] = z.at;
  const double charge = rows.charge[i] * units<Number>;
  const std::int64_t cell = rows.cell[i];
  if ((x.cells | y.cells | z.cells) == 0) {
    carry<Dims>(add, medium.flow + cell, from, {x.at, y.at, z.at}, charge, medium.step);
    return false;
  }
  const std::int64_t to = cell + x.cells + y.cells * medium.step.y + z.cells * medium.step.z;
  carry<Dims>(add, medium.flow + cell, from, {x.middle_before, y.middle_before, z.middle_before}, charge,
              medium.step);
  carry<Dims>(add, medium.flow + to, {x.middle_after, y.middle_after, z.middle_after}, {x.at, y.at, z.at},
              charge, medium.step);
  rows.cell[i] = static_cast<std::int32_t>(to);
  return medium.directions[to] != Domain::here;
}

template <int Dims, class Number, class Add>
TCA_DEVICE Pushed push_one(const Rows& rows, std::size_t i, const Medium<Number>& medium, const Add& add) {
  const std::int64_t cell = rows.cell[i];
  const Vec<double> from{rows.at[0][i], rows.at[1][i], Dims == 3 ? rows.at[2][i] : 0};
  const Felt felt = interpolated<Dims>(medium.e + cell, medium.b + cell, from, medium.step);
  const Vec<double> p = pushed({rows.p[0][i], rows.p[1][i], rows.p[2][i]}, felt, medium.half);
  rows.p[0][i] = p.x;
  rows.p[1][i] = p.y;
  rows.p[2][i] = p.z;
  const double square = p.x * p.x + p.y * p.y + p.z * p.z, gamma = std::sqrt(1 + square);
  const double speed = medium.ratio / gamma;
  const bool has_left = move<Dims>(rows, i, medium, add, from, {p.x * speed, p.y * speed, p.z * speed});
  return {-rows.charge[i] * square / (gamma + 1), has_left};
}

// Has `add` add a particle's charge to the nodes of its cell, in order.
template <int Dims, class Number, class Add>
TCA_DEVICE void deposit_one(const Rows& rows, std::size_t i, Number* charge, Steps step, const Add& add) {
  const double x1 = rows.at[0][i], y1 = rows.at[1][i], z1 = Dims == 3 ? rows.at[2][i] : 0;
  const double q = rows.charge[i] * units<Number>;
  Number* const at = charge + rows.cell[i];
  const auto add_layer = [&](Number* layer, double share) {
    add(layer[0], share * ((1 - x1) * (1 - y1)));
    add(layer[1], share * (x1 * (1 - y1)));
    add(layer[step.y], share * ((1 - x1) * y1));
    add(layer[step.y + 1], share * (x1 * y1));
  };
  add_layer(at, q * (1 - z1));
  if constexpr (Dims == 3) add_layer(at + step.z, q * z1);
}

}  // namespace tca::pic
