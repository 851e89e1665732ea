// A step goes from E and places at a time and momenta half a step before to all of them a step later. What travels does so
// while something else is computed: the flow while B is advanced, E while particles change ranks.
#include "pic/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "pic/push.hpp"
#include "tca/error.hpp"

namespace tca::pic {

namespace {

// Particles wander through the arrays; after so many steps they are put into the order of their cells.
constexpr std::int64_t steps_between_sorts = 25;

// What a particle's push and a cell's fields move and compute, for the model of a machine.
constexpr double numbers_a_particle = 16, flops_a_particle = 250, numbers_a_cell = 27, flops_a_cell = 60;

template <class Number>
Fold committed_charge_fold(World& world, const Domain& domain, const Window<Number>& charge) {
  const Halo halo(world, "nodes of charge", domain.grid(), domain.interior(),
                  domain.halo_options(flow_ghosts));
  Fold fold(world, "charge", halo);
  fold.add(charge);
  fold.commit();
  return fold;
}

}  // namespace

template <class Number>
Solver<Number>::Solver(World& world, const Deck& deck, const Grid& grid)
    : world_(world),
      deck_(deck),
      domain_(deck, grid, world.rank()),
      fields_(world, domain_, deck),
      particles_(first_particles(deck, domain_)),
      flow_(world.window<Vec<Number>>(domain_.elements(), "flow")),
      charge_(world.window<Number>(domain_.elements(), "charge")),
      charge_fold_(committed_charge_fold(world, domain_, charge_)),
      images_(domain_, flow_ghosts) {
  add_up_charge();
  ions_.resize(static_cast<std::size_t>(domain_.elements()));
  each_node([&](std::int64_t at, std::int64_t) {
    ions_[static_cast<std::size_t>(at)] = -charges_[static_cast<std::size_t>(at)];
  });
  const double offset = deck.per_side > 0 ? 0.5 : 0, k = deck.wave_number() * deck.cell;
  for (std::int64_t x = 0; x < domain_.cells(0); ++x) {
    const double phase = k * (static_cast<double>(domain_.first(0) + x) + offset);
    sine_.push_back(std::sin(phase));
    cosine_.push_back(std::cos(phase));
  }
  outside_.reserve(particles_.size() / 8 + 64);
}

// Of a layer of cells next to a neighbour, some twentieths change ranks in a step where electrons are warm; where beams
// carry more, they take further rounds.
template <class Number>
std::int64_t Solver<Number>::room() const {
  constexpr std::int64_t least = 256;
  std::int64_t layer = 0;
  for (int axis = 0; axis < domain_.dims(); ++axis)
    layer = std::max(layer, domain_.own_cells() / domain_.cells(axis));
  const auto in_a_cell =
      static_cast<std::int64_t>(std::pow(deck_.per_side, deck_.dims())) * (deck_.drift != 0 ? 2 : 1);
  return std::max(least, layer * in_a_cell / 8);
}

// Calls act(index, x) for each own node.
template <class Number>
template <class Act>
void Solver<Number>::each_node(const Act& act) const {
  for (std::int64_t z = 0; z < domain_.cells(2); ++z)
    for (std::int64_t y = 0; y < domain_.cells(1); ++y)
      for (std::int64_t x = 0; x < domain_.cells(0); ++x) act(domain_.index(x, y, z), x);
}

template <class Number>
void Solver<Number>::begin(Exchange& exchange) {
  exchange.start_field();
  exchange.wait_field();
}

// Returns microseconds.
template <class Number>
template <class Act>
double Solver<Number>::timed(const Act& act) {
  const double begin = world_.now().count();
  act();
  return (world_.now().count() - begin) * 1e6;
}

template <class Number>
void Solver<Number>::check_momenta(double kinetic_energy) const {
  if (!std::isfinite(kinetic_energy))
    throw Error(Errc::invalid_argument,
                fmt::format("step {} on rank {}: momenta are no longer finite numbers; a smaller time step "
                            "(cfl) or a weaker laser may help",
                            steps(), world_.rank()));
}

template <class Number>
void Solver<Number>::push_all() {
  std::fill_n(flow_.data(), domain_.elements(), Vec<Number>{});
  outside_.clear();
  kinetic_energy_ = push(particles_, fields_, deck_, domain_, flow_.data(), outside_);
  check_momenta(kinetic_energy_);
  const auto particles = static_cast<double>(particles_.size());
  world_.compute(particles * numbers_a_particle * sizeof(double), particles * flops_a_particle);
}

template <class Number>
Phases Solver<Number>::step(Exchange& exchange) {
  Phases phases;
  const auto cells = static_cast<double>(domain_.own_cells());
  const auto advance_b = [&] {
    fields_.advance_b();
    world_.compute(cells * numbers_a_cell * sizeof(double) / 3, cells * flops_a_cell / 3);
  };
  phases.fields_us += timed(advance_b);
  phases.push_us += timed([&] { push_all(); });
  phases.message_us[0] += timed([&] { exchange.start_flow(); });
  phases.fields_us += timed(advance_b);
  phases.message_us[0] += timed([&] { exchange.wait_flow(); });
  phases.fields_us += timed([&] {
    images_.fold(flow_.data());
    fields_.advance_e(flow_.data(), static_cast<double>(steps_) * deck_.dt());
    world_.compute(cells * numbers_a_cell * sizeof(double) / 3, cells * flops_a_cell / 3);
  });
  phases.message_us[1] += timed([&] { exchange.start_field(); });
  phases.message_us[2] += timed([&] {
    send_off(particles_, domain_, outside_, leavers_);
    note_rounds(exchange.migrate(particles_, leavers_));
    close_gaps(particles_, leavers_);
  });
  ++steps_;
  if (steps_ % steps_between_sorts == 0) phases.push_us += timed([&] { sorter_.sort(particles_, domain_); });
  phases.message_us[1] += timed([&] { exchange.wait_field(); });
  return phases;
}

template <class Number>
Phases Solver<Number>::run(Exchange& exchange, std::int64_t steps, bool gauss, std::vector<Sample>& samples) {
  Phases all;
  for (std::int64_t left = steps; left > 0; --left) {
    all += step(exchange);
    samples.push_back(sample(gauss && left == 1));
  }
  return all.each_of(steps);
}

template <class Number>
void Solver<Number>::add_up_charge() {
  charges_.assign(static_cast<std::size_t>(domain_.elements()), Number{});
  deposit_charge(particles_, domain_, charges_.data());
  charge_.write(0, charges_);
  charge_fold_.run();
  charge_.read(0, charges_);
  images_.fold(charges_.data());
}

template <class Number>
void Solver<Number>::adopt(Particles particles, std::span<const Vec<double>> e,
                           std::span<const Vec<double>> b, std::int64_t steps) {
  particles_ = std::move(particles);
  fields_.assign(e, b);
  steps_ = steps;
}

template <class Number>
std::array<std::int64_t, 3> Solver<Number>::unchecked() const {
  constexpr std::int64_t none = -1;
  return {domain_.wall_below() ? 0 : none, domain_.wall_above() ? domain_.cells(0) - 1 : none,
          deck_.laser.a0 != 0 ? Fields::antenna - domain_.first(0) : none};
}

template <class Number>
double Solver<Number>::off_gauss() {
  add_up_charge();
  double most = 0;
  const std::array<std::int64_t, 3> free = unchecked();
  each_node([&](std::int64_t at, std::int64_t x) {
    if (std::ranges::find(free, x) != free.end()) return;
    const double charge = to_double(
        static_cast<Number>(charges_[static_cast<std::size_t>(at)] + ions_[static_cast<std::size_t>(at)]));
    // Not std::max, which would lose what is no number.
    const double off = std::abs(fields_.divergence(at) - charge);
    if (!(off <= most)) most = off;
  });
  return most;
}

template <class Number>
Sample Solver<Number>::sample(bool gauss) {
  Sample sample{.field_energy = fields_.energy(),
                .kinetic_energy = kinetic_energy_,
                .off_gauss = gauss ? off_gauss() : 0,
                .particles = static_cast<std::int64_t>(particles_.size()),
                .absorbed = leavers_.absorbed};
  const bool is_vacuum = deck_.per_side == 0;
  each_node([&](std::int64_t at, std::int64_t x) {
    const Vec<double>& e = fields_.e()[at];
    const double along = is_vacuum ? e.z : e.x;
    sample.sine += along * sine_[static_cast<std::size_t>(x)];
    sample.cosine += along * cosine_[static_cast<std::size_t>(x)];
  });
  return sample;
}

template <class Number>
std::vector<double> Solver<Number>::ex_along() const {
  std::vector<double> along(static_cast<std::size_t>(deck_.extents.back()));
  std::array<std::int64_t, 3> middle{};
  for (int axis = 1; axis < deck_.dims(); ++axis) {
    std::int64_t& at = middle[static_cast<std::size_t>(axis)];
    at = deck_.extents[static_cast<std::size_t>(deck_.dims() - 1 - axis)] / 2 - domain_.first(axis);
    if (at < 0 || at >= domain_.cells(axis)) return along;
  }
  for (std::int64_t x = 0; x < domain_.cells(0); ++x)
    along[static_cast<std::size_t>(domain_.first(0) + x)] =
        fields_.e()[domain_.index(x, middle[1], middle[2])].x;
  return along;
}

template <class Number>
std::vector<double> Solver<Number>::electrons() {
  add_up_charge();
  std::vector<double> density;
  each_node([&](std::int64_t at, std::int64_t) {
    density.push_back(-to_double(charges_[static_cast<std::size_t>(at)]));
  });
  return density;
}

template class Solver<double>;
template class Solver<std::int64_t>;

}  // namespace tca::pic
