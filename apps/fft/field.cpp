#include "fft/field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

#include "shared/philox.hpp"

namespace tca::fft {

namespace {

using Complex = std::complex<double>;

constexpr std::size_t known_numbers = 4;

apps::Philox draw(std::uint32_t seed, std::uint64_t counter, std::uint32_t purpose) {
  return apps::philox(
      {{static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), purpose, 0}}, seed,
      0);
}

double centred(std::uint32_t word) { return word * 0x1p-32 - 0.5; }

// exp(-2 pi i k n / size) for every n of a range.
std::vector<Complex> phases(std::int64_t k, std::int64_t first, std::int64_t count, std::int64_t size) {
  std::vector<Complex> all;
  for (std::int64_t n = first; n < first + count; ++n) {
    const double turns = static_cast<double>(k * n % size) / static_cast<double>(size);
    all.push_back(std::polar(1.0, -2 * std::numbers::pi * turns));
  }
  return all;
}

// Calls `act` with every line along z of a box, which begins at (x, y).
template <class Real, class Act>
void each_line(const Box& box, const Window<std::complex<Real>>& window, const Act& act) {
  std::vector<std::complex<Real>> layer(static_cast<std::size_t>(box.size[1] * box.size[2]));
  for (std::int64_t x = 0; x < box.size[0]; ++x) {
    window.read(x * box.size[1] * box.size[2], layer);
    for (std::int64_t y = 0; y < box.size[1]; ++y)
      act(box.first[0] + x, box.first[1] + y,
          std::span(layer).subspan(static_cast<std::size_t>(y * box.size[2]),
                                   static_cast<std::size_t>(box.size[2])));
  }
}

// Where the array is real, a line has real numbers in the place of complex ones.
template <class Real, class Number>
void each_number(const Field& field, std::span<std::complex<Real>> line, const Number& number) {
  auto* const reals = reinterpret_cast<Real*>(line.data());
  for (std::int64_t z = 0; z < field.extents[2]; ++z) {
    Real* const at = reals + (field.real ? z : 2 * z);
    number(z, at);
  }
}

double sum(World& world, double mine) {
  const std::vector<double> all = world.all_gather(mine);
  return std::accumulate(all.begin(), all.end(), 0.0);
}

}  // namespace

double Field::points() const {
  return static_cast<double>(extents[0]) * static_cast<double>(extents[1]) * static_cast<double>(extents[2]);
}

Complex Field::at(std::int64_t x, std::int64_t y, std::int64_t z) const {
  const auto place = static_cast<std::uint64_t>((x * extents[1] + y) * extents[2] + z);
  const apps::Philox drawn = draw(seed, place, 0);
  return {centred(drawn.word[0]), real ? 0 : centred(drawn.word[1])};
}

template <class Real>
void write_input(const Field& field, const Ends<Real>& ends) {
  const Box& box = ends.input_box;
  write_layers<Real>(box, ends.input,
                     [&](std::int64_t x, std::int64_t y, std::span<std::complex<Real>> line) {
                       each_number(field, line, [&](std::int64_t z, Real* number) {
                         const Complex value = field.at(x, y, z);
                         number[0] = static_cast<Real>(value.real());
                         if (!field.real) number[1] = static_cast<Real>(value.imag());
                       });
                     });
}

Known what_is_known(World& world, const Field& field, const Box& box) {
  Known known;
  std::array<Complex, known_numbers> sums{};
  std::array<std::array<std::vector<Complex>, 3>, known_numbers> phase;
  for (std::size_t i = 0; i < known_numbers; ++i) {
    Known::Number& number = known.numbers.emplace_back();
    const apps::Philox drawn = draw(field.seed, i, 1);
    for (std::size_t d = 0; d < 3; ++d) {
      const std::int64_t kept = field.real && d == 2 ? field.extents[d] / 2 + 1 : field.extents[d];
      number.place[d] = drawn.word[d] % kept;
      const std::int64_t count = d == 2 ? field.extents[d] : box.size[d];
      phase[i][d] = phases(number.place[d], d == 2 ? 0 : box.first[d], count, field.extents[d]);
    }
  }
  double energy = 0;
  for (std::int64_t x = 0; x < box.size[0]; ++x) {
    for (std::int64_t y = 0; y < box.size[1]; ++y) {
      std::array<Complex, known_numbers> line{};
      double squares = 0;
      for (std::int64_t z = 0; z < field.extents[2]; ++z) {
        const Complex value = field.at(box.first[0] + x, box.first[1] + y, z);
        squares += std::norm(value);
        for (std::size_t i = 0; i < known_numbers; ++i)
          line[i] += value * phase[i][2][static_cast<std::size_t>(z)];
      }
      energy += squares;
      for (std::size_t i = 0; i < known_numbers; ++i)
        sums[i] +=
            line[i] * phase[i][0][static_cast<std::size_t>(x)] * phase[i][1][static_cast<std::size_t>(y)];
    }
  }
  for (std::size_t i = 0; i < known_numbers; ++i)
    known.numbers[i].value = {sum(world, sums[i].real()), sum(world, sums[i].imag())};
  known.energy = field.points() * sum(world, energy);
  return known;
}

// Not std::max, which loses what is not a number.
double Errors::largest() const {
  double largest = 0;
  for (const double error : {numbers, energy, round_trip})
    if (!(error <= largest)) largest = error;
  return largest;
}

template <class Real>
void check_output(World& world, const Field& field, const Known& known, const Ends<Real>& ends,
                  Errors& errors) {
  const Box& box = ends.output_box;
  double energy = 0, off = 0;
  for (const Known::Number& number : known.numbers) {
    const Box place{number.place, {1, 1, 1}};
    if (common(place, box).elements() == 0) continue;
    std::array<std::complex<Real>, 1> found{};
    const auto [x, y, z] = number.place;
    ends.output.read(((x - box.first[0]) * box.size[1] + y - box.first[1]) * box.size[2] + z - box.first[2],
                     found);
    off = std::max(off, std::abs(Complex(found[0]) - number.value));
    if (std::isnan(std::abs(found[0]))) off = std::numeric_limits<double>::infinity();
  }
  // Line by line, as sums of many numbers round often.
  each_line(box, ends.output, [&](std::int64_t, std::int64_t, std::span<std::complex<Real>> line) {
    double squares = 0;
    std::int64_t z = box.first[2];
    for (const std::complex<Real>& number : line) {
      // Of a real array, what is left out are the conjugates of all but these.
      const bool alone = !field.real || z == 0 || 2 * z == field.extents[2];
      squares += (alone ? 1 : 2) * std::norm(Complex(number));
      ++z;
    }
    energy += squares;
  });
  errors.numbers = std::ranges::max(world.all_gather(off)) / std::sqrt(known.energy / field.points());
  errors.energy = std::abs(sum(world, energy) / known.energy - 1);
}

template <class Real>
void check_round_trip(World& world, const Field& field, const Ends<Real>& ends, Errors& errors) {
  double off = 0, all = 0;
  each_line(ends.input_box, ends.input,
            [&](std::int64_t x, std::int64_t y, std::span<std::complex<Real>> line) {
              each_number(field, line, [&](std::int64_t z, const Real* number) {
                const Complex expected = field.at(x, y, z);
                const Complex found{number[0], field.real ? 0.0 : static_cast<double>(number[1])};
                off += std::norm(found / field.points() - expected);
                all += std::norm(expected);
              });
            });
  errors.round_trip = std::sqrt(sum(world, off) / sum(world, all));
}

template void write_input(const Field&, const Ends<float>&);
template void write_input(const Field&, const Ends<double>&);
template void check_output(World&, const Field&, const Known&, const Ends<float>&, Errors&);
template void check_output(World&, const Field&, const Known&, const Ends<double>&, Errors&);
template void check_round_trip(World&, const Field&, const Ends<float>&, Errors&);
template void check_round_trip(World&, const Field&, const Ends<double>&, Errors&);

}  // namespace tca::fft
