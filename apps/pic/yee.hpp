// Maxwell's equations at one node of Yee's lattice; see fields.hpp. Callable on the GPU, so that hosts and GPUs have the same
// fields to the bit. Pointers are to the node's own element of an array.
#pragma once

#include <cstdint>

#include "pic/vec.hpp"
#include "tca/device/memory.hpp"

namespace tca::pic {

struct Lattice {
  Steps step;
  double ratio, side;  // of a time step to the side of a cell; of a cell
};

// Of E, in units of a field over the side of a cell.
TCA_DEVICE Vec<double> curl(const Vec<double>* e, Steps step) {
  const Vec<double>&here = e[0], &right = e[1], &up = e[step.y], &far = e[step.z];
  return {(up.z - here.z) - (far.y - here.y), (far.x - here.x) - (right.z - here.z),
          (right.y - here.y) - (up.x - here.x)};
}

// Advances B by half a time step.
TCA_DEVICE void advance_b(Vec<double>& b, const Vec<double>* e, const Lattice& lattice) {
  const double half = lattice.ratio / 2;
  const Vec<double> change = curl(e, lattice.step);
  b.x -= half * change.x;
  b.y -= half * change.y;
  b.z -= half * change.z;
}

// Advances E by a time step, with what has flowed through the faces of the cells.
template <class Number>
TCA_DEVICE void advance_e(Vec<double>& e, const Vec<double>* b, const Vec<Number>& flow,
                          const Lattice& lattice) {
  const Vec<double>&here = b[0], &left = b[-1], &down = b[-lattice.step.y], &near = b[-lattice.step.z];
  const double ratio = lattice.ratio, side = lattice.side;
  e.x += ratio * ((here.z - down.z) - (here.y - near.y)) - side * to_double(flow.x);
  e.y += ratio * ((here.x - near.x) - (here.z - left.z)) - side * to_double(flow.y);
  e.z += ratio * ((here.y - left.y) - (here.x - down.x)) - side * to_double(flow.z);
}

// A wall of a row of cells: the nodes of the wall, next to it within, and next to it outside, and on which side it stands.
struct Wall {
  std::int64_t wall, inside, outside;
  double sign;
};

// Sets B half a cell outside of a wall to what lets a wave leave (S. Silver and C. Mueller's condition, to first order): at
// the wall, in the middle of the step, Ey = -+ Bz and Ez = +- By, with E of before and after the step and B of both sides.
// Pointers are to the arrays; the flow is the wall's.
template <class Number>
TCA_DEVICE void let_out(const Wall& at, const Vec<double>* e, Vec<double>* b, const Vec<Number>& flow,
                        const Lattice& lattice) {
  const double r = lattice.ratio, side = lattice.side;
  const Vec<double>&e_wall = e[at.wall], &b_wall = b[at.wall], &within = b[at.inside];
  const double by_y = r * (b_wall.x - b[at.wall - lattice.step.z].x) - side * to_double(flow.y);
  const double by_z = -r * (b_wall.x - b[at.wall - lattice.step.y].x) - side * to_double(flow.z);
  Vec<double>& beyond = b[at.outside];
  beyond.z = (at.sign * (2 * e_wall.y + by_y) + (r - 1) * within.z) / (1 + r);
  beyond.y = (-at.sign * (2 * e_wall.z + by_z) + (r - 1) * within.y) / (1 + r);
}

// Of E, over the side of a cell.
TCA_DEVICE double divergence(const Vec<double>* e, const Lattice& lattice) {
  return ((e[0].x - e[-1].x) + (e[0].y - e[-lattice.step.y].y) + (e[0].z - e[-lattice.step.z].z)) /
         lattice.side;
}

// Twice what the field has of energy at a node. Yee's scheme conserves its sum in a vacuum to the last digit: of B it is the
// product of half a step before and half a step behind.
TCA_DEVICE double twice_energy(const Vec<double>* e, const Vec<double>& b, const Lattice& lattice) {
  const auto product = [](const Vec<double>& v, const Vec<double>& w) {
    return v.x * w.x + v.y * w.y + v.z * w.z;
  };
  return product(e[0], e[0]) + product(b, b) - lattice.ratio * product(b, curl(e, lattice.step));
}

}  // namespace tca::pic
