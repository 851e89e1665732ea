#include "qcd/operators/staggered.hpp"

#include <fmt/format.h>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

template <class T>
const Complex<T>* colour_at(const T* reals, std::size_t place) {
  return reinterpret_cast<const Complex<T>*>(reals + place * colour_reals);
}

template <class T>
Complex<T> row_times(const Matrix<T>& u, int a, const Complex<T>* chi) {
  return u.m[a][0] * chi[0] + u.m[a][1] * chi[1] + u.m[a][2] * chi[2];
}

// A component of u^dagger chi.
template <class T>
Complex<T> column_times(const Matrix<T>& u, int a, const Complex<T>* chi) {
  return conj(u.m[0][a]) * chi[0] + conj(u.m[1][a]) * chi[1] + conj(u.m[2][a]) * chi[2];
}

}  // namespace

void require_even_extents(const Extents& global) {
  for (const std::int64_t extent : global) {
    if (extent % 2 == 0) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("staggered fermions need even extents, the lattice is {}", describe(global)));
  }
}

template <class T>
Staggered<T>::Staggered(World& world, const Gauge& gauge, const StaggeredOptions& options)
    : world_(world),
      lattice_(gauge.lattice()),
      options_(options),
      rhs_(static_cast<std::size_t>(options.rhs)),
      links_(gauge, options.storage, options.antiperiodic),
      faces_(world, gauge.lattice(), "staggered", colour_reals * options.rhs, false, nullptr,
             options.channel),
      division_(lattice_.divide(Sites::all)) {
  require_even_extents(lattice_.global());
}

template <class T>
Shape Staggered<T>::shape() const {
  return {static_cast<std::size_t>(lattice_.volume()), rhs_, colour_reals};
}

template <class T>
double Staggered<T>::flops() const {
  return static_cast<double>(lattice_.global_volume()) * (staggered_flops + 2 * colour_reals);
}

template <class T>
const Matrix<T>& Staggered<T>::link(std::int64_t site, int mu, Matrix<T>& room) const {
  return links_.storage() == Storage::full ? links_.template at<Storage::full>(site, mu, room)
                                           : links_.template at<Storage::two_rows>(site, mu, room);
}

template <class T>
void Staggered<T>::project_faces(const Field<T>& in) {
  Matrix<T> room;
  for (const Face& face : lattice_.faces()) {
    const bool ahead = face.direction % 2 == 0;
    for (std::int64_t slot = face.slots.begin; slot < face.slots.end; ++slot) {
      const std::int32_t site = face.sites[static_cast<std::size_t>(slot - face.slots.begin)];
      const Matrix<T>& u = link(site, face.direction / 2, room);
      for (std::size_t r = 0; r < rhs_; ++r) {
        const auto* const chi = colour_at(in.data(), static_cast<std::size_t>(site) * rhs_ + r);
        T* const to = faces_.outgoing() + (static_cast<std::size_t>(slot) * rhs_ + r) * colour_reals;
        for (int a = 0; a < 3; ++a) {
          const Complex<T> sent = ahead ? column_times(u, a, chi) : chi[a];
          to[2 * a] = sent.re;
          to[2 * a + 1] = sent.im;
        }
      }
    }
  }
}

template <class T>
typename Staggered<T>::Colour Staggered<T>::derivative(const Field<T>& in, std::int32_t site,
                                                       std::size_t r) const {
  const std::int32_t* const next = &lattice_.neighbours()[static_cast<std::size_t>(site) * directions];
  const Extents place = lattice_.global_coordinates(site);
  const auto here = [&](std::int32_t at) {
    return at >= 0 ? colour_at(in.data(), static_cast<std::size_t>(at) * rhs_ + r)
                   : colour_at(faces_.ghosts(), static_cast<std::size_t>(~at) * rhs_ + r);
  };
  Colour sum{};
  Matrix<T> room, room_behind;
  std::int64_t before = 0;
  for (int mu = 0; mu < dims; ++mu) {
    const T half_eta = before % 2 == 0 ? T(0.5) : T(-0.5);
    before += place[static_cast<std::size_t>(mu)];
    const std::int32_t ahead = next[forward(mu)], behind = next[backward(mu)];
    const Matrix<T>& u = link(site, mu, room);
    const Matrix<T>* const v = behind >= 0 ? &link(behind, mu, room_behind) : nullptr;
    for (int a = 0; a < 3; ++a) {
      const Complex<T> back = v == nullptr ? here(behind)[a] : column_times(*v, a, here(behind));
      sum.c[a] = sum.c[a] + half_eta * (row_times(u, a, here(ahead)) - back);
    }
  }
  return sum;
}

template <class T>
void Staggered<T>::derive(const Field<T>& in, Field<T>& out, T sign,
                          const std::vector<std::int32_t>& sites) const {
  const T mass = static_cast<T>(options_.mass);
  for (const std::int32_t site : sites) {
    for (std::size_t r = 0; r < rhs_; ++r) {
      const std::size_t place = static_cast<std::size_t>(site) * rhs_ + r;
      const Colour sum = derivative(in, site, r);
      const auto* const chi = colour_at(in.data(), place);
      for (int a = 0; a < 3; ++a) {
        const Complex<T> value = mass * chi[a] + sign * sum.c[a];
        out[place * colour_reals + static_cast<std::size_t>(2 * a)] = value.re;
        out[place * colour_reals + static_cast<std::size_t>(2 * a + 1)] = value.im;
      }
    }
  }
}

// Where time is modelled, charges the memory traffic of a kernel that finds nothing in caches. Without work
// it charges nothing.
template <class T>
void Staggered<T>::charge(std::size_t sites) {
  if (sites == 0) return;
  const double reals = static_cast<double>(rhs_) * (directions + 2) * colour_reals +
                       directions * static_cast<double>(links_.storage());
  const auto count = static_cast<double>(sites);
  world_.compute(count * reals * sizeof(T), count * static_cast<double>(rhs_) * staggered_flops);
}

template <class T>
void Staggered<T>::apply(const Field<T>& in, Field<T>& out, bool dagger) {
  const T sign = dagger ? T(-1) : T(1);  // the derivative is anti-Hermitian
  const double begin = now_us(world_);
  project_faces(in);
  const double projected = now_us(world_);
  faces_.start(Sites::all);
  const double started = now_us(world_);
  derive(in, out, sign, division_.interior);
  charge(division_.interior.size());
  const double inside = now_us(world_);
  faces_.wait(Sites::all);
  const double arrived = now_us(world_);
  derive(in, out, sign, division_.boundary);
  charge(division_.boundary.size());
  const double waited = (started - projected) + (arrived - inside);
  times_.wait_us += waited;
  times_.operator_us += now_us(world_) - begin - waited;
}

template class Staggered<float>;
template class Staggered<double>;

}  // namespace tca::qcd
