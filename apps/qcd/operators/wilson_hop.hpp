// WilsonHop is the hopping term of Wilson's operator,
//   (H psi)(x) = sum over mu of (1 - gamma_mu) U_mu(x) psi(x + mu)
//                             + (1 + gamma_mu) U_mu(x - mu)^dagger psi(x - mu).
//
// A rank sends spin-projected halves, 12 reals for each site of a face. Those that go forward along mu are
// multiplied by the sender's link. Every site adds its eight terms in a fixed order, so that the result is
// the same to the bit on every grid.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "qcd/links.hpp"
#include "qcd/operators/faces.hpp"
#include "qcd/operators/operator.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// Flops of H for each site, by the usual count: 8 projections of 12, 8 products of 132 and 7 sums of 24.
inline constexpr double wilson_flops = 1320;
inline constexpr double projection_flops = 12 + 132;  // for each half spinor that is sent

struct WilsonOptions {
  double kappa = 0.12;
  bool antiperiodic = true;         // in time
  Storage storage = Storage::full;  // `full` is faster where links stay in the cache, as on a host
  int rhs = 1;                      // right-hand sides in step
  bool even_odd = true;             // preconditioning; needs even local extents
  const Peer* peer = nullptr;       // sends the halo instead of chains; must outlive the operator
  std::string channel = {};         // forced for the halo's chains on hosts
};

// out = a same + b H in. The first term is left out if `same` is null.
template <class T>
struct Combination {
  const T* same = nullptr;
  T a = 1;
  T b = 1;
};

// The hopping term, from which both forms of the operator are built.
template <class T>
class WilsonHop {
 public:
  // Collective.
  WilsonHop(World& world, const Gauge& gauge, const WilsonOptions& options);

  // Collective. Computes `out` on the sites `target`: on all sites from a field of all sites, or on one
  // parity from a field of the other. With `dagger` it computes H^dagger, which is H with the signs of the
  // gammas reversed.
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
  std::array<Division, 3> divisions_;  // indexed by Sites
  Times times_;
};

}  // namespace tca::qcd
