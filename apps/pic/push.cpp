#include "pic/push.hpp"

#include "pic/push_one.hpp"

namespace tca::pic {

namespace {

Rows rows_of(Particles& particles) {
  auto &at = particles.at, &p = particles.p;
  return {particles.cell.data(),
          {at[0].data(), at[1].data(), at[2].data()},
          {p[0].data(), p[1].data(), p[2].data()},
          particles.charge.data()};
}

template <int Dims, class Number>
double push_all(Particles& particles, const Medium<Number>& medium, std::vector<std::uint32_t>& outside) {
  const auto add = [](Number& sum, double value) { sum += to_number<Number>(value); };
  const Rows rows = rows_of(particles);
  double energy = 0;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const Pushed one = push_one<Dims>(rows, i, medium, add);
    energy += one.energy;
    if (one.has_left) outside.push_back(static_cast<std::uint32_t>(i));
  }
  return energy;
}

}  // namespace

template <class Number>
double push(Particles& particles, const Fields& fields, const Deck& deck, const Domain& domain,
            Vec<Number>* flow, std::vector<std::uint32_t>& outside) {
  const Medium<Number> medium{.e = fields.e(),
                              .b = fields.b(),
                              .flow = flow,
                              .half = deck.dt() / 2,
                              .ratio = deck.dt() / deck.cell,
                              .step = {domain.step(1), domain.step(2)},
                              .directions = domain.directions()};
  return domain.dims() == 2 ? push_all<2>(particles, medium, outside)
                            : push_all<3>(particles, medium, outside);
}

template <class Number>
void deposit_charge(Particles& particles, const Domain& domain, Number* charge) {
  const auto add = [](Number& sum, double value) { sum += to_number<Number>(value); };
  const Rows rows = rows_of(particles);
  const Steps step{domain.step(1), domain.step(2)};
  for (std::size_t i = 0; i < particles.size(); ++i)
    if (domain.dims() == 2)
      deposit_one<2>(rows, i, charge, step, add);
    else
      deposit_one<3>(rows, i, charge, step, add);
}

template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<double>*,
                     std::vector<std::uint32_t>&);
template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<std::int64_t>*,
                     std::vector<std::uint32_t>&);
template void deposit_charge(Particles&, const Domain&, double*);
template void deposit_charge(Particles&, const Domain&, std::int64_t*);

}  // namespace tca::pic
