// FT of the NAS Parallel Benchmarks: a heat equation, solved by transforms. An array of random numbers is transformed forward
// once. Each step multiplies what came out by factors, transforms it backward, and adds up 1024 of the numbers.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fft/measure.hpp"

namespace tca::fft::npb {

using Complex = std::complex<double>;

struct Problem {
  std::string name;                // of the class
  Extents extents;                 // z, y and x of the benchmark
  std::vector<Complex> checksums;  // published, of each step

  int steps() const { return static_cast<int>(checksums.size()); }
  double flops() const;  // as the benchmark counts them, of the transform forward and all steps
};

// Class S, W, A or B. Throws Error{invalid_argument} for any other.
const Problem& problem_named(std::string_view name);

// How far sums may be from the published ones, relative to those.
inline constexpr double tolerance = 1e-12;

void write_input(const Problem& problem, const Ends<double>& ends);

// The factors by which a step multiplies a number are products of one for each dimension.
std::array<std::vector<double>, 3> factors(const Problem& problem, const Box& box);

// Where in a rank's array those are that a step adds up.
std::vector<std::int64_t> places_added(const Problem& problem, const Box& box);

// What of a step is not a transform.
class Evolution {
 public:
  virtual ~Evolution() = default;
  // Takes what has been transformed forward from a plan's output.
  virtual void keep() = 0;
  // Multiplies it by the factors, and writes it into the plan's output, from where it is transformed backward.
  virtual void evolve() = 0;
  // Adds up numbers of the plan's input on this rank.
  virtual Complex add_up() = 0;
};

std::unique_ptr<Evolution> host_evolution(World& world, const Problem& problem, const Ends<double>& ends);

// What one way did; the same on every rank.
struct Run {
  std::vector<Complex> checksums;
  std::vector<double> step_us;  // of each step, on its slowest rank
  double seconds = 0;           // all of it, but for making the random numbers

  double error(const Problem& problem) const;  // the largest, relative to the published sum
};

// Collective.
Run run(World& world, const Problem& problem, const Ends<double>& ends, Way& way, Evolution& evolution,
        const Progress& progress = {});

}  // namespace tca::fft::npb
