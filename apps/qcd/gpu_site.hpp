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

// So many right-hand sides' sums have room beside a block's other shared memory.
inline constexpr Word most_together = 64;

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
  // Unit k of the link of site s in mu: (mu link_units + k) volume + s. Behind them those that begin on another rank, of the
  // ghosts backward of the lattice: of slot g 4 link_units volume + k slots + g. Forward ghosts have slots, and no link.
  const T* links = nullptr;
  // By site, then slot: -1 for links in time that cross an antiperiodic boundary.
  const float* time_sign = nullptr;
  const std::int32_t* next = nullptr;  // by direction, then site: the neighbour, or ~slot of a ghost
  FaceGroup faces[2][8];               // by the parity of what is sent, and direction
  Word volume = 0;
  Word slots = 0;
  Word rhs = 1;  // right-hand sides in step, up to most_together

  TCA_DEVICE Word half() const { return volume / 2; }
  TCA_DEVICE Word chunks() const { return (half() + chunk_sites - 1) / chunk_sites; }  // of one parity
};

// A right-hand side of a field, which holds them one after the other.
template <class T, class Real>
TCA_DEVICE Real* field_of(Real* field, const Ground<T>& ground, Word rhs) {
  return field + std::size_t{rhs} * ground.half() * spinor_reals;
}

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
  bool met = false;  // what the neighbour in the warp's direction has sent is known to be here
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

// The link in mu of a site, or of the ghost ~`from`.
template <class T, int reals>
TCA_DEVICE void load_link(const Ground<T>& ground, std::int32_t from, Word mu, StoredLink& link) {
  constexpr Word count = link_units<T>(reals);
  const bool ghost = from < 0;
  const Word place = static_cast<Word>(ghost ? ~from : from);
  const Word stride = ghost ? ground.slots : ground.volume;
  const auto* const units = reinterpret_cast<const StoredLink::Bits*>(ground.links) +
                            (ghost ? 4 : mu) * count * ground.volume + place;
  TCA_UNROLL
  for (Word k = 0; k < count; ++k) link.units[k] = read_once(units + k * stride);
  if (reals == 12 && mu == 3) link.time_sign = ground.time_sign[ghost ? ground.volume + place : place];
}

template <class T, int reals>
TCA_DEVICE Matrix<T> matrix_of(const StoredLink& link, Word mu) {
  Matrix<T> u;
  std::memcpy(&u, link.units, reals * sizeof(T));
  if constexpr (reals == 12) restore_third_row(u, mu == 3 ? static_cast<T>(link.time_sign) : T(1));
  return u;
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

// The thread's part of the room.
template <class T>
TCA_DEVICE T* part_of(ChunkRoom<T>& room, const SiteThread& thread) {
  return room.neighbours + thread.warp * spinor_reals * chunk_sites;
}

// The spinor of a neighbour on this rank into the thread's part of the room. A thread that loaded it into registers would first
// have to wait for its links to make room for it.
template <class T>
TCA_DEVICE void ask_for_neighbour(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage,
                                  std::int32_t next, Word rhs, const SiteThread& thread) {
  constexpr Word count = 6 * four_units<T>;
  const Word place = static_cast<Word>(next) - (stage.to_odd ? 0 : ground.half());
  const auto* const from = reinterpret_cast<const Unit<T>*>(field_of(stage.in, ground, rhs)) + place;
  auto* const into = reinterpret_cast<Unit<T>*>(part_of(room, thread)) + thread.lane;
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
template <class T, int mu>
TCA_DEVICE Half<T> project_in(const Spinor<T>& spinor, T sign) {
  Half<T> half;
  TCA_UNROLL
  for (Word a = 0; a < 3; ++a)
    half.colour[a] = spinor.up.colour[a] + sign * sigma<T, mu, 1>(spinor.down.colour[a]);
  return half;
}
template <class T>
TCA_DEVICE Half<T> project_along(const Spinor<T>& spinor, Word mu, T sign) {
  switch (mu) {
    case 0:
      return project_in<T, 0>(spinor, sign);
    case 1:
      return project_in<T, 1>(spinor, sign);
    case 2:
      return project_in<T, 2>(spinor, sign);
    default:
      return project_in<T, 3>(spinor, sign);
  }
}

// The link between a site of a chunk and `next`, which belongs to whoever lies behind.
template <class T, int reals>
TCA_DEVICE void ask_for_link(const Ground<T>& ground, Word chunk, bool odd, std::int32_t next,
                             SiteThread& thread) {
  const Word place = chunk * chunk_sites + thread.lane;
  if (place >= ground.half()) return;
  const auto site = static_cast<std::int32_t>(place + (odd ? ground.half() : 0));
  load_link<T, reals>(ground, thread.warp % 2 == 0 ? site : next, thread.warp / 2, thread.link);
}

// A site's term of the thread's direction before its lower half is restored. What another rank has sent is in the thread's part of
// the room, too.
template <class T, int reals>
TCA_DEVICE Half<T> term(ChunkRoom<T>& room, const Stage<T>& stage, const SiteThread& thread) {
  const Word mu = thread.warp / 2;
  const bool ahead = thread.warp % 2 == 0;
  const T* const part = part_of(room, thread);
  arrived();
  Half<T> half;
  if (thread.here < 0) {
    TCA_UNROLL
    for (Word a = 0; a < 3; ++a) half.colour[a] = four_at(part, chunk_sites, thread.lane, a);
  } else {
    half = project_along(spinor_at(part, thread.lane), mu, ahead != stage.dagger ? T(-1) : T(1));
  }
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

// What a stage has to do with besides the sum, for one four of a right-hand side.
template <class T>
struct Others {
  Four<T> plus{}, minus{}, dot{}, norm{};
};
template <class T>
TCA_DEVICE Others<T> others_at(const Ground<T>& ground, const Stage<T>& stage, Word rhs, Word place,
                               Word four) {
  const auto at = [&](const T* field) {
    return four_at(field_of(field, ground, rhs), ground.half(), place, four);
  };
  Others<T> others;
  if (stage.plus != nullptr) others.plus = at(stage.plus);
  if (stage.minus != nullptr) others.minus = at(stage.minus);
  if (stage.dot != nullptr) others.dot = at(stage.dot);
  if (stage.norm != nullptr) others.norm = at(stage.norm);
  return others;
}

// What a stage makes of a sum; `place` is the site's number within its parity.
template <class T>
TCA_DEVICE Four<T> combine(const Ground<T>& ground, const Stage<T>& stage, Word rhs, Word place, Word four,
                           Four<T> sum, const Others<T>& others, SiteThread& thread) {
  const Word sites = ground.half();
  Four<T> value = stage.factor * sum;
  if (stage.plus != nullptr) value = value + others.plus;
  if (stage.minus != nullptr) value = value + T(-1) * others.minus;
  put_four(field_of(stage.out, ground, rhs), sites, place, four, value);
  if (stage.copy != nullptr) put_four(field_of(stage.copy, ground, rhs), sites, place, four, value);
  if (stage.tally == Tally::norm) thread.sums[0] += dot_of<T>(value, value);
  if (stage.tally == Tally::all) {
    thread.sums[1] += dot_of<T>(others.dot, value);
    thread.sums[2] += dot_of<T>(value, value);
    thread.sums[3] += dot_of<T>(others.dot, others.dot);
    thread.sums[4] += dot_of<T>(others.norm, others.norm);
  }
  return value;
}

// Sends what `spinors` holds of a chunk, 32 sites between units, by those of its sites that have neighbours on other ranks, as
// thread.here says. What is sent are projections: links are the receiver's to multiply with, who can ask for them ahead.
template <class T, class Block, class Sink>
TCA_DEVICE void send_chunk(Block& block, const Ground<T>& ground, const T* spinors, Word chunk, bool odd,
                           bool dagger, Word rhs, const Sink& sink) {
  block.each([&](SiteThread& thread) {
    if (thread.here >= 0 || chunk * chunk_sites + thread.lane >= ground.half()) return;
    const Word direction = thread.warp;
    // The neighbour has the half where this site has the neighbour's.
    const FaceGroup &sent = ground.faces[odd][direction], &back = ground.faces[!odd][direction];
    const T sign = (direction % 2 == 0) != dagger ? T(1) : T(-1);
    sink.put(sent, static_cast<Word>(~thread.here) - back.begin, rhs,
             project_along(spinor_at(spinors, thread.lane), direction / 2, sign));
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

// The chunks of one parity: those without ghosts come first, because what the others need is then on its way.
struct Chunks {
  const std::int32_t* order = nullptr;
  Word interior = 0, count = 0;
};

// Those of them that fall to a block. Of the interior, where there is enough of it, some that follow each other, because they
// share neighbours that the L1 still has. Those with ghosts are dealt from the last block on, so that who has one more of these
// has none more of the others.
class Turns {
 public:
  // `none` stands for what comes behind the last.
  TCA_DEVICE Turns(const Chunks& chunks, Word block, Word blocks, Word none)
      : chunks_(chunks),
        blocks_(blocks),
        none_(none),
        row_(chunks.interior >= 16 * blocks  ? 4
             : chunks.interior >= 4 * blocks ? 2
                                             : 1),
        inside_(block * row_),
        outside_(chunks.interior + blocks - 1 - block) {}

  TCA_DEVICE Word next() {
    Word turn = inside_;
    if (turn < chunks_.interior) {
      ++inside_;
      if ((inside_ & (row_ - 1)) == 0) inside_ += row_ * (blocks_ - 1);
    } else {
      turn = outside_;
      if (turn >= chunks_.count) return none_;
      outside_ += blocks_;
    }
    return static_cast<Word>(chunks_.order[turn]);
  }

 private:
  const Chunks& chunks_;
  Word blocks_, none_, row_;
  Word inside_, outside_;
};

// A stage on those chunks that fall to a block. To be made while what other blocks store is still on its way: it asks for what
// nobody changes, which is where the first chunk's neighbours are, and its links.
template <class T, int reals, class Block>
class Hop {
 public:
  TCA_DEVICE Hop(Block& block, const Ground<T>& ground, const Stage<T>& stage, const Chunks& chunks)
      : block_(block),
        ground_(ground),
        stage_(stage),
        turns_(chunks, block.index(), block.count(), ground.chunks()),
        chunk_(turns_.next()),
        following_(turns_.next()) {
    block_.each([&](SiteThread& thread) {
      thread.next = neighbour_of(ground_, chunk_, stage_.to_odd, thread);
      thread.later = neighbour_of(ground_, following_, stage_.to_odd, thread);
      if (Block::links_ahead) ask_for_link<T, reals>(ground_, chunk_, stage_.to_odd, thread.next, thread);
    });
  }

  // Once it is there. `Ghosts` brings a half from another rank into the thread's part of the room: what is there already
  // while the chunk before is under way (`ask`), what is still to come when it is needed (`bring`). `Sink` sends one.
  template <class Ghosts, class Sink>
  TCA_DEVICE void run(const Ghosts& ghosts, const Sink& sink) {
    block_.each([&](SiteThread& thread) { ask_for_half(chunk_, thread.next, 0, ghosts, thread); });
    TCA_QCD_ONCE
    while (chunk_ < ground_.chunks()) {
      const Word later = turns_.next();
      if constexpr (Block::together) {
        TCA_QCD_ONCE
        for (Word rhs = 0; rhs < ground_.rhs; ++rhs) take(rhs, rhs + 1 == ground_.rhs, later, ghosts, sink);
      } else {
        take(0, true, later, ghosts, sink);
      }
      chunk_ = following_;
      following_ = later;
    }
  }

 private:
  // Asks for what the thread's half is made of: the neighbour's spinor, or the half that another rank has sent.
  template <class Ghosts>
  TCA_DEVICE void ask_for_half(Word chunk, std::int32_t next, Word rhs, const Ghosts& ghosts,
                               SiteThread& thread) {
    ChunkRoom<T>& room = block_.template room<T>();
    if (next >= 0)
      ask_for_neighbour(room, ground_, stage_, next, rhs, thread);
    else if (chunk * chunk_sites + thread.lane < ground_.half())
      ghosts.ask(room, ground_, stage_, next, rhs, thread);
  }

  // One right-hand side of a chunk, whose links stay with the threads from the first to the last; `later` is the chunk behind the
  // following. Two barriers of the block: those that read in the second part have done so before anybody writes the same room in
  // the first part of the next, because the third part lies between.
  template <class Ghosts, class Sink>
  TCA_DEVICE void take(Word rhs, bool last, Word later, const Ghosts& ghosts, const Sink& sink) {
    ChunkRoom<T>& room = block_.template room<T>();
    block_.each([&](SiteThread& thread) {
      if (rhs == 0) {
        thread.here = thread.next;
        thread.next = thread.later;
        thread.later = neighbour_of(ground_, later, stage_.to_odd, thread);
      }
      const Word place = chunk_ * chunk_sites + thread.lane;
      if (place < ground_.half()) {
        if (!Block::links_ahead && rhs == 0)
          ask_for_link<T, reals>(ground_, chunk_, stage_.to_odd, thread.here, thread);
        if (thread.here < 0) ghosts.bring(room, ground_, stage_, thread);
        const Half<T> half = term<T, reals>(room, stage_, thread);
        TCA_UNROLL
        for (Word a = 0; a < 3; ++a)
          put_four(room.halves + thread.warp * 12 * chunk_sites, chunk_sites, thread.lane, a, half.colour[a]);
      }
      ask_for_half(last ? following_ : chunk_, last ? thread.next : thread.here, last ? 0 : rhs + 1, ghosts,
                   thread);
      if (Block::links_ahead && last)
        ask_for_link<T, reals>(ground_, following_, stage_.to_odd, thread.next, thread);
    });
    block_.sync();
    block_.each([&](SiteThread& thread) {
      const Word place = chunk_ * chunk_sites + thread.lane, four = thread.warp;
      if (four >= 6 || place >= ground_.half()) return;
      const Others<T> others = others_at(ground_, stage_, rhs, place, four);
      const Four<T> sum = sum_of_terms(room.halves, thread.lane, four, stage_.dagger);
      const Four<T> value = combine(ground_, stage_, rhs, place, four, sum, others, thread);
      if (sends()) put_four(room.spinors, chunk_sites, thread.lane, four, value);
    });
    if constexpr (Block::together) {
      if (stage_.tally != Tally::none) block_.keep_sums(rhs);
    }
    block_.sync();
    if (sends())
      send_chunk(block_, ground_, room.spinors, chunk_, stage_.to_odd, stage_.sent_dagger, rhs, sink);
  }

  TCA_DEVICE bool sends() const { return stage_.sends && ground_.slots > 0; }

  Block& block_;
  const Ground<T>& ground_;
  const Stage<T>& stage_;
  Turns turns_;
  Word chunk_, following_;
};

}  // namespace tca::qcd
