#include "qcd/gauge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "qcd/random.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

Halo link_halo(World& world, const Lattice& lattice, int mu, const Window<Link>& window,
               std::int64_t elements) {
  const Extents& n = lattice.local();
  Halo halo(world, fmt::format("links {}", "xyzt"[mu]), lattice.grid(), {n[0], n[1], n[2], n[3]},
            {.corners = true});
  halo.add(window, mu * elements);
  halo.commit();
  return halo;
}

std::int64_t elements_with_ghosts(const Lattice& lattice) {
  std::int64_t elements = 1;
  for (const std::int64_t n : lattice.local()) elements *= n + 2;
  return elements;
}

void scale(Complex<double>* row, double factor) {
  for (int b = 0; b < 3; ++b) row[b] = factor * row[b];
}

double norm_of(const Complex<double>* row) { return norm(row[0]) + norm(row[1]) + norm(row[2]); }

}  // namespace

Gauge::Gauge(World& world, const Lattice& lattice)
    : world_(world),
      lattice_(lattice),
      elements_(elements_with_ghosts(lattice)),
      window_(world.window<Link>(dims * elements_, "links")),
      here_(world.device_name().empty() ? 0 : window_.size()),
      links_(here_.empty() ? window_.data() : here_.data()),
      sum_(world, "gauge sums", 2) {
  std::int64_t stride = 1;
  for (int mu = dims - 1; mu >= 0; --mu) {
    stride_[static_cast<std::size_t>(mu)] = stride;
    stride *= lattice.local()[static_cast<std::size_t>(mu)] + 2;
  }
  std::fill_n(links_, window_.size(), identity<double>());
  for (int mu = 0; mu < dims; ++mu) halos_.push_back(link_halo(world, lattice, mu, window_, elements_));
}

std::int64_t Gauge::index(const Extents& local) const {
  std::int64_t index = 0;
  for (std::size_t mu = 0; mu < dims; ++mu) index += (local[mu] + 1) * stride_[mu];
  return index;
}

std::span<Link> Gauge::array(int mu) const { return {links(mu), static_cast<std::size_t>(elements_)}; }

void Gauge::exchange(int mu) {
  Halo& halo = halos_[static_cast<std::size_t>(mu)];
  if (!here_.empty()) window_.write(mu * elements_, array(mu));
  halo.start();
  halo.wait();
  if (!here_.empty()) window_.read(mu * elements_, array(mu));
}

void Gauge::exchange() {
  if (!here_.empty()) {
    for (int mu = 0; mu < dims; ++mu) exchange(mu);
    return;
  }
  for (Halo& halo : halos_) halo.start();
  for (Halo& halo : halos_) halo.wait();
}

double Gauge::local_plaquette(std::int64_t i) const {
  double sum = 0;
  for (int mu = 0; mu < dims; ++mu) {
    for (int nu = 0; nu < mu; ++nu) {
      const Link around = links(mu)[i] * links(nu)[i + stride(mu)];
      sum += real_trace_with_adjoint(around, links(nu)[i] * links(mu)[i + stride(nu)]);
    }
  }
  return sum;
}

Averages Gauge::averages() {
  constexpr double planes = 6, colours = 3;
  std::array<double, 2> sums{};
  for (std::int64_t s = 0; s < lattice_.volume(); ++s) {
    const std::int64_t i = index(lattice_.coordinates(s));
    sums[0] += local_plaquette(i);
    for (int mu = 0; mu < dims; ++mu) sums[1] += real_trace(links(mu)[i]);
  }
  sum_.reduce_in_place(sums);
  const auto volume = static_cast<double>(lattice_.global_volume());
  return {.plaquette = sums[0] / (planes * colours * volume),
          .link_trace = sums[1] / (dims * colours * volume)};
}

Link Gauge::staple(std::int64_t i, int mu) const {
  Link sum{};
  for (int nu = 0; nu < dims; ++nu) {
    if (nu == mu) continue;
    const Link *const u = links(mu), *const v = links(nu);
    const std::int64_t m = stride(mu), n = stride(nu);
    sum = sum + v[i + m] * adjoint(v[i] * u[i + n]);
    sum = sum + adjoint(u[i - n] * v[i + m - n]) * v[i - n];
  }
  return sum;
}

void Gauge::require_unitary(double tolerance, const std::string& path) {
  struct Worst {
    double distance;
    Extents site;
    int mu;
  };
  Worst mine{0, {}, 0};
  for (std::int64_t s = 0; s < lattice_.volume(); ++s) {
    for (int mu = 0; mu < dims; ++mu) {
      const double distance = distance_from_su3(links(mu)[index(lattice_.coordinates(s))]);
      if (distance > mine.distance) mine = {distance, lattice_.global_coordinates(s), mu};
    }
  }
  const std::vector<Worst> all = world_.all_gather(mine);
  // Of equal distances the first counts, so all ranks choose the same link.
  const Worst worst = *std::max_element(
      all.begin(), all.end(), [](const Worst& a, const Worst& b) { return a.distance < b.distance; });
  if (worst.distance <= tolerance * tolerance) return;
  const std::string why = std::isinf(worst.distance)
                              ? "it has what is no number, or far too large a one"
                              : fmt::format("it is {:.1e} away, at most {:.0e} is rounding",
                                            std::sqrt(worst.distance), tolerance);
  throw Error(Errc::refused,
              fmt::format("{}the link at ({}, {}, {}, {}) along {} is not in SU(3): {}; the configuration is "
                          "damaged, or of another kind",
                          path.empty() ? "" : path + ": ", worst.site[0], worst.site[1], worst.site[2],
                          worst.site[3], "xyzt"[worst.mu], why));
}

std::int64_t Gauge::links_off_su3(double tolerance) const {
  std::int64_t off = 0;
  for (std::int64_t s = 0; s < lattice_.volume(); ++s)
    for (int mu = 0; mu < dims; ++mu)
      if (distance_from_su3(links(mu)[index(lattice_.coordinates(s))]) > tolerance * tolerance) ++off;
  std::int64_t sum = 0;
  for (const std::int64_t one : world_.all_gather(off)) sum += one;
  return sum;
}

void Gauge::reunitarise() {
  for (std::int64_t s = 0; s < lattice_.volume(); ++s) {
    const std::int64_t i = index(lattice_.coordinates(s));
    for (int mu = 0; mu < dims; ++mu) links(mu)[i] = nearest_su3(links(mu)[i]);
  }
  exchange();
}

void Gauge::randomise(std::uint64_t seed) {
  for (std::int64_t s = 0; s < lattice_.volume(); ++s) {
    const std::int64_t i = index(lattice_.coordinates(s));
    for (int mu = 0; mu < dims; ++mu) {
      RandomStream random(seed, Purpose::start, static_cast<std::uint64_t>(lattice_.global_index(s)), mu, 0);
      links(mu)[i] = random_su3(random);
    }
  }
  exchange();
}

Link nearest_su3(const Link& link) {
  Link x = link;
  scale(x.m[0], 1 / std::sqrt(norm_of(x.m[0])));
  Complex<double> overlap{0, 0};
  for (int b = 0; b < 3; ++b) overlap = overlap + conj(x.m[0][b]) * x.m[1][b];
  for (int b = 0; b < 3; ++b) x.m[1][b] = x.m[1][b] - overlap * x.m[0][b];
  scale(x.m[1], 1 / std::sqrt(norm_of(x.m[1])));
  restore_third_row(x);
  return x;
}

Link random_su3(RandomStream& random) {
  Link link{};
  for (int a = 0; a < 2; ++a) {
    for (int b = 0; b < 3; ++b) {
      link.m[a][b].re = random.gaussian();
      link.m[a][b].im = random.gaussian();
    }
  }
  return nearest_su3(link);
}

}  // namespace tca::qcd
