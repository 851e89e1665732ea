// What is simulated. All is in units of the undisturbed plasma: times in 1/omega_p, its plasma frequency, lengths in
// c/omega_p, velocities in c, momenta in m c of an electron, densities in its own, and fields in m c omega_p / e.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tca::pic {

// Along y and x, or z, y and x; x is contiguous.
using Extents = std::vector<std::int64_t>;

// A pulse that an antenna next to the wall below sends along x, polarised along z. The field is
// a0 omega exp(-(t - delay)^2 / duration^2) exp(-r^2 / spot^2) sin(omega (t - delay)).
struct Laser {
  double a0 = 0;  // 0: there is none
  double omega = 0;
  double duration = 0;
  double delay = 0;
  double spot = 0;  // 0: a plane wave
};

struct Deck {
  std::string name;
  Extents extents;
  double cell = 0;    // the side of a cell
  double cfl = 0.95;  // the time step, in parts of the longest for which Yee's scheme is stable
  std::int64_t steps = 0;

  // Electrons, on a lattice of `per_side` along each side of a cell; 0 for a vacuum. They begin on ions that stay where
  // they are, so that there is no field at first.
  int per_side = 0;
  double thermal = 0;  // the standard deviation of each component of the momentum
  double drift = 0;    // two beams of these velocities along x and against it, instead of one at rest
  std::uint64_t seed = 1;

  // A wave along x, of a whole number of lengths in the box: of velocities, or in a vacuum of the field along z.
  double amplitude = 0;
  int waves = 1;

  bool walls =
      false;  // that absorb what comes, at both ends of x; elsewhere, and without them, the box is periodic
  double plasma_begins = 0,
         ramp = 0;  // along x: where the density begins to rise, and over which length it does
  Laser laser;

  int dims() const { return static_cast<int>(extents.size()); }
  double dt() const;
  double length() const { return cell * static_cast<double>(extents.back()); }  // of the box along x
  double wave_number() const { return 2 * 3.14159265358979323846 * waves / length(); }
  double density(double x) const;  // of the electrons at first, of the undisturbed plasma's
  std::int64_t particles() const;  // at most; where the density is 0 there are none
};

inline constexpr std::array<std::string_view, 4> built_in_decks{"langmuir", "two-stream", "wakefield",
                                                                "vacuum"};

// Completes a deck and throws Error{invalid_argument} for what cannot be simulated.
Deck checked(Deck deck);

// One of the built-in decks, not yet completed.
Deck built_in(std::string_view name);

std::string describe(const Extents& extents);  // e.g. "64x128"

}  // namespace tca::pic
