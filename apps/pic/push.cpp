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
void deposit_charge(const Particles& particles, const Domain& domain, Number* charge) {
  const std::int64_t sy = domain.step(1), sz = domain.step(2);
  const bool is_flat = domain.dims() == 2;
  for (std::size_t i = 0; i < particles.size(); ++i) {
    const double x1 = particles.at[0][i], y1 = particles.at[1][i], z1 = is_flat ? 0 : particles.at[2][i];
    const double q = particles.charge[i] * units<Number>;
    Number* const at = charge + particles.cell[i];
    const auto add_layer = [&](Number* layer, double share) {
      layer[0] += to_number<Number>(share * ((1 - x1) * (1 - y1)));
      layer[1] += to_number<Number>(share * (x1 * (1 - y1)));
      layer[sy] += to_number<Number>(share * ((1 - x1) * y1));
      layer[sy + 1] += to_number<Number>(share * (x1 * y1));
    };
    add_layer(at, q * (1 - z1));
    if (!is_flat) add_layer(at + sz, q * z1);
  }
}

template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<double>*,
                     std::vector<std::uint32_t>&);
template double push(Particles&, const Fields&, const Deck&, const Domain&, Vec<std::int64_t>*,
                     std::vector<std::uint32_t>&);
template void deposit_charge(const Particles&, const Domain&, double*);
template void deposit_charge(const Particles&, const Domain&, std::int64_t*);

}  // namespace tca::pic
