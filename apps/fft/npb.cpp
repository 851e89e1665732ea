#include "fft/npb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "shared/gathered.hpp"
#include "tca/error.hpp"

namespace tca::fft::npb {

namespace {

// Published with the benchmark.
const std::array<Problem, 4> problems{{
    {"S",
     {64, 64, 64},
     {{554.6087004964, 484.5363331978},
      {554.6385409189, 486.5304269511},
      {554.6148406171, 488.3910722336},
      {554.5423607415, 490.1273169046},
      {554.4255039624, 491.7475857993},
      {554.2683411902, 493.2597244941}}},
    {"W",
     {32, 128, 128},
     {{567.3612178944, 529.3246849175},
      {563.1436885271, 528.2149986629},
      {559.4024089970, 527.0996558037},
      {556.0698047020, 526.0027904925},
      {553.0898991250, 524.9400845633},
      {550.4159734538, 523.9212247086}}},
    {"A",
     {128, 256, 256},
     {{504.6735008193, 511.4047905510},
      {505.9412319734, 509.8809666433},
      {506.9376896287, 509.8144042213},
      {507.7892868474, 510.1336130759},
      {508.5233095391, 510.4914655194},
      {509.1487099959, 510.7917842803}}},
    {"B",
     {256, 256, 512},
     {{517.7643571579, 507.7803458597}, {515.4521291263, 508.8249431599}, {514.6409228649, 509.6208912659},
      {514.2378756213, 510.1023387619}, {513.9626667737, 510.3976610617}, {513.7423460082, 510.5948019802},
      {513.5547056878, 510.7404165783}, {513.3910925466, 510.8576573661}, {513.2470705390, 510.9577278523},
      {513.1197729984, 511.0460304483}, {513.0070319283, 511.1252433800}, {512.9070537032, 511.1968077718},
      {512.8182883502, 511.2616233064}, {512.7393733383, 511.3203605551}, {512.6691062020, 511.3735928093},
      {512.6064276004, 511.4218460548}, {512.5504076570, 511.4656139760}, {512.5002331720, 511.5053595966},
      {512.4551951846, 511.5415130407}, {512.4146770029, 511.5744692211}}},
}};

// The benchmark's random numbers: x' = 5^13 x mod 2^46.
constexpr std::uint64_t multiplier = 1'220'703'125, seed = 314'159'265, mask = (std::uint64_t{1} << 46) - 1;

// `seed` after so many steps.
std::uint64_t state_after(std::uint64_t steps) {
  std::uint64_t state = seed;
  for (std::uint64_t power = multiplier; steps > 0; steps >>= 1) {
    if (steps & 1) state = state * power & mask;
    power = power * power & mask;
  }
  return state;
}

class HostEvolution : public Evolution {
 public:
  HostEvolution(World& world, const Problem& problem, const Ends<double>& ends)
      : world_(world),
        ends_(ends),
        factors_(factors(problem, ends.output_box)),
        places_(places_added(problem, ends.input_box)) {}

  void keep() override { kept_.assign(ends_.output.begin(), ends_.output.end()); }

  void evolve() override {
    const Extents& size = ends_.output_box.size;
    std::size_t at = 0;
    for (std::size_t x = 0; x < static_cast<std::size_t>(size[0]); ++x) {
      for (std::size_t y = 0; y < static_cast<std::size_t>(size[1]); ++y) {
        const double factor = factors_[0][x] * factors_[1][y];
        for (const double along_z : factors_[2]) {
          kept_[at] *= factor * along_z;
          ends_.output[at] = kept_[at];
          ++at;
        }
      }
    }
    world_.compute(3.0 * sizeof(Complex) * static_cast<double>(at), 3.0 * static_cast<double>(at));
  }

  Complex add_up() override {
    Complex sum;
    for (const std::int64_t place : places_) sum += ends_.input[place];
    return sum;
  }

 private:
  World& world_;
  Ends<double> ends_;
  std::array<std::vector<double>, 3> factors_;
  std::vector<std::int64_t> places_;
  std::vector<Complex> kept_;
};

}  // namespace

double Problem::flops() const {
  const double points = static_cast<double>(extents[0] * extents[1] * extents[2]), log = std::log(points);
  return points * (14.8157 + 7.19641 * log + (5.23518 + 7.21113 * log) * steps());
}

const Problem& problem_named(std::string_view name) {
  for (const Problem& problem : problems)
    if (problem.name == name) return problem;
  throw Error(Errc::invalid_argument, fmt::format("there is no class {}; there are S, W, A and B", name));
}

void write_input(const Problem& problem, const Ends<double>& ends) {
  write_layers<double>(ends.input_box, ends.input,
                       [&](std::int64_t x, std::int64_t y, std::span<Complex> line) {
                         const std::int64_t before = (x * problem.extents[1] + y) * problem.extents[2];
                         std::uint64_t state = state_after(2 * static_cast<std::uint64_t>(before));
                         const auto next = [&] {
                           state = state * multiplier & mask;
                           return static_cast<double>(state) * 0x1p-46;
                         };
                         for (Complex& number : line) {
                           const double real = next();
                           number = {real, next()};
                         }
                       });
}

std::array<std::vector<double>, 3> factors(const Problem& problem, const Box& box) {
  constexpr double alpha = 1e-6;
  std::array<std::vector<double>, 3> all;
  for (std::size_t d = 0; d < 3; ++d) {
    const std::int64_t size = problem.extents[d];
    for (std::int64_t i = box.first[d]; i < box.first[d] + box.size[d]; ++i) {
      const auto k = static_cast<double>((i + size / 2) % size - size / 2);
      all[d].push_back(std::exp(-4 * alpha * std::numbers::pi * std::numbers::pi * k * k));
    }
  }
  return all;
}

std::vector<std::int64_t> places_added(const Problem& problem, const Box& box) {
  constexpr std::int64_t count = 1024;
  std::vector<std::int64_t> places;
  for (std::int64_t j = 1; j <= count; ++j) {
    const Extents place{5 * j % problem.extents[0], 3 * j % problem.extents[1], j % problem.extents[2]};
    if (common({place, {1, 1, 1}}, box).elements() == 0) continue;
    places.push_back(((place[0] - box.first[0]) * box.size[1] + place[1] - box.first[1]) * box.size[2] +
                     place[2] - box.first[2]);
  }
  return places;
}

std::unique_ptr<Evolution> host_evolution(World& world, const Problem& problem, const Ends<double>& ends) {
  return std::make_unique<HostEvolution>(world, problem, ends);
}

double Run::error(const Problem& problem) const {
  double largest = checksums.size() == problem.checksums.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(checksums.size(), problem.checksums.size()); ++i) {
    const Complex &found = checksums[i], &published = problem.checksums[i];
    for (const double error : {found.real() / published.real() - 1, found.imag() / published.imag() - 1})
      if (!(std::abs(error) <= largest)) largest = std::abs(error);
  }
  return largest;
}

Run run(World& world, const Problem& problem, const Ends<double>& ends, Way& way, Evolution& evolution,
        const Progress& progress) {
  Run done;
  write_input(problem, ends);
  world.barrier();
  const double begin = world.now().count();
  way.forward();
  evolution.keep();
  std::vector<Complex> sums;
  std::vector<double> step_us;
  for (int step = 0; step < problem.steps(); ++step) {
    const double step_begin = world.now().count();
    evolution.evolve();
    way.backward();
    sums.push_back(evolution.add_up());
    step_us.push_back((world.now().count() - step_begin) * 1e6);
    if (progress) progress("solving", step + 1, problem.steps());
  }
  const double seconds = world.now().count() - begin;
  const double points = static_cast<double>(problem.extents[0] * problem.extents[1] * problem.extents[2]);
  for (const Complex& mine : sums) {
    const std::vector<Complex> all = world.all_gather(mine);
    done.checksums.push_back(std::accumulate(all.begin(), all.end(), Complex{}) / points);
  }
  done.step_us = apps::Gathered(world, step_us).largest();
  done.seconds = apps::Gathered(world, {seconds}).largest()[0];
  return done;
}

}  // namespace tca::fft::npb
