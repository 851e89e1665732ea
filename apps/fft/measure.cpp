#include "fft/measure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "shared/gathered.hpp"
#include "shared/median.hpp"

namespace tca::fft {

namespace {

template <class Real>
Errors check(World& world, const Field& field, const Known& known, const Ends<Real>& ends, Way& way) {
  Errors errors;
  write_input(field, ends);
  world.barrier();
  way.forward();
  check_output(world, field, known, ends, errors);
  world.barrier();
  way.backward();
  check_round_trip(world, field, ends, errors);
  return errors;
}

}  // namespace

int pairs_of(const Field& field, bool in_double) {
  constexpr int most = 8;
  const int exponent =
      in_double ? std::numeric_limits<double>::max_exponent10 : std::numeric_limits<float>::max_exponent10;
  return std::clamp(static_cast<int>(exponent / std::log10(field.points() + 1)) - 2, 1, most);
}

double flops(const Field& field) {
  return (field.real ? 2.5 : 5) * field.points() * std::log2(field.points());
}

template <class Real>
std::vector<Result> measure(World& world, const Field& field, const Ends<Real>& ends,
                            std::span<Way* const> ways, const Trials& trials, const Progress& progress) {
  constexpr int least = 3;
  const int pairs = pairs_of(field, sizeof(Real) == sizeof(double));
  const Known known = what_is_known(world, field, ends.input_box);
  std::vector<Result> results(ways.size());
  std::vector<std::vector<double>> exchange_us(ways.size());
  for (std::size_t which = 0; which < ways.size(); ++which)
    results[which].errors = check(world, field, known, ends, *ways[which]);
  const double begin = world.now().count();
  double elapsed = 0;  // by rank 0's clock, with the time in which numbers are written
  const auto is_enough = [&](int sample) {
    return trials.samples > 0 ? sample == trials.samples : sample >= least && elapsed >= trials.seconds;
  };
  for (int sample = 0; !is_enough(sample); ++sample) {
    for (std::size_t which = 0; which < ways.size(); ++which) {
      write_input(field, ends);
      world.barrier();
      const Taken taken = ways[which]->run(pairs);
      const std::vector<double> slowest =
          apps::Gathered(world, {taken.total_us / (2 * pairs), taken.exchange_us / (2 * pairs)}).largest();
      results[which].samples_us.push_back(slowest[0]);
      exchange_us[which].push_back(slowest[1]);
    }
    elapsed = world.all_gather(world.now().count() - begin)[0];
    if (progress)
      progress("transforming", trials.samples > 0 ? sample + 1 : static_cast<std::int64_t>(elapsed * 1e3),
               trials.samples > 0 ? trials.samples : static_cast<std::int64_t>(trials.seconds * 1e3));
  }
  for (std::size_t which = 0; which < ways.size(); ++which)
    results[which].exchange_us = apps::median(exchange_us[which]);
  return results;
}

template std::vector<Result> measure(World&, const Field&, const Ends<float>&, std::span<Way* const>,
                                     const Trials&, const Progress&);
template std::vector<Result> measure(World&, const Field&, const Ends<double>&, std::span<Way* const>,
                                     const Trials&, const Progress&);

}  // namespace tca::fft
