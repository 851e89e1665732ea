// An array of random numbers, and what is known of its transform: any number of it by its definition, its energy (Parseval),
// and that the transform backward returns the array. So a transform of any size is checked without another one.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "fft/decomposition.hpp"
#include "fft/transposition.hpp"
#include "tca/world.hpp"

namespace tca::fft {

struct Field {
  Extents extents;  // of complex numbers, or of real ones
  bool real = false;
  std::uint32_t seed = 1;

  double points() const;
  // The number at a place: between -1/2 and 1/2, or both its parts.
  std::complex<double> at(std::int64_t x, std::int64_t y, std::int64_t z) const;
};

// A transform's arrays as this rank has them: windows in host memory or in that of a GPU.
template <class Real>
struct Ends {
  Box input_box, output_box;  // in complex numbers
  const Window<std::complex<Real>>&input, &output;
};

// Writes an array of which `fill` fills the lines along z, given the coordinates x and y of each.
template <class Real, class Fill>
void write_layers(const Box& box, const Window<std::complex<Real>>& window, const Fill& fill) {
  const auto z = static_cast<std::size_t>(box.size[2]);
  std::vector<std::complex<Real>> layer(static_cast<std::size_t>(box.size[1]) * z);
  for (std::int64_t x = 0; x < box.size[0]; ++x) {
    for (std::int64_t y = 0; y < box.size[1]; ++y)
      fill(box.first[0] + x, box.first[1] + y, std::span(layer).subspan(static_cast<std::size_t>(y) * z, z));
    window.write(x * box.size[1] * box.size[2], layer);
  }
}

template <class Real>
void write_input(const Field& field, const Ends<Real>& ends);

// What must come out of a transform forward. Numbers are at places drawn at random.
struct Known {
  struct Number {
    Extents place;
    std::complex<double> value;
  };
  std::vector<Number> numbers;
  double energy = 0;  // the sum of the squares
};

// Collective. Adds up the numbers by their definition.
Known what_is_known(World& world, const Field& field, const Box& input_box);

// How far off a transform is, relative to a typical number or to the whole.
struct Errors {
  double numbers = 0, energy = 0, round_trip = 0;

  double largest() const;
};

// Collective. `check_output` is called behind a transform forward, and `check_round_trip` when that is undone.
template <class Real>
void check_output(World& world, const Field& field, const Known& known, const Ends<Real>& ends,
                  Errors& errors);
template <class Real>
void check_round_trip(World& world, const Field& field, const Ends<Real>& ends, Errors& errors);

// What rounding explains in this precision.
template <class Real>
inline constexpr double tolerance = sizeof(Real) == sizeof(float) ? 1e-5 : 1e-12;

}  // namespace tca::fft
