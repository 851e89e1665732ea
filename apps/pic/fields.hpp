// The electromagnetic field of a rank's cells on Yee's lattice (K. S. Yee, IEEE Trans. Antennas Propag. 14 (1966) 302):
// component d of E lies half a cell above its node along d, component d of B half a cell above along the two others.
//
// Only ghosts of E come from other ranks. B is advanced in the ghosts too, from the same E and so to the same bits as at
// their owners.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pic/deck.hpp"
#include "pic/domain.hpp"
#include "pic/images.hpp"
#include "pic/vec.hpp"
#include "pic/yee.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::pic {

class Fields {
 public:
  // Collective. There is no field, but in a vacuum with an amplitude a standing wave of E along z.
  Fields(World& world, const Domain& domain, const Deck& deck);

  // Advances B by half a time step. The ghosts of E have been filled.
  void advance_b();

  // Advances E by a time step from `time` on, with what has flowed through the faces of the cells (see Push), and fills those
  // ghosts that stand for own cells. What reaches a wall goes through it.
  template <class Number>
  void advance_e(const Vec<Number>* flow, double time);

  // The divergence of E at one of this rank's own nodes. The ghosts of E have been filled.
  double divergence(std::int64_t at) const;

  // Replaces both, ghosts included.
  void assign(std::span<const Vec<double>> e, std::span<const Vec<double>> b);

  // What the field of this rank's own cells has of energy. The ghosts of E have been filled.
  double energy() const;

  const Window<Vec<double>>& e_window() const { return e_; }
  const Vec<double>* e() const { return e_.data(); }
  const Vec<double>* b() const { return b_.data(); }

  const Lattice& lattice() const { return lattice_; }

  // What the laser's antenna emits in a step that begins at `time`, and the part of that at a row of this rank's cells.
  double emitted(double time) const;
  double profile(std::int64_t y, std::int64_t z) const;

  // Where the antenna stands along x, among all nodes. What it emits may begin and end in charges of its own there.
  static constexpr std::int64_t antenna = 4;

 private:
  template <class Act>
  void each_row(const Act& act) const;
  template <class Number>
  void absorb(const Vec<Number>* flow);
  void emit(double time);
  void begin_wave();

  const Domain& domain_;
  Deck deck_;
  Lattice lattice_;
  Window<Vec<double>> e_;
  std::vector<Vec<double>> b_;
  Images images_;
};

}  // namespace tca::pic
