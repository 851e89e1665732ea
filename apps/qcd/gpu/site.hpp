// The Wilson operator's arithmetic as a block of a GPU does it, 32 sites at a time: first a warp for each of
// the eight directions, then a warp for each four of the result. The same source runs on the host, where
// tests compare it with the host's operator, to the bit: both add the terms in the same order.
//
// A unit is 16 bytes, what one load brings: two doubles or four floats. In a field, unit u of site s is unit
//   u * sites + s,
// so that the lanes of a warp read adjacent addresses. Links are stored alike, and so are halves within their
// group of ghosts.
#pragma once

#include <cstdint>
#include <cstring>

#include "qcd/spinor.hpp"

// For loops that must not be unrolled, because there is little room for instructions.
#ifdef __CUDACC__
#define TCA_QCD_ONCE _Pragma("unroll 1")
#else
#define TCA_QCD_ONCE
#endif

namespace tca::qcd {

using device::Word;

inline constexpr Word chunk_sites = 32;
inline constexpr Word chunk_warps = 8;

// The sums of this many right-hand sides fit beside a block's other shared memory.
inline constexpr Word most_together = 64;

template <class T>
struct alignas(16) Unit {
  static constexpr Word reals = 16 / sizeof(T);
  T v[reals];
};
template <class T>
inline constexpr Word four_units = 4 / Unit<T>::reals;  // in a four
template <class T>
inline constexpr Word half_units = 3 * four_units<T>;
template <class T>
TCA_DEVICE constexpr Word link_units(int reals) {
  return (static_cast<Word>(reals) + Unit<T>::reals - 1) / Unit<T>::reals;
}

// What a rank sends in one direction and receives from there, for one parity: `count` slots, which begin at
// `begin` here and at `to` at the neighbour. The slots of both parities are in the order of the face. So a
// site's half is at the same place of its group as its neighbour's half is in the group of the other parity.
struct FaceGroup {
  Word begin = 0, to = 0, count = 0;
  Word direction = 0;
};

// A rank's lattice as its kernels read it. Pointers are to memory of the kernels' device. Sites are numbered
// as in Lattice, the even ones first; both parities have the same number of sites.
template <class T>
struct Ground {
  // Unit k of the link of site s along mu is unit
  //   (mu * link_units + k) * volume + s.
  // Then come the links that begin on another rank, at the ghosts backward of the lattice. That of slot g is
  //   4 * link_units * volume + k * slots + g.
  // Forward ghosts have slots but no links.
  const T* links = nullptr;
  // For each site, then for each slot: -1 for links in time that cross an antiperiodic boundary.
  const float* time_sign = nullptr;
  // For each direction, then for each site: the neighbour, or ~slot of a ghost.
  const std::int32_t* next = nullptr;
  FaceGroup faces[2][8];  // indexed by the parity of what is sent, and by direction
  Word volume = 0;
  Word slots = 0;
  Word rhs = 1;  // right-hand sides in step, up to most_together

  TCA_DEVICE Word half() const { return volume / 2; }
  TCA_DEVICE Word chunks() const { return (half() + chunk_sites - 1) / chunk_sites; }  // of one parity
};

// Returns one right-hand side of a field, which holds them one after the other.
template <class T, class Real>
TCA_DEVICE Real* field_of(Real* field, const Ground<T>& ground, Word rhs) {
  return field + std::size_t{rhs} * ground.half() * spinor_reals;
}

// One application of the hopping term to the sites of one parity, and the work that is done along with it:
//   out = plus - minus + factor H in
// Each field has one parity. Null fields are left out.
enum class Tally {
  none,
  norm,  // sums[0] += |out|^2
  all,   // sums[1] += Re dot . out, sums[2] += |out|^2, sums[3] += |dot|^2, sums[4] += |norm|^2
};
template <class T>
struct Stage {
  const T* in = nullptr;
  T* out = nullptr;
  T* copy = nullptr;  // gets the same as out
  const T* plus = nullptr;
  const T* minus = nullptr;
  const T* dot = nullptr;
  const T* norm = nullptr;
  T factor = 1;
  Tally tally = Tally::none;
  bool to_odd = false;  // the parity of `out`
  bool dagger = false;
  bool sends = false;        // whether to send the halves of `out` for a hop,
  bool sent_dagger = false;  // and of which kind
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

// The state of a thread of a block. It belongs to warp `warp`, and to site `lane` of a chunk.
struct SiteThread {
  Word warp = 0, lane = 0;
  double sums[sum_count] = {};
  bool good = true;
  bool met = false;  // the halves from the neighbour in the warp's direction are known to be here
  // The neighbours, in the warp's direction, of the thread's sites in three chunks: the current one; the next
  // one, whose spinor and link are loaded meanwhile; and the one after that.
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

// Reads part of a link. Links are read once in a hop, and so not kept in the L1, whose room is for spinors.
// Volatile, so that the loads stay where they are written: ahead of the barriers and sums that they are to
// overlap with.
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

// Loads the link along mu of site `from` or, if that is negative, of the ghost in slot ~`from`.
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

// A block's shared memory.
template <class T>
struct alignas(16) ChunkRoom {
  T spinors[spinor_reals * chunk_sites];
  T halves[chunk_warps * 12 * chunk_sites];
  // the neighbour of each thread's site, loaded a chunk ahead
  T neighbours[chunk_warps * spinor_reals * chunk_sites];
};

// An asynchronous copy, which needs no registers while it is under way. `arrived` waits for all copies of the
// thread.
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

// The part of the room that belongs to the thread's warp.
template <class T>
TCA_DEVICE T* part_of(ChunkRoom<T>& room, const SiteThread& thread) {
  return room.neighbours + thread.warp * spinor_reals * chunk_sites;
}

// Starts to copy the spinor of a neighbour on this rank into the thread's part of the room. Loading it into
// registers would have to wait until its links had freed some.
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

// The spinor at `lane`, among 32.
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

// Does what `project` does, in a direction that is only known at run time.
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

// Starts to load the link between a site of a chunk and `next`. It is stored at the one of the two that lies
// behind.
template <class T, int reals>
TCA_DEVICE void ask_for_link(const Ground<T>& ground, Word chunk, bool odd, std::int32_t next,
                             SiteThread& thread) {
  const Word place = chunk * chunk_sites + thread.lane;
  if (place >= ground.half()) return;
  const auto site = static_cast<std::int32_t>(place + (odd ? ground.half() : 0));
  load_link<T, reals>(ground, thread.warp % 2 == 0 ? site : next, thread.warp / 2, thread.link);
}

// Returns a site's term in the thread's direction, without its lower half. If the neighbour is on another
// rank, its half is in the thread's part of the room as well.
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

// Adds one term to one four of a site's sum. The eight terms are in `halves`, ordered by direction, with 32
// sites between units.
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

// The fields of a stage besides the sum, for one four of a right-hand side.
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

// Computes and stores a stage's result from the sum of the terms. `place` is the site's number within its
// parity.
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

// Sends the halves of those sites of a chunk that have neighbours on other ranks, as thread.here says.
// `spinors` has the chunk, with 32 sites between units. Only projections are sent. The receiver multiplies by
// the links, because it can load them ahead.
template <class T, class Block, class Sink>
TCA_DEVICE void send_chunk(Block& block, const Ground<T>& ground, const T* spinors, Word chunk, bool odd,
                           bool dagger, Word rhs, const Sink& sink) {
  block.each([&](SiteThread& thread) {
    if (thread.here >= 0 || chunk * chunk_sites + thread.lane >= ground.half()) return;
    const Word direction = thread.warp;
    // The half has the same place at the neighbour as the neighbour's half has here.
    const FaceGroup &sent = ground.faces[odd][direction], &back = ground.faces[!odd][direction];
    const T sign = (direction % 2 == 0) != dagger ? T(1) : T(-1);
    sink.put(sent, static_cast<Word>(~thread.here) - back.begin, rhs,
             project_along(spinor_at(spinors, thread.lane), direction / 2, sign));
  });
}

// The neighbour of a chunk's site in the thread's direction; -1 after the last site. `odd` is the parity of
// the site.
template <class T>
TCA_DEVICE std::int32_t neighbour_of(const Ground<T>& ground, Word chunk, bool odd,
                                     const SiteThread& thread) {
  const Word place = chunk * chunk_sites + thread.lane;
  if (place >= ground.half()) return -1;
  return ground.next[thread.warp * ground.volume + place + (odd ? ground.half() : 0)];
}

// The chunks of one parity. Those without ghosts come first, because meanwhile the halves for the others are
// on their way.
struct Chunks {
  const std::int32_t* order = nullptr;
  Word interior = 0, count = 0;
};

// The chunks of one block. If there are many interior chunks, a block takes several in a row, because they
// share neighbours, which the L1 then still holds. Chunks with ghosts are dealt from the last block on, so
// that a block with one more of these does not have one more of the others as well.
class Turns {
 public:
  // `none` is returned after the last chunk.
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

// Runs a stage on the chunks of a block. The constructor may run while other blocks still store what the hop
// will read: it loads only the numbers of the first chunks' neighbours and the first chunk's links, which
// do not change.
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

  // Runs the hop, once its input is there. `Ghosts` copies a half from another rank into the thread's part of
  // the room: `ask` during the chunk before, if the half is there already; `bring` when it is needed, if it
  // may still have to arrive. `Sink` sends a half.
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
  // Starts to load what the thread's half is made of: the neighbour's spinor, or the half that another rank
  // has sent.
  template <class Ghosts>
  TCA_DEVICE void ask_for_half(Word chunk, std::int32_t next, Word rhs, const Ghosts& ghosts,
                               SiteThread& thread) {
    ChunkRoom<T>& room = block_.template room<T>();
    if (next >= 0)
      ask_for_neighbour(room, ground_, stage_, next, rhs, thread);
    else if (chunk * chunk_sites + thread.lane < ground_.half())
      ghosts.ask(room, ground_, stage_, next, rhs, thread);
  }

  // Computes one right-hand side of a chunk. The threads keep the chunk's links from the first right-hand
  // side to the last. `later` is the chunk after the following one. It has three parts with two barriers of
  // the block. The next call writes `halves` in its first part: they are read in the second part, before the
  // second barrier. It writes `spinors` in its second part: they are read in the third part, before the first
  // barrier of the next call.
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
