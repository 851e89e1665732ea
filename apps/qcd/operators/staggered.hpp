// The naive staggered operator on all sites,
//   D = m + 1/2 sum over mu of eta_mu(x) (U_mu(x) chi(x + mu) - U_mu(x - mu)^dagger chi(x - mu)),
//   with eta_mu(x) = (-1)^(x_1 + ... + x_(mu-1)).
// Fields and faces have three complex numbers for each site.
#pragma once

#include "qcd/links.hpp"
#include "qcd/operators/faces.hpp"
#include "qcd/operators/operator.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

inline constexpr int colour_reals = 6;

// Flops of the derivative for each site, by the usual count: 8 products of 66 and 7 sums of 6.
inline constexpr double staggered_flops = 570;

struct StaggeredOptions {
  double mass = 0.1;
  bool antiperiodic = true;  // in time
  Storage storage = Storage::two_rows;
  int rhs = 1;
  std::string channel = {};  // forced for the halo's chains
};

// Throws Error{invalid_argument} if an extent of the whole lattice is odd. eta would not be periodic then.
void require_even_extents(const Extents& global);

template <class T>
class Staggered : public Operator<T> {
 public:
  // Collective. Throws what require_even_extents throws.
  Staggered(World& world, const Gauge& gauge, const StaggeredOptions& options);

  void apply(const Field<T>& in, Field<T>& out, bool dagger) override;
  World& world() override { return world_; }
  Shape shape() const override;
  Sites sites() const override { return Sites::all; }
  double flops() const override;
  std::int64_t bytes() const override { return faces_.bytes(Sites::all); }
  std::string explain() const override { return faces_.explain(); }
  Times& times() override { return times_; }

 private:
  struct Colour {
    Complex<T> c[3];
  };
  const Matrix<T>& link(std::int64_t site, int mu, Matrix<T>& room) const;
  void charge(std::size_t sites);
  void project_faces(const Field<T>& in);
  Colour derivative(const Field<T>& in, std::int32_t site, std::size_t r) const;
  void derive(const Field<T>& in, Field<T>& out, T sign, const std::vector<std::int32_t>& sites) const;

  World& world_;
  const Lattice& lattice_;
  StaggeredOptions options_;
  std::size_t rhs_;
  Links<T> links_;
  Faces<T> faces_;
  Division division_;
  Times times_;
};

}  // namespace tca::qcd
