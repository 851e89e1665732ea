#include "qcd/operators/wilson_hop.hpp"

#include "qcd/spinor.hpp"

namespace tca::qcd {
namespace {

Sites others(Sites target) {
  return target == Sites::even ? Sites::odd : target == Sites::odd ? Sites::even : Sites::all;
}

}  // namespace

template <class T>
struct WilsonHop<T>::Sweep {
  const T* in;
  T* out;
  Range from;  // the sites of `in`
  Range to;    // the sites of `out`
  Combination<T> combination;
  bool dagger;
  std::size_t site_reals;  // of all right-hand sides
  std::size_t rhs;
  const T* ghosts;

  const T* psi(std::int64_t site, std::size_t r) const {
    return in + static_cast<std::size_t>(site - from.begin) * site_reals + r * spinor_reals;
  }
  const T* ghost(std::int32_t slot, std::size_t r) const {
    return ghosts + (static_cast<std::size_t>(slot) * rhs + r) * half_reals;
  }
};

namespace {

// Adds the term of one direction. `u` is not read if the neighbour has multiplied already.
template <class T, int mu, bool ahead, bool dagger, class Sweep>
[[gnu::always_inline]] inline void add_term(const Sweep& sweep, std::int32_t next, std::size_t r,
                                            const Matrix<T>* u, Spinor<T>& sum) {
  constexpr int sign = ahead != dagger ? -1 : 1;
  if constexpr (ahead) {
    const Half<T> half =
        next >= 0 ? project<T, mu, sign>(sweep.psi(next, r)) : load_half(sweep.ghost(~next, r));
    add_whole<T, mu, sign>(multiply<T>(*u, half), sum);
  } else if (next >= 0) {
    add_whole<T, mu, sign>(multiply_adjoint<T>(*u, project<T, mu, sign>(sweep.psi(next, r))), sum);
  } else {
    add_whole<T, mu, sign>(load_half(sweep.ghost(~next, r)), sum);
  }
}

template <class T, bool dagger, class Sweep>
[[gnu::always_inline]] inline Spinor<T> sum_terms(const Sweep& sweep, const std::int32_t* next, std::size_t r,
                                                  const std::array<const Matrix<T>*, directions>& u) {
  Spinor<T> sum{};
  add_term<T, 0, true, dagger>(sweep, next[0], r, u[0], sum);
  add_term<T, 0, false, dagger>(sweep, next[1], r, u[1], sum);
  add_term<T, 1, true, dagger>(sweep, next[2], r, u[2], sum);
  add_term<T, 1, false, dagger>(sweep, next[3], r, u[3], sum);
  add_term<T, 2, true, dagger>(sweep, next[4], r, u[4], sum);
  add_term<T, 2, false, dagger>(sweep, next[5], r, u[5], sum);
  add_term<T, 3, true, dagger>(sweep, next[6], r, u[6], sum);
  add_term<T, 3, false, dagger>(sweep, next[7], r, u[7], sum);
  return sum;
}

template <class T>
void store(const Spinor<T>& sum, const Combination<T>& c, const T* same, T* out) {
  const Four<T>* const fours = sum.up.colour;
  for (int i = 0; i < 3; ++i) {
    Four<T> up = c.b * fours[i], down = c.b * sum.down.colour[i];
    if (same != nullptr) {
      up = up + c.a * load_four(same + 4 * i);
      down = down + c.a * load_four(same + half_reals + 4 * i);
    }
    store_four<T>(out + 4 * i, up);
    store_four<T>(out + half_reals + 4 * i, down);
  }
}

// The half to send to the neighbour in a direction. Ahead it is multiplied by this site's link and only has
// to be added there. Behind the receiver multiplies it.
template <class T, int mu, bool ahead, bool dagger>
Half<T> half_to_send(const T* psi, const Matrix<T>& u) {
  constexpr int sign = ahead != dagger ? 1 : -1;
  const Half<T> half = project<T, mu, sign>(psi);
  if constexpr (ahead) return multiply_adjoint<T>(u, half);
  return half;
}

template <class T, bool dagger>
Half<T> half_to_send(int direction, const T* psi, const Matrix<T>& u) {
  switch (direction) {
    case 0:
      return half_to_send<T, 0, true, dagger>(psi, u);
    case 1:
      return half_to_send<T, 0, false, dagger>(psi, u);
    case 2:
      return half_to_send<T, 1, true, dagger>(psi, u);
    case 3:
      return half_to_send<T, 1, false, dagger>(psi, u);
    case 4:
      return half_to_send<T, 2, true, dagger>(psi, u);
    case 5:
      return half_to_send<T, 2, false, dagger>(psi, u);
    case 6:
      return half_to_send<T, 3, true, dagger>(psi, u);
    default:
      return half_to_send<T, 3, false, dagger>(psi, u);
  }
}

}  // namespace

template <class T>
WilsonHop<T>::WilsonHop(World& world, const Gauge& gauge, const WilsonOptions& options)
    : world_(world),
      lattice_(gauge.lattice()),
      rhs_(static_cast<std::size_t>(options.rhs)),
      links_(gauge, options.storage, options.antiperiodic),
      faces_(world, gauge.lattice(), "wilson", half_reals * options.rhs, options.even_odd, options.peer,
             options.channel),
      divisions_{lattice_.divide(Sites::all), lattice_.divide(Sites::even), lattice_.divide(Sites::odd)} {}

template <class T>
template <bool dagger>
void WilsonHop<T>::project_faces(const Sweep& sweep) {
  const Sites sent = sweep.from.size() == lattice_.volume() ? Sites::all
                     : sweep.from.begin == 0                ? Sites::even
                                                            : Sites::odd;
  Matrix<T> room;
  for (const Face& face : lattice_.faces()) {
    const Range slots = slots_of(face, sent);
    for (std::int64_t slot = slots.begin; slot < slots.end; ++slot) {
      const std::int32_t site = face.sites[static_cast<std::size_t>(slot - face.slots.begin)];
      const Matrix<T>& u = links_.storage() == Storage::full
                               ? links_.template at<Storage::full>(site, face.direction / 2, room)
                               : links_.template at<Storage::two_rows>(site, face.direction / 2, room);
      for (std::size_t r = 0; r < rhs_; ++r) {
        store_half(faces_.outgoing() + (static_cast<std::size_t>(slot) * rhs_ + r) * half_reals,
                   half_to_send<T, dagger>(face.direction, sweep.psi(site, r), u));
      }
    }
  }
}

template <class T>
template <Storage storage, bool dagger>
void WilsonHop<T>::hop(const Sweep& sweep, const std::vector<std::int32_t>& sites) const {
  const std::int32_t* const neighbours = lattice_.neighbours().data();
  std::array<Matrix<T>, directions> room;
  std::array<const Matrix<T>*, directions> u{};
  for (const std::int32_t site : sites) {
    const std::int32_t* const next = neighbours + static_cast<std::ptrdiff_t>(site) * directions;
    for (int mu = 0; mu < dims; ++mu) {
      const auto ahead = static_cast<std::size_t>(forward(mu)), behind = ahead + 1;
      u[ahead] = &links_.template at<storage>(site, mu, room[ahead]);
      if (next[behind] >= 0) u[behind] = &links_.template at<storage>(next[behind], mu, room[behind]);
    }
    for (std::size_t r = 0; r < rhs_; ++r) {
      const Spinor<T> sum = sum_terms<T, dagger>(sweep, next, r, u);
      const std::size_t place =
          static_cast<std::size_t>(site - sweep.to.begin) * sweep.site_reals + r * spinor_reals;
      const T* const same = sweep.combination.same;
      store(sum, sweep.combination, same == nullptr ? nullptr : same + place, sweep.out + place);
    }
  }
}

template <class T>
void WilsonHop<T>::hop_any(const Sweep& sweep, const std::vector<std::int32_t>& sites) const {
  if (links_.storage() == Storage::full) {
    sweep.dagger ? hop<Storage::full, true>(sweep, sites) : hop<Storage::full, false>(sweep, sites);
  } else {
    sweep.dagger ? hop<Storage::two_rows, true>(sweep, sites) : hop<Storage::two_rows, false>(sweep, sites);
  }
}

// Where time is modelled, charges the memory traffic of a kernel that finds nothing in caches. Without work
// it charges nothing.
template <class T>
void WilsonHop<T>::charge_faces(Sites sent) {
  double slots = 0;
  for (const Face& face : lattice_.faces()) slots += static_cast<double>(slots_of(face, sent).size());
  if (slots == 0) return;
  const double reals =
      static_cast<double>(rhs_) * (spinor_reals + half_reals) + static_cast<double>(links_.storage());
  world_.compute(slots * reals * sizeof(T), slots * static_cast<double>(rhs_) * projection_flops);
}

template <class T>
void WilsonHop<T>::charge_hop(const Sweep& sweep, std::size_t sites) {
  if (sites == 0) return;
  const double spinors = directions + (sweep.combination.same == nullptr ? 1 : 2);
  const double reals =
      static_cast<double>(rhs_) * spinors * spinor_reals + directions * static_cast<double>(links_.storage());
  const auto count = static_cast<double>(sites);
  world_.compute(count * reals * sizeof(T), count * static_cast<double>(rhs_) * wilson_flops);
}

template <class T>
void WilsonHop<T>::apply(Sites target, const T* in, T* out, const Combination<T>& combination, bool dagger) {
  const Sites sent = others(target);
  const Sweep sweep{.in = in,
                    .out = out,
                    .from = lattice_.range(sent),
                    .to = lattice_.range(target),
                    .combination = combination,
                    .dagger = dagger,
                    .site_reals = rhs_ * spinor_reals,
                    .rhs = rhs_,
                    .ghosts = faces_.ghosts()};
  const Division& division = divisions_[static_cast<std::size_t>(target)];
  const double begin = now_us(world_);
  dagger ? project_faces<true>(sweep) : project_faces<false>(sweep);
  charge_faces(sent);
  const double projected = now_us(world_);
  faces_.start(sent);
  const double started = now_us(world_);
  hop_any(sweep, division.interior);
  charge_hop(sweep, division.interior.size());
  const double inside = now_us(world_);
  faces_.wait(sent);
  const double arrived = now_us(world_);
  hop_any(sweep, division.boundary);
  charge_hop(sweep, division.boundary.size());
  times_.operator_us += now_us(world_) - begin - (started - projected) - (arrived - inside);
  times_.wait_us += (started - projected) + (arrived - inside);
}

template class WilsonHop<float>;
template class WilsonHop<double>;

}  // namespace tca::qcd
