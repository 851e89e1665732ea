#include "pic/particles.hpp"

#include <bit>
#include <cmath>

#include "shared/philox.hpp"

namespace tca::pic {

namespace {

// Three numbers from a normal distribution, which depend on the particle alone (by G. Box and M. Muller's method).
std::array<double, 3> drawn(std::uint64_t seed, std::uint64_t particle) {
  constexpr double unit = 1.0 / 4294967296.0, turn = 2 * 3.14159265358979323846;
  const apps::Philox words =
      apps::philox({{static_cast<std::uint32_t>(particle), static_cast<std::uint32_t>(particle >> 32), 0, 0}},
                   static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
  const auto length = [&](int word) { return std::sqrt(-2 * std::log((words.word[word] + 0.5) * unit)); };
  const double first = turn * (words.word[1] * unit), second = turn * (words.word[3] * unit);
  return {length(0) * std::cos(first), length(0) * std::sin(first), length(2) * std::cos(second)};
}

// Fills a rank's cells with particles, beam by beam and cell by cell.
class Filling {
 public:
  Filling(const Deck& deck, const Domain& domain, Particles& particles)
      : deck_(deck), domain_(domain), particles_(particles), beams_(deck.drift != 0 ? 2 : 1) {}

  void fill(std::int64_t x, std::int64_t y, std::int64_t z) {
    const int per_side = deck_.per_side, deep = deck_.dims() == 3 ? per_side : 1;
    int number = 0;
    for (int k = 0; k < deep; ++k)
      for (int j = 0; j < per_side; ++j)
        for (int i = 0; i < per_side; ++i)
          for (int beam = 0; beam < beams_; ++beam) {
            const auto middle = [&](int n) { return (n + 0.5) / per_side; };
            add({x, y, z}, {middle(i), middle(j), deck_.dims() == 3 ? middle(k) : 0}, beam, number++);
          }
  }

 private:
  using Place = std::array<double, 3>;

  void add(const std::array<std::int64_t, 3>& cell, const Place& at, int beam, int number) {
    const double x = (static_cast<double>(domain_.first(0) + cell[0]) + at[0]) * deck_.cell;
    const double density = deck_.density(x);
    if (density == 0) return;
    std::array<double, 3> p{};
    if (deck_.thermal > 0) {
      p = drawn(deck_.seed, number_of(cell) * most_in_a_cell + static_cast<std::uint64_t>(number));
      for (double& component : p) component *= deck_.thermal;
    }
    const double v =
        (beam == 0 ? deck_.drift : -deck_.drift) + deck_.amplitude * std::sin(deck_.wave_number() * x);
    p[0] += v / std::sqrt(1 - v * v);
    const double in_a_cell = beams_ * std::pow(deck_.per_side, deck_.dims());
    unpack({domain_.index(cell[0], cell[1], cell[2]),
            {at[0], at[1], at[2]},
            {p[0], p[1], p[2]},
            -density / in_a_cell},
           particles_);
  }

  // Of a cell among all.
  std::uint64_t number_of(const std::array<std::int64_t, 3>& cell) const {
    std::int64_t number = 0;
    for (int axis = deck_.dims() - 1; axis >= 0; --axis)
      number = number * deck_.extents[static_cast<std::size_t>(deck_.dims() - 1 - axis)] +
               domain_.first(axis) + cell[static_cast<std::size_t>(axis)];
    return static_cast<std::uint64_t>(number);
  }

  static constexpr std::uint64_t most_in_a_cell = 8192;  // 2 beams of 16^3

  const Deck& deck_;
  const Domain& domain_;
  Particles& particles_;
  int beams_;
};

// The finaliser of splitmix64, by which near values become far ones.
std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
  return value ^ (value >> 31);
}

}  // namespace

Particles first_particles(const Deck& deck, const Domain& domain) {
  Particles particles;
  Filling filling(deck, domain, particles);
  const std::int64_t inside = domain.cells(0) - (domain.wall_above() ? 1 : 0);
  for (std::int64_t z = 0; z < domain.cells(2); ++z)
    for (std::int64_t y = 0; y < domain.cells(1); ++y)
      for (std::int64_t x = 0; x < inside; ++x) filling.fill(x, y, z);
  return particles;
}

void send_off(Particles& particles, const Domain& domain, const std::vector<std::uint32_t>& outside,
              Leavers& leavers) {
  leavers.all.clear();
  leavers.to.resize(domain.neighbours().size());
  for (auto& each : leavers.to) each.clear();
  for (const std::uint32_t index : outside) {
    std::int32_t& cell = particles.cell[index];
    const Way& way = domain.way(domain.directions()[cell]);
    if (way.neighbour == Way::itself) {
      cell += way.shift;
      continue;
    }
    leavers.all.push_back(index);
    if (way.neighbour == Way::gone)
      ++leavers.absorbed;
    else
      leavers.to[static_cast<std::size_t>(way.neighbour)].push_back(index);
  }
}

Traveller pack(const Particles& particles, std::size_t index, std::int64_t cell) {
  const auto &at = particles.at, &p = particles.p;
  return {cell,
          {at[0][index], at[1][index], at[2][index]},
          {p[0][index], p[1][index], p[2][index]},
          particles.charge[index]};
}

void unpack(const Traveller& traveller, Particles& particles) {
  const auto push = [](std::array<std::vector<double>, 3>& into, const Vec<double>& from) {
    into[0].push_back(from.x);
    into[1].push_back(from.y);
    into[2].push_back(from.z);
  };
  particles.cell.push_back(static_cast<std::int32_t>(traveller.cell));
  push(particles.at, traveller.at);
  push(particles.p, traveller.p);
  particles.charge.push_back(traveller.charge);
}

namespace {

template <class Act>
void each_number(Particles& particles, const Act& act) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    act(particles.at[axis]);
    act(particles.p[axis]);
  }
  act(particles.charge);
}

}  // namespace

// From the last gap on, so that what is moved is no gap itself.
void close_gaps(Particles& particles, const Leavers& leavers) {
  const auto close = [&](auto& values) {
    std::size_t size = values.size();
    for (auto gap = leavers.all.rbegin(); gap != leavers.all.rend(); ++gap) values[*gap] = values[--size];
    values.resize(size);
  };
  close(particles.cell);
  each_number(particles, close);
}

template <class T>
void Sorter::permute(std::vector<T>& values, std::vector<T>& spare) {
  spare.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) spare[i] = values[from_[i]];
  values.swap(spare);
}

void Sorter::sort(Particles& particles, const Domain& domain) {
  begin_.assign(static_cast<std::size_t>(domain.elements()) + 1, 0);
  from_.resize(particles.size());
  for (const std::int32_t cell : particles.cell) ++begin_[static_cast<std::size_t>(cell) + 1];
  for (std::size_t cell = 1; cell < begin_.size(); ++cell) begin_[cell] += begin_[cell - 1];
  for (std::size_t i = 0; i < particles.size(); ++i)
    from_[begin_[static_cast<std::size_t>(particles.cell[i])]++] = static_cast<std::uint32_t>(i);
  permute(particles.cell, cells_);
  each_number(particles, [&](std::vector<double>& values) { permute(values, numbers_); });
}

std::uint64_t digest(const Particles& particles, const Deck& deck, const Domain& domain) {
  std::uint64_t sum = 0;
  // A cell's number among all, from its index among this rank's.
  const auto number_of = [&](std::int64_t index) {
    index -= domain.index(0, 0, 0);
    const std::int64_t z = domain.step(2) > 0 ? index / domain.step(2) : 0;
    const std::int64_t y = (index - z * domain.step(2)) / domain.step(1),
                       x = index - z * domain.step(2) - y * domain.step(1);
    const std::int64_t wide = deck.extents.back(), high = deck.extents[deck.extents.size() - 2];
    return ((z + domain.first(2)) * high + y + domain.first(1)) * wide + x + domain.first(0);
  };
  for (std::size_t i = 0; i < particles.size(); ++i) {
    std::uint64_t one = mixed(static_cast<std::uint64_t>(number_of(particles.cell[i])));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      one = mixed(one ^ std::bit_cast<std::uint64_t>(particles.at[axis][i]));
      one = mixed(one ^ std::bit_cast<std::uint64_t>(particles.p[axis][i]));
    }
    sum += one;
  }
  return sum;
}

}  // namespace tca::pic
