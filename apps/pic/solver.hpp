// One rank of a simulation: its cells, fields and particles, and a step of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "pic/deck.hpp"
#include "pic/domain.hpp"
#include "pic/exchange.hpp"
#include "pic/fields.hpp"
#include "pic/images.hpp"
#include "pic/particles.hpp"
#include "pic/vec.hpp"
#include "tca/fold.hpp"
#include "tca/world.hpp"

namespace tca::pic {

// What a step took on this rank, in microseconds.
struct Phases {
  double push_us = 0;    // particles, and sorting them
  double fields_us = 0;  // Maxwell's equations
  std::array<double, 3> message_us{};

  double exchange_us() const { return message_us[0] + message_us[1] + message_us[2]; }
  double total_us() const { return push_us + fields_us + exchange_us(); }
  // A step's part of what equal steps took together.
  Phases each_of(std::int64_t steps) const {
    const auto count = static_cast<double>(steps);
    return {push_us / count,
            fields_us / count,
            {message_us[0] / count, message_us[1] / count, message_us[2] / count}};
  }
  Phases& operator+=(const Phases& other) {
    push_us += other.push_us;
    fields_us += other.fields_us;
    for (std::size_t m = 0; m < message_us.size(); ++m) message_us[m] += other.message_us[m];
    return *this;
  }
};

// This rank's part of what is known after a step.
struct Sample {
  double field_energy = 0,
         kinetic_energy =
             0;  // of the whole box, in cells of undisturbed plasma; the latter half a step before
  double sine = 0, cosine = 0;  // of the deck's wave, the field's Fourier components
  double off_gauss =
      0;  // the most by which the divergence of E is not the charge density, in parts of the plasma's
  std::int64_t particles = 0, absorbed = 0;
};

template <class Number>
class Solver {
 public:
  // Collective. The exchange may be one of several that take turns.
  Solver(World& world, const Deck& deck, const Grid& grid);
  virtual ~Solver() = default;
  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  Exchanged<Number> exchanged() const { return {domain_, fields_.e_window(), flow_, room()}; }
  // Collective, once, before the first step.
  virtual void begin(Exchange& exchange);

  // Collective. Throws Error{invalid_argument} where momenta are no longer numbers.
  virtual Phases step(Exchange& exchange);

  // Collective. Compares with Gauss's law if asked, for which charges are added up anew.
  virtual Sample sample(bool gauss);

  // How many steps may be taken as one by this exchange, and these steps, of which nobody sees what is in between. Collective.
  // Appends what is known after each, of Gauss's law after the last. Returns what a step took on average.
  virtual std::int64_t most_at_once(const Exchange&) const { return 1; }
  virtual Phases run(Exchange& exchange, std::int64_t steps, bool gauss, std::vector<Sample>& samples);

  // Has particles and fields here be what they are after the last step, where another processor has them.
  virtual void fetch() {}

  const Deck& deck() const { return deck_; }
  const Domain& domain() const { return domain_; }
  const Fields& fields() const { return fields_; }
  const Particles& particles() const { return particles_; }
  virtual std::int64_t steps() const { return steps_; }
  int most_rounds() const { return most_rounds_; }  // in which a step's particles have travelled

  // Ex along x in the middle of the box, as far as this rank has it; 0 elsewhere.
  std::vector<double> ex_along() const;
  // The charge density of the electrons at each of this rank's own nodes, x fastest. Collective.
  std::vector<double> electrons();

 protected:
  // Takes over what another processor has computed, of as many steps.
  void adopt(Particles particles, std::span<const Vec<double>> e, std::span<const Vec<double>> b,
             std::int64_t steps);
  const Window<Vec<Number>>& flow() const { return flow_; }
  std::int64_t room() const;
  void note_rounds(int rounds) { most_rounds_ = std::max(most_rounds_, rounds); }
  // Throws for a kinetic energy that is no finite number.
  void check_momenta(double kinetic_energy) const;

  // For Gauss's law: the charge of electrons, whose ghosts the fold adds to other ranks' nodes, and what was there of the others.
  const Window<Number>& charge() const { return charge_; }
  Fold& charge_fold() { return charge_fold_; }
  const std::vector<Number>& ions() const { return ions_; }
  // Where along x it need not hold: at walls, with which charge leaves, and at the antenna, which has charges of its own. Own
  // cells, or others where there are none.
  std::array<std::int64_t, 3> unchecked() const;

  // Of the deck's wave, where Ex or in a vacuum Ez is, by own cells along x.
  const std::vector<double>& sine() const { return sine_; }
  const std::vector<double>& cosine() const { return cosine_; }

 private:
  void push_all();
  void add_up_charge();
  double off_gauss();
  template <class Act>
  double timed(const Act& act);
  template <class Act>
  void each_node(const Act& act) const;

  World& world_;
  Deck deck_;
  Domain domain_;
  Fields fields_;
  Particles particles_;
  Window<Vec<Number>> flow_;
  Window<Number> charge_;
  Fold charge_fold_;
  Images images_;
  std::vector<Number> charges_, ions_;  // by node: of the electrons, and what was there of the others
  std::vector<std::uint32_t> outside_;
  Leavers leavers_;
  Sorter sorter_;
  std::vector<double> sine_, cosine_;
  double kinetic_energy_ = 0;
  std::int64_t steps_ = 0;
  int most_rounds_ = 0;
};

extern template class Solver<double>;
extern template class Solver<std::int64_t>;

}  // namespace tca::pic
