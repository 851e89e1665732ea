// What an update does to a spin: the same operations in the same order on hosts and on GPUs, so that spins are the same to
// the bit on either. Compile without fused multiply-adds.
#pragma once

#include <cmath>
#include <cstdint>

#include "spin/draws.hpp"
#include "spin/elementary.hpp"

namespace tca::spin {

// The two kinds of sweeps. A spin is drawn anew from the distribution that its field and the temperature give it, or is
// reflected at its field, which keeps the energy.
enum class Update { heat_bath, over_relaxation };

template <class Real>
struct Vector {
  Real x, y, z;
};

template <class Real>
TCA_DEVICE Real dot(const Vector<Real>& a, const Vector<Real>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

template <class To, class Real>
TCA_DEVICE Vector<To> in(const Vector<Real>& v) {
  return {static_cast<To>(v.x), static_cast<To>(v.y), static_cast<To>(v.z)};
}

TCA_DEVICE Vector<double> scaled(double factor, const Vector<double>& v) {
  return {factor * v.x, factor * v.y, factor * v.z};
}

// The order in which a field adds up a site's neighbours: the next and the one before along x, y and z.
enum Neighbour : int { next_x, before_x, next_y, before_y, next_z, before_z, neighbours };

// A component of the field: the couplings to the neighbours, and that component of their spins.
template <class Real>
TCA_DEVICE Real field_of(const Real (&coupling)[neighbours], const Real (&spin)[neighbours]) {
  return coupling[next_x] * spin[next_x] + coupling[before_x] * spin[before_x] +
         coupling[next_y] * spin[next_y] + coupling[before_y] * spin[before_y] +
         coupling[next_z] * spin[next_z] + coupling[before_z] * spin[before_z];
}

template <class Real>
TCA_DEVICE Vector<Real> over_relaxed(const Vector<Real>& own, const Vector<Real>& field) {
  const Real square = dot(field, field), twice = 2 * dot(own, field) / square;
  const bool is_felt = square > 0;  // any direction will do where there is no field
  return {is_felt ? twice * field.x - own.x : own.x, is_felt ? twice * field.y - own.y : own.y,
          is_felt ? twice * field.z - own.z : own.z};
}

// A direction at an angle to the z axis, turned by a part of a full turn around it.
TCA_DEVICE Vector<double> direction(double cosine, double turn) {
  const double square = 1 - cosine * cosine, sine = std::sqrt(square > 0 ? square : 0);
  const Turned around = exact_turn(turn);
  return {sine * around.cosine, sine * around.sine, cosine};
}

// Turns a direction so that the z axis becomes `axis`, of length 1 (T. Duff et al., "Building an orthonormal basis,
// revisited", JCGT 6 (2017)).
TCA_DEVICE Vector<double> turned_to(const Vector<double>& axis, const Vector<double>& v) {
  const double sign = std::copysign(1.0, axis.z), a = -1 / (sign + axis.z), b = axis.x * axis.y * a;
  const Vector<double> first{1 + sign * axis.x * axis.x * a, sign * b, -sign * axis.x};
  const Vector<double> second{b, sign + axis.y * axis.y * a, -axis.y};
  return {v.x * first.x + v.y * second.x + v.z * axis.x, v.x * first.y + v.y * second.y + v.z * axis.y,
          v.x * first.z + v.y * second.z + v.z * axis.z};
}

// Draws a spin in a field that it follows with the weight exp(field.spin). (Its component along the field by inversion: J. A.
// Olive, A. P. Young and D. Sherrington, Phys. Rev. B 34 (1986) 6341.)
TCA_DEVICE Vector<double> drawn_spin(const Vector<double>& field, const Uniforms& u) {
  constexpr double none = 1e-6;  // below, the distribution is flat to the resolution of what is drawn
  const double strength = std::sqrt(dot(field, field));
  if (strength < none) return direction(2 * u.first - 1, u.second);
  const double along = 1 + exact_log(1 - u.first * (1 - exact_exp(-2 * strength))) / strength;
  return turned_to(scaled(1 / strength, field), direction(along < -1 ? -1 : along > 1 ? 1 : along, u.second));
}

}  // namespace tca::spin
