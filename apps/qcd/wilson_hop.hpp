// The hopping term of Wilson's operator,
//   (H psi)(x) = sum over mu of (1 - gamma_mu) U_mu(x) psi(x + mu) + (1 + gamma_mu) U_mu(x - mu)^dagger psi(x - mu).
//
// A rank sends spin-projected halves, 12 reals a site of a face; those that go forward in mu are multiplied by the
// sender's link. Every site adds its eight terms in one order, so that an application gives the same bits on every grid.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "qcd/faces.hpp"
#include "qcd/links.hpp"
#include "qcd/operator.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// Of H, a site: 8 projections of 12, 8 products of 132 and 7 sums of 24, as is usual.
inline constexpr double wilson_flops = 1320;
inline constexpr double projection_flops = 12 + 132;  // of half a spinor that is sent

struct WilsonOptions {
  double kappa = 0.12;
  bool antiperiodic = true;         // in time
  Storage storage = Storage::full;  // faster where links stay in the cache, as they do on a host
  int rhs = 1;                      // right-hand sides, together
  bool even_odd = true;             // preconditioned; needs even local extents
  const Peer* peer = nullptr;       // sends the halo in place of chains, and must outlive the operator
};

// out = a same + b H in; without `same` its term is left out.
template <class T>
struct Combination {
  const T* same = nullptr;
  T a = 1;
  T b = 1;
};

// The hopping term, on which both forms are built.
template <class T>
class WilsonHop {
 public:
  // Collective.
  WilsonHop(World& world, const Gauge& gauge, const WilsonOptions& options);

  // Collective. Computes the sites `target`: all, from a field of all sites; or of one parity, from a field of the other.
  // With `dagger` H^dagger, which is H with the signs of the gammas turned.
  void apply(Sites target, const T* in, T* out, const Combination<T>& combination, bool dagger);

  World& world() { return world_; }
  const Lattice& lattice() const { return lattice_; }
  std::size_t rhs() const { return rhs_; }
  std::int64_t bytes(Sites sent) const { return faces_.bytes(sent); }
  std::string explain() const { return faces_.explain(); }
  Times& times() { return times_; }

 private:
  struct Sweep;  // one application's arguments
  template <bool dagger>
  void project_faces(const Sweep& sweep);
  template <Storage storage, bool dagger>
  void hop(const Sweep& sweep, const std::vector<std::int32_t>& sites) const;
  void hop_any(const Sweep& sweep, const std::vector<std::int32_t>& sites) const;
  void charge_faces(Sites sent);
  void charge_hop(const Sweep& sweep, std::size_t sites);

  World& world_;
  const Lattice& lattice_;
  std::size_t rhs_;
  Links<T> links_;
  Faces<T> faces_;
  std::array<Division, 3> divisions_;  // by Sites
  Times times_;
};

}  // namespace tca::qcd
