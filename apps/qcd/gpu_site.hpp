// The Wilson operator's arithmetic as a block of a GPU does it: 32 sites at a time, a warp for each of the eight directions,
// then a warp for each four of the result. The same source runs on the host, where the tests compare it with the operator
// there, to the bit: terms are added in the same order.
//
// A unit is 16 bytes, what one load brings: two doubles or four floats. Unit u of site s of a field lies at
// (u sites + s) units, so that a warp reads neighbouring addresses; so do a link's, and a half's within its group of ghosts.
#pragma once

#include <cstdint>
#include <cstring>

#include "qcd/spinor.hpp"

namespace tca::qcd {

using device::Word;

inline constexpr Word chunk_sites = 32;
inline constexpr Word chunk_warps = 8;

template <class T>
struct alignas(16) Unit {
  static constexpr Word reals = 16 / sizeof(T);
  T v[reals];
};
template <class T>
inline constexpr Word four_units = 4 / Unit<T>::reals;  // of a four
template <class T>
inline constexpr Word half_units = 3 * four_units<T>;
template <class T>
TCA_DEVICE constexpr Word link_units(int reals) {
  return (static_cast<Word>(reals) + Unit<T>::reals - 1) / Unit<T>::reals;
}

// What crosses towards one direction, and comes back from there, for one parity: `count` slots from `begin` on here, from
// `to` on at the neighbour.
struct FaceGroup {
  Word begin = 0, to = 0, count = 0;
  Word neighbour = 0;  // its rank
  Word direction = 0;
};

// A rank's lattice as its kernels read it; pointers are to the memory that they run in. Sites are numbered as in Lattice, the
// even ones first, of both parities alike many.
template <class T>
struct Ground {
  const T* links = nullptr;            // unit k of the link of site s in mu: (mu link_units + k) volume + s
  const T* time_sign = nullptr;        // by site: -1 for links in time that cross an antiperiodic boundary
  const std::int32_t* next = nullptr;  // by direction, then site: the neighbour, or ~slot of a ghost
  const std::int32_t* send = nullptr;  // the same: the slot that this site's half goes out by, or -1
  FaceGroup faces[2][8];               // by the parity of what is sent, and direction
  Word volume = 0;
  Word slots = 0;

  TCA_DEVICE Word half() const { return volume / 2; }
  TCA_DEVICE Word chunks() const { return (half() + chunk_sites - 1) / chunk_sites; }  // of one parity
};

// One application of the hopping term to the sites of one parity, and what is done on the way:
//   out = plus - minus + factor H in
// Fields are of one parity. Those that are null are left out.
enum class Tally {
  none,
  norm,  // sums[0] += |out|^2
  all,   // sums[1] += Re dot . out, sums[2] += |out|^2, sums[3] += |dot|^2, sums[4] += |norm|^2
};
template <class T>
struct Stage {
  const T* in = nullptr;
  T* out = nullptr;
  T* copy = nullptr;  // the same as out
  const T* plus = nullptr;
  const T* minus = nullptr;
  const T* dot = nullptr;
  const T* norm = nullptr;
  T factor = 1;
  Tally tally = Tally::none;
  bool to_odd = false;  // the sites of `out`
  bool dagger = false;
  bool sends = false;        // out's halves, for a hop ...
  bool sent_dagger = false;  // ... of this kind
};

inline constexpr Word sum_count = 5;

// A thread of a block: of warp `warp`, for the site `lane` of a chunk.
struct SiteThread {
  Word warp = 0, lane = 0;
  double sums[sum_count] = {};
  bool good = true;
};

template <class T>
TCA_DEVICE Four<T> four_at(const T* field, Word sites, Word site, Word four) {
  const auto* const units = reinterpret_cast<const Unit<T>*>(field);
  Unit<T> both[four_units<T>];
  TCA_UNROLL
  for (Word u = 0; u < four_units<T>; ++u) both[u] = units[(four * four_units<T> + u) * sites + site];
  Four<T> value;
  std::memcpy(&value, both, sizeof value);
  return value;
}

template <class T>
TCA_DEVICE void put_four(T* field, Word sites, Word site, Word four, Four<T> value) {
  auto* const units = reinterpret_cast<Unit<T>*>(field);
  Unit<T> both[four_units<T>];
  std::memcpy(both, &value, sizeof value);
  TCA_UNROLL
  for (Word u = 0; u < four_units<T>; ++u) units[(four * four_units<T> + u) * sites + site] = both[u];
}

template <class T, int reals>
TCA_DEVICE Matrix<T> link_at(const Ground<T>& ground, Word site, Word mu) {
  constexpr Word count = link_units<T>(reals);
  const auto* const units =
      reinterpret_cast<const Unit<T>*>(ground.links) + mu * count * ground.volume + site;
  Unit<T> stored[count];
  TCA_UNROLL
  for (Word k = 0; k < count; ++k) stored[k] = units[k * ground.volume];
  Matrix<T> u;
  std::memcpy(&u, stored, reals * sizeof(T));
  if constexpr (reals == 12) restore_third_row(u, mu == 3 ? ground.time_sign[site] : T(1));
  return u;
}

// sigma of a direction that only the warp knows.
template <class T>
TCA_DEVICE Four<T> sigma_along(Word mu, Four<T> v) {
  switch (mu) {
    case 0:
      return sigma<T, 0, 1>(v);
    case 1:
      return sigma<T, 1, 1>(v);
    case 2:
      return sigma<T, 2, 1>(v);
    default:
      return sigma<T, 3, 1>(v);
  }
}

// As `project`, from a field with `sites` between its units.
template <class T>
TCA_DEVICE Half<T> project_at(const T* field, Word sites, Word site, Word mu, T sign) {
  Half<T> half;
  TCA_UNROLL
  for (Word a = 0; a < 3; ++a) {
    half.colour[a] =
        four_at(field, sites, site, a) + sign * sigma_along<T>(mu, four_at(field, sites, site, a + 3));
  }
  return half;
}

// A site's term of one direction, before its lower half is restored. `Ghosts` brings a half from a neighbour.
template <class T, int reals, class Ghosts>
TCA_DEVICE Half<T> term(const Ground<T>& ground, const Stage<T>& stage, Word site, Word direction,
                        const Ghosts& ghosts, SiteThread& thread) {
  const Word mu = direction / 2;
  const bool ahead = direction % 2 == 0;
  const T sign = ahead != stage.dagger ? T(-1) : T(1);
  const std::int32_t next = ground.next[direction * ground.volume + site];
  const Word from = stage.to_odd ? 0 : ground.half();
  const bool here = next >= 0;
  const Word neighbour = here ? static_cast<Word>(next) : 0;
  if (here) {
    // Link and spinor are on their way together.
    const Matrix<T> u = link_at<T, reals>(ground, ahead ? site : neighbour, mu);
    const Half<T> half = project_at(stage.in, ground.half(), neighbour - from, mu, sign);
    return ahead ? multiply<T>(u, half) : multiply_adjoint<T>(u, half);
  }
  const Half<T> half = ghosts.half(ground, direction, static_cast<Word>(~next), stage, thread);
  return ahead ? multiply<T>(link_at<T, reals>(ground, site, mu), half) : half;
}

// One four of the sum of a site's eight terms, which lie in `halves` by direction, with 32 sites between units.
template <class T, Word direction>
TCA_DEVICE void add_term(const T* halves, Word lane, Word four, bool dagger, Four<T>& sum) {
  constexpr int mu = direction / 2;
  const T* const half = halves + direction * 12 * chunk_sites;
  const Four<T> value = four_at(half, chunk_sites, lane, four % 3);
  if (four < 3) {
    sum = sum + value;
  } else {
    const T sign = ((direction % 2 == 0) != dagger) == (mu == 3) ? T(-1) : T(1);
    sum = sum + sign * sigma<T, mu, 1>(value);
  }
}

template <class T>
TCA_DEVICE Four<T> sum_of_terms(const T* halves, Word lane, Word four, bool dagger) {
  Four<T> sum{};
  add_term<T, 0>(halves, lane, four, dagger, sum);
  add_term<T, 1>(halves, lane, four, dagger, sum);
  add_term<T, 2>(halves, lane, four, dagger, sum);
  add_term<T, 3>(halves, lane, four, dagger, sum);
  add_term<T, 4>(halves, lane, four, dagger, sum);
  add_term<T, 5>(halves, lane, four, dagger, sum);
  add_term<T, 6>(halves, lane, four, dagger, sum);
  add_term<T, 7>(halves, lane, four, dagger, sum);
  return sum;
}

template <class T>
TCA_DEVICE double dot_of(Four<T> a, Four<T> b) {
  T x[4], y[4];
  std::memcpy(x, &a, sizeof x);
  std::memcpy(y, &b, sizeof y);
  double sum = 0;
  TCA_UNROLL
  for (int i = 0; i < 4; ++i) sum += static_cast<double>(x[i]) * static_cast<double>(y[i]);
  return sum;
}

// What a stage makes of a sum; `place` is the site's number within its parity.
template <class T>
TCA_DEVICE Four<T> combine(const Ground<T>& ground, const Stage<T>& stage, Word place, Word four, Four<T> sum,
                           SiteThread& thread) {
  const Word sites = ground.half();
  Four<T> value = stage.factor * sum;
  if (stage.plus != nullptr) value = value + four_at(stage.plus, sites, place, four);
  if (stage.minus != nullptr) value = value + T(-1) * four_at(stage.minus, sites, place, four);
  put_four(stage.out, sites, place, four, value);
  if (stage.copy != nullptr) put_four(stage.copy, sites, place, four, value);
  if (stage.tally == Tally::norm) thread.sums[0] += dot_of<T>(value, value);
  if (stage.tally == Tally::all) {
    const Four<T> with = four_at(stage.dot, sites, place, four);
    thread.sums[1] += dot_of<T>(with, value);
    thread.sums[2] += dot_of<T>(value, value);
    thread.sums[3] += dot_of<T>(with, with);
    if (stage.norm != nullptr) {
      const Four<T> other = four_at(stage.norm, sites, place, four);
      thread.sums[4] += dot_of<T>(other, other);
    }
  }
  return value;
}

// The half that a site sends in a direction, ready to be added there (ahead: multiplied by this link) or to be multiplied
// there. `spinors` has 32 sites between units.
template <class T, int reals>
TCA_DEVICE Half<T> half_of(const Ground<T>& ground, const T* spinors, Word lane, Word site, Word direction,
                           bool dagger) {
  const bool ahead = direction % 2 == 0;
  const T sign = ahead != dagger ? T(1) : T(-1);
  const Half<T> half = project_at(spinors, chunk_sites, lane, direction / 2, sign);
  if (!ahead) return half;
  return multiply_adjoint<T>(link_at<T, reals>(ground, site, direction / 2), half);
}

// A block's share of memory that its threads share.
template <class T>
struct alignas(16) ChunkRoom {
  T halves[chunk_warps * 12 * chunk_sites];
  T spinors[spinor_reals * chunk_sites];
};

// Sends what `spinors` holds of a chunk, by those of its sites that have neighbours on other ranks.
template <class T, int reals, class Block, class Sink>
TCA_DEVICE void send_chunk(Block& block, const Ground<T>& ground, ChunkRoom<T>& room, Word chunk, bool odd,
                           bool dagger, const Sink& sink) {
  block.each([&](SiteThread& thread) {
    const Word place = chunk * chunk_sites + thread.lane;
    if (place >= ground.half()) return;
    const Word site = place + (odd ? ground.half() : 0);
    const std::int32_t slot = ground.send[thread.warp * ground.volume + site];
    if (slot < 0) return;
    sink.put(ground.faces[odd][thread.warp], static_cast<Word>(slot),
             half_of<T, reals>(ground, room.spinors, thread.lane, site, thread.warp, dagger));
  });
}

// A stage on one chunk. Two barriers of the block: those that read in the second part have done so before anybody writes the
// same room in the first part of the next chunk, because the third part lies between.
template <class T, int reals, class Block, class Ghosts, class Sink>
TCA_DEVICE void hop_chunk(Block& block, const Ground<T>& ground, const Stage<T>& stage, Word chunk,
                          const Ghosts& ghosts, const Sink& sink) {
  ChunkRoom<T>& room = block.template room<T>();
  block.each([&](SiteThread& thread) {
    const Word place = chunk * chunk_sites + thread.lane;
    if (place >= ground.half()) return;
    const Half<T> half = term<T, reals>(ground, stage, place + (stage.to_odd ? ground.half() : 0),
                                        thread.warp, ghosts, thread);
    TCA_UNROLL
    for (Word a = 0; a < 3; ++a)
      put_four(room.halves + thread.warp * 12 * chunk_sites, chunk_sites, thread.lane, a, half.colour[a]);
  });
  block.sync();
  block.each([&](SiteThread& thread) {
    const Word place = chunk * chunk_sites + thread.lane, four = thread.warp;
    if (four >= 6 || place >= ground.half()) return;
    const Four<T> value = combine(ground, stage, place, four,
                                  sum_of_terms(room.halves, thread.lane, four, stage.dagger), thread);
    if (stage.sends) put_four(room.spinors, chunk_sites, thread.lane, four, value);
  });
  block.sync();
  if (stage.sends && ground.slots > 0)
    send_chunk<T, reals>(block, ground, room, chunk, stage.to_odd, stage.sent_dagger, sink);
}

}  // namespace tca::qcd
