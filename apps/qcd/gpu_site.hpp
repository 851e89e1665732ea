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

// For loops of which the code holds one copy: there is little room for instructions.
#ifdef __CUDACC__
#define TCA_QCD_ONCE _Pragma("unroll 1")
#else
#define TCA_QCD_ONCE
#endif

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
// `to` on at the neighbour. Slots of both parities are in the order of the face, so a site sends from the same place of its
// group that its neighbour's half has in the other parity's.
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
  const float* time_sign = nullptr;    // by site: -1 for links in time that cross an antiperiodic boundary
  const std::int32_t* next = nullptr;  // by direction, then site: the neighbour, or ~slot of a ghost
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

// A link as it is stored, of either precision: up to 18 doubles.
struct StoredLink {
  struct alignas(16) Bits {
    unsigned v[4];
  };
  Bits units[9];
  float time_sign = 1;
};

// A thread of a block: of warp `warp`, for the site `lane` of a chunk.
struct SiteThread {
  Word warp = 0, lane = 0;
  double sums[sum_count] = {};
  bool good = true;
  // The neighbours in the warp's direction of three chunks' sites: of the chunk under way, of the one behind it, whose spinor
  // and link are asked for meanwhile, and of the one behind that.
  std::int32_t here = -1, next = -1, later = -1;
  StoredLink link;
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

// Links are read once a hop, and not kept in the L1, whose room is for spinors. Volatile, so that the loads stay where they are
// written: ahead of the barriers and sums that they are to overlap with.
TCA_DEVICE StoredLink::Bits read_once(const StoredLink::Bits* from) {
#ifdef __CUDA_ARCH__
  StoredLink::Bits bits;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.v[0]), "=r"(bits.v[1]), "=r"(bits.v[2]), "=r"(bits.v[3])
               : "l"(from));
  return bits;
#else
  return *from;
#endif
}

template <class T, int reals>
TCA_DEVICE void load_link(const Ground<T>& ground, Word site, Word mu, StoredLink& link) {
  constexpr Word count = link_units<T>(reals);
  const auto* const units =
      reinterpret_cast<const StoredLink::Bits*>(ground.links) + mu * count * ground.volume + site;
  TCA_UNROLL
  for (Word k = 0; k < count; ++k) link.units[k] = read_once(units + k * ground.volume);
  if (reals == 12 && mu == 3) link.time_sign = ground.time_sign[site];
}

template <class T, int reals>
TCA_DEVICE Matrix<T> matrix_of(const StoredLink& link, Word mu) {
  Matrix<T> u;
  std::memcpy(&u, link.units, reals * sizeof(T));
  if constexpr (reals == 12) restore_third_row(u, mu == 3 ? static_cast<T>(link.time_sign) : T(1));
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

// A block's share of memory that its threads share.
template <class T>
struct alignas(16) ChunkRoom {
  T spinors[spinor_reals * chunk_sites];
  T halves[chunk_warps * 12 * chunk_sites];
  T neighbours[chunk_warps * spinor_reals * chunk_sites];  // of each thread, asked for a chunk ahead
};

// A copy that needs no registers while it is on its way; `arrived` waits for all that the thread has asked for.
template <class T>
TCA_DEVICE void ask(Unit<T>* into, const Unit<T>* from) {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(into))),
               "l"(from)
               : "memory");
#else
  *into = *from;
#endif
}
TCA_DEVICE void arrived() {
#ifdef __CUDA_ARCH__
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// The spinor of thread.next, if that is on this rank, into the thread's part of the room. A thread that loaded it into registers
// would first have to wait for its links to make room for it.
template <class T>
TCA_DEVICE void ask_for_neighbour(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage,
                                  const SiteThread& thread) {
  constexpr Word count = 6 * four_units<T>;
  if (thread.next < 0) return;
  const Word place = static_cast<Word>(thread.next) - (stage.to_odd ? 0 : ground.half());
  const auto* const from = reinterpret_cast<const Unit<T>*>(stage.in) + place;
  auto* const into =
      reinterpret_cast<Unit<T>*>(room.neighbours) + thread.warp * count * chunk_sites + thread.lane;
  TCA_UNROLL
  for (Word u = 0; u < count; ++u) ask(into + u * chunk_sites, from + u * ground.half());
}

// The spinor at `lane` of 32.
template <class T>
TCA_DEVICE Spinor<T> spinor_at(const T* spinors, Word lane) {
  Spinor<T> spinor;
  TCA_UNROLL
  for (Word a = 0; a < 3; ++a) {
    spinor.up.colour[a] = four_at(spinors, chunk_sites, lane, a);
    spinor.down.colour[a] = four_at(spinors, chunk_sites, lane, a + 3);
  }
  return spinor;
}

// As `project`, in a direction that only the warp knows.
template <class T>
TCA_DEVICE Half<T> project_along(const Spinor<T>& spinor, Word mu, T sign) {
  Half<T> half;
  TCA_UNROLL
  for (Word a = 0; a < 3; ++a)
    half.colour[a] = spinor.up.colour[a] + sign * sigma_along<T>(mu, spinor.down.colour[a]);
  return half;
}

// The link to `next` from its site of a chunk. Whoever comes from another rank against the link's direction has been multiplied
// there.
template <class T, int reals>
TCA_DEVICE void ask_for_link(const Ground<T>& ground, Word chunk, bool odd, std::int32_t next,
                             SiteThread& thread) {
  const Word place = chunk * chunk_sites + thread.lane;
  const bool ahead = thread.warp % 2 == 0;
  if (place >= ground.half() || (!ahead && next < 0)) return;
  const Word site = ahead ? place + (odd ? ground.half() : 0) : static_cast<Word>(next);
  load_link<T, reals>(ground, site, thread.warp / 2, thread.link);
}

// A site's term of the thread's direction before its lower half is restored. `Ghosts` brings a half from another rank.
template <class T, int reals, class Ghosts>
TCA_DEVICE Half<T> term(const ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage,
                        const Ghosts& ghosts, SiteThread& thread) {
  const Word direction = thread.warp, mu = direction / 2;
  const bool ahead = direction % 2 == 0;
  if (thread.here < 0) {
    const Half<T> half = ghosts.half(ground, direction, static_cast<Word>(~thread.here), stage, thread);
    return ahead ? multiply<T>(matrix_of<T, reals>(thread.link, mu), half) : half;
  }
  const T sign = ahead != stage.dagger ? T(-1) : T(1);
  arrived();
  const Spinor<T> spinor = spinor_at(room.neighbours + direction * spinor_reals * chunk_sites, thread.lane);
  const Half<T> half = project_along(spinor, mu, sign);
  const Matrix<T> u = matrix_of<T, reals>(thread.link, mu);
  return ahead ? multiply<T>(u, half) : multiply_adjoint<T>(u, half);
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

// What a stage has to do with besides the sum, for one four.
template <class T>
struct Others {
  Four<T> plus{}, minus{}, dot{}, norm{};
};
template <class T>
TCA_DEVICE Others<T> others_at(const Ground<T>& ground, const Stage<T>& stage, Word place, Word four) {
  const Word sites = ground.half();
  Others<T> others;
  if (stage.plus != nullptr) others.plus = four_at(stage.plus, sites, place, four);
  if (stage.minus != nullptr) others.minus = four_at(stage.minus, sites, place, four);
  if (stage.dot != nullptr) others.dot = four_at(stage.dot, sites, place, four);
  if (stage.norm != nullptr) others.norm = four_at(stage.norm, sites, place, four);
  return others;
}

// What a stage makes of a sum; `place` is the site's number within its parity.
template <class T>
TCA_DEVICE Four<T> combine(const Ground<T>& ground, const Stage<T>& stage, Word place, Word four, Four<T> sum,
                           const Others<T>& others, SiteThread& thread) {
  const Word sites = ground.half();
  Four<T> value = stage.factor * sum;
  if (stage.plus != nullptr) value = value + others.plus;
  if (stage.minus != nullptr) value = value + T(-1) * others.minus;
  put_four(stage.out, sites, place, four, value);
  if (stage.copy != nullptr) put_four(stage.copy, sites, place, four, value);
  if (stage.tally == Tally::norm) thread.sums[0] += dot_of<T>(value, value);
  if (stage.tally == Tally::all) {
    thread.sums[1] += dot_of<T>(others.dot, value);
    thread.sums[2] += dot_of<T>(value, value);
    thread.sums[3] += dot_of<T>(others.dot, others.dot);
    thread.sums[4] += dot_of<T>(others.norm, others.norm);
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
  const Half<T> half = project_along(spinor_at(spinors, lane), direction / 2, sign);
  if (!ahead) return half;
  StoredLink link;
  load_link<T, reals>(ground, site, direction / 2, link);
  return multiply_adjoint<T>(matrix_of<T, reals>(link, direction / 2), half);
}

// Sends what `spinors` holds of a chunk, by those of its sites that have neighbours on other ranks, as thread.here says.
template <class T, int reals, class Block, class Sink>
TCA_DEVICE void send_chunk(Block& block, const Ground<T>& ground, const T* spinors, Word chunk, bool odd,
                           bool dagger, const Sink& sink) {
  block.each([&](SiteThread& thread) {
    const Word place = chunk * chunk_sites + thread.lane;
    if (place >= ground.half()) return;
    if (thread.here >= 0) return;
    const Word site = place + (odd ? ground.half() : 0);
    const FaceGroup &sent = ground.faces[odd][thread.warp], &back = ground.faces[!odd][thread.warp];
    sink.put(sent, sent.begin + (static_cast<Word>(~thread.here) - back.begin),
             half_of<T, reals>(ground, spinors, thread.lane, site, thread.warp, dagger));
  });
}

// The neighbour of a chunk's site in the thread's direction, for sites of a parity; behind the last chunk there is none.
template <class T>
TCA_DEVICE std::int32_t neighbour_of(const Ground<T>& ground, Word chunk, bool odd,
                                     const SiteThread& thread) {
  const Word place = chunk * chunk_sites + thread.lane;
  if (place >= ground.half()) return -1;
  return ground.next[thread.warp * ground.volume + place + (odd ? ground.half() : 0)];
}

// A stage on one chunk; `following` is the next, `later` the one after that. Two barriers of the block: those that read in the second part have done so
// before anybody writes the same room in the first part of the next chunk, because the third part lies between.
template <class T, int reals, class Block, class Ghosts, class Sink>
TCA_DEVICE void hop_chunk(Block& block, const Ground<T>& ground, const Stage<T>& stage, Word chunk,
                          Word following, Word later, const Ghosts& ghosts, const Sink& sink) {
  ChunkRoom<T>& room = block.template room<T>();
  block.each([&](SiteThread& thread) {
    thread.here = thread.next;
    thread.next = thread.later;
    thread.later = neighbour_of(ground, later, stage.to_odd, thread);
    const Word place = chunk * chunk_sites + thread.lane;
    if (place < ground.half()) {
      if (!Block::links_ahead) ask_for_link<T, reals>(ground, chunk, stage.to_odd, thread.here, thread);
      const Half<T> half = term<T, reals>(room, ground, stage, ghosts, thread);
      TCA_UNROLL
      for (Word a = 0; a < 3; ++a)
        put_four(room.halves + thread.warp * 12 * chunk_sites, chunk_sites, thread.lane, a, half.colour[a]);
    }
    ask_for_neighbour(room, ground, stage, thread);
    if (Block::links_ahead) ask_for_link<T, reals>(ground, following, stage.to_odd, thread.next, thread);
  });
  block.sync();
  block.each([&](SiteThread& thread) {
    const Word place = chunk * chunk_sites + thread.lane, four = thread.warp;
    if (four >= 6 || place >= ground.half()) return;
    const Others<T> others = others_at(ground, stage, place, four);
    const Four<T> sum = sum_of_terms(room.halves, thread.lane, four, stage.dagger);
    const Four<T> value = combine(ground, stage, place, four, sum, others, thread);
    if (stage.sends) put_four(room.spinors, chunk_sites, thread.lane, four, value);
  });
  block.sync();
  if (stage.sends && ground.slots > 0)
    send_chunk<T, reals>(block, ground, room.spinors, chunk, stage.to_odd, stage.sent_dagger, sink);
}

// A stage on those chunks of a list that fall to this block: some that follow each other, because they share neighbours that
// the L1 still has, when there are enough of them for all blocks.
template <class T, int reals, class Block, class Ghosts, class Sink>
TCA_DEVICE void hop_chunks(Block& block, const Ground<T>& ground, const Stage<T>& stage,
                           const std::int32_t* chunks, Word count, const Ghosts& ghosts, const Sink& sink) {
  constexpr Word most_in_a_row = 4;
  const Word each = (count + block.count() - 1) / block.count();
  const Word row = each < most_in_a_row ? each : most_in_a_row;
  const auto after = [&](Word k) { return (k + 1) % row != 0 ? k + 1 : k + 1 + row * (block.count() - 1); };
  const auto chunk_at = [&](Word k) { return k < count ? static_cast<Word>(chunks[k]) : ground.chunks(); };
  Word k = block.index() * row, next = after(k);
  Word chunk = chunk_at(k), following = chunk_at(next);
  block.each([&](SiteThread& thread) {
    thread.next = neighbour_of(ground, chunk, stage.to_odd, thread);
    thread.later = neighbour_of(ground, following, stage.to_odd, thread);
    ask_for_neighbour(block.template room<T>(), ground, stage, thread);
    if (Block::links_ahead) ask_for_link<T, reals>(ground, chunk, stage.to_odd, thread.next, thread);
  });
  TCA_QCD_ONCE
  while (k < count) {
    const Word later = after(next), last = chunk_at(later);
    hop_chunk<T, reals>(block, ground, stage, chunk, following, last, ghosts, sink);
    k = next;
    next = later;
    chunk = following;
    following = last;
  }
}

}  // namespace tca::qcd
