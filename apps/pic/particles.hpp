// A rank's electrons, as one array for each of their numbers, and how they travel to other ranks.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "pic/deck.hpp"
#include "pic/domain.hpp"
#include "pic/vec.hpp"

namespace tca::pic {

struct Particles {
  std::vector<std::int32_t> cell;  // an index of the domain's arrays
  std::array<std::vector<double>, 3>
      at;  // in the cell, in parts of its side: at least 0 and below 1; in a plane z is not used
  std::array<std::vector<double>, 3> p;  // momentum, half a step before the position
  std::vector<double> charge;            // in those of a cell of undisturbed ions

  std::size_t size() const { return cell.size(); }
};

// A particle on its way, in the frame of the rank to which it goes.
struct Traveller {
  std::int64_t cell;
  Vec<double> at, p;
  double charge;
};

// The particles that have left this rank's cells in a step. Its memory is kept from step to step.
struct Leavers {
  std::vector<std::uint32_t> all;              // ascending
  std::vector<std::vector<std::uint32_t>> to;  // by neighbour
  std::int64_t absorbed = 0;                   // by walls, since the beginning
};

// This rank's particles of a deck. A particle's place, momentum and charge depend on its cell alone, so that any number of
// ranks has the same.
Particles first_particles(const Deck& deck, const Domain& domain);

// Deals out particles that lie in ghosts, `outside` of them in ascending order: those that come in again on this rank's
// other side do so, the others are Leavers.
void send_off(Particles& particles, const Domain& domain, const std::vector<std::uint32_t>& outside,
              Leavers& leavers);

// What goes to a neighbour instead of a particle of this rank.
Traveller pack(const Particles& particles, std::size_t index, std::int64_t cell);
void unpack(const Traveller& traveller, Particles& particles);

// Closes the gaps that leavers have left, with particles from the end.
void close_gaps(Particles& particles, const Leavers& leavers);

// Puts particles into the order of their cells, so that those that are pushed one after the other find the same fields.
class Sorter {
 public:
  void sort(Particles& particles, const Domain& domain);

 private:
  template <class T>
  void permute(std::vector<T>& values, std::vector<T>& spare);

  std::vector<std::uint32_t> begin_, from_;
  std::vector<std::int32_t> cells_;
  std::vector<double> numbers_;
};

// A number of a set of particles that does not depend on their order, nor on who has them: equal sets have equal ones.
std::uint64_t digest(const Particles& particles, const Deck& deck, const Domain& domain);

}  // namespace tca::pic
