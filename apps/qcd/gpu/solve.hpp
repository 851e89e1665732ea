// A whole solve in one kernel: conjugate gradients on the normal equations of the even-odd preconditioned
// operator M = 1 - kappa^2 H_eo H_oe, with one sum over all ranks in each iteration.
//
// The sums for alpha and for beta are computed together (Y. Saad, "Practical use of some Krylov subspace
// methods", 1985, and G. Meurant, "Multitasking the conjugate gradient method on the CRAY X-MP/48", 1987).
// With q = M p and w = M^dagger q,
//   alpha = |s|^2 / |q|^2,   |s'|^2 = |s|^2 - 2 alpha s.w + alpha^2 |w|^2,   beta = |s'|^2 / |s|^2.
// All are sums of the current vectors, so nothing drifts: only one step is predicted, never two. As on the
// host, the residual r of M x = b itself is updated too, because the stopping criterion applies to it.
//
// An iteration has five barriers of the grid: one before each of the four hops, which read neighbouring
// sites, and one at the sum. With several ranks a sixth hands out the result of the sum.
//
// `Block` runs the solve: a block of 256 threads on a GPU, or a thread of the host that plays one. It has
//   - index() and count(),
//   - links_ahead: whether links are loaded a chunk ahead of their use,
//   - together: whether it takes several right-hand sides; then keep_sums(rhs) saves what all threads have of
//     the sums of one,
//   - each(f) for all its threads, one(f) for one of them, and sync() between them,
//   - room<T>(), its ChunkRoom,
//   - barrier() of the grid, which is arrive() and then wait(),
//   - total(): the sums of all threads over all ranks, which is a barrier too,
//   - good(): false once a wait has given up, and the same on every block after a barrier.
#pragma once

#include <type_traits>

#include "qcd/gpu/ghosts.hpp"

namespace tca::qcd {

// The fields of a solve in one precision. Each has one parity: `odd` the odd sites, all others the even ones.
template <class T>
struct SolveFields {
  Ground<T> ground;
  ProducedHalves<T> halves;
  Chunks chunks[2];  // indexed by parity
  T *b = nullptr, *x = nullptr, *r = nullptr, *odd = nullptr;
  T *s = nullptr, *p = nullptr, *q = nullptr, *w = nullptr;
  T kappa2 = 0;
};

template <class T>
TCA_DEVICE SolveFields<T> fields_of(const SolveFields<T>& all, Word rhs) {
  SolveFields<T> one = all;
  one.b = field_of(all.b, all.ground, rhs);
  one.x = field_of(all.x, all.ground, rhs);
  one.r = field_of(all.r, all.ground, rhs);
  one.odd = field_of(all.odd, all.ground, rhs);
  one.s = field_of(all.s, all.ground, rhs);
  one.p = field_of(all.p, all.ground, rhs);
  one.q = field_of(all.q, all.ground, rhs);
  one.w = field_of(all.w, all.ground, rhs);
  return one;
}

struct Aim {
  double tolerance = 0;  // of |r| / |b|
  int max_iterations = 0;
  double update_at = 0;  // mixed precision: see SolveOptions
};

// The result of a solve for the host. `history` has room for max_iterations relative residuals.
struct Outcome {
  int iterations = 0, updates = 0;
  double b2 = 0, first_r2 = 0, r2 = 0;
  bool good = false;
};

// The coefficients that follow from the five sums of an iteration.
struct Coefficients {
  double alpha = 0, beta = 0;
  double s2 = 0;  // before the step
  double r2 = 0;  // after it
};
TCA_DEVICE Coefficients coefficients(const double* sums) {
  const double q2 = sums[0], sw = sums[1], w2 = sums[2], s2 = sums[3], r2 = sums[4];
  const double alpha = q2 > 0 ? s2 / q2 : 0;
  const double next = s2 - 2 * alpha * sw + alpha * alpha * w2, left = r2 - alpha * s2;
  // A residual that is NaN stays NaN.
  return {alpha, s2 > 0 && next > 0 ? next / s2 : 0, s2, left > 0 ? left : left <= 0 ? 0 : left};
}
TCA_DEVICE bool is_finite(double value) { return value < 1e300; }

// Moves the vectors of an iteration on, except p if `p_stays`. Returns p, which the neighbours need.
template <class T>
TCA_DEVICE Four<T> step_of(const SolveFields<T>& f, Word sites, Word place, Word four, T alpha, T beta,
                           bool p_stays = false) {
  const Four<T> p = four_at(f.p, sites, place, four);
  put_four(f.x, sites, place, four, four_at(f.x, sites, place, four) + alpha * p);
  put_four(f.r, sites, place, four,
           four_at(f.r, sites, place, four) + -alpha * four_at(f.q, sites, place, four));
  const Four<T> s = four_at(f.s, sites, place, four) + -alpha * four_at(f.w, sites, place, four);
  put_four(f.s, sites, place, four, s);
  if (p_stays) return p;
  const Four<T> turned = s + beta * p;
  put_four(f.p, sites, place, four, turned);
  return turned;
}

// The hops of a solve, as sequences of stages. Before the first of each sequence, the neighbours must have
// the halves of its field.
//
// Two stages for r = b - M x. sums[2] = |r|^2 and sums[3] = |b|^2.
template <class T>
TCA_DEVICE Stage<T> residual_stage(const SolveFields<T>& f, Word n, bool sends) {
  if (n == 0) return {.in = f.x, .out = f.odd, .to_odd = true, .sends = true};
  return {.in = f.odd,
          .out = f.r,
          .plus = f.b,
          .minus = f.x,
          .dot = f.b,
          .factor = f.kappa2,
          .tally = Tally::all,
          .sends = sends,
          .sent_dagger = true};
}

// Two stages for s = M^dagger r, and p = s if `also_p`. sums[0] = |s|^2.
template <class T>
TCA_DEVICE Stage<T> normal_stage(const SolveFields<T>& f, Word n, bool also_p) {
  if (n == 0)
    return {.in = f.r, .out = f.odd, .to_odd = true, .dagger = true, .sends = true, .sent_dagger = true};
  return {.in = f.odd,
          .out = f.s,
          .copy = also_p ? f.p : nullptr,
          .plus = f.r,
          .factor = -f.kappa2,
          .tally = Tally::norm,
          .dagger = true,
          .sends = also_p};
}

// Four stages for q = M p and w = M^dagger q, with all five sums.
template <class T>
TCA_DEVICE Stage<T> iteration_stage(const SolveFields<T>& f, Word n) {
  switch (n) {
    case 0:
      return {.in = f.p, .out = f.odd, .to_odd = true, .sends = true};
    case 1:
      return {.in = f.odd,
              .out = f.q,
              .plus = f.p,
              .factor = -f.kappa2,
              .tally = Tally::norm,
              .sends = true,
              .sent_dagger = true};
    case 2:
      return {.in = f.q, .out = f.odd, .to_odd = true, .dagger = true, .sends = true, .sent_dagger = true};
    default:
      return {.in = f.odd,
              .out = f.w,
              .plus = f.q,
              .dot = f.s,
              .norm = f.r,
              .factor = -f.kappa2,
              .tally = Tally::all,
              .dagger = true};
  }
}

// The operations of a solve on the fields of one precision.
template <class T, int reals, class Block>
class Part {
 public:
  TCA_DEVICE Part(Block& block, const SolveFields<T>& fields)
      : block_(block), f_(fields), exchange_(fields.halves.there() ? fields.halves.steps.last() : 0) {}

  // Saves the number of exchanges for the next kernel.
  TCA_DEVICE void keep_exchange() const {
    if (block_.index() != 0 || !f_.halves.there()) return;
    block_.each([&](const SiteThread& thread) {
      f_.halves.steps.keep(exchange_, thread.warp * chunk_sites + thread.lane, chunk_warps * chunk_sites);
    });
  }

  TCA_DEVICE void residual(bool sends) {
    stages(2, [&](Word n) { return residual_stage(f_, n, sends); });
  }
  TCA_DEVICE void normal(bool also_p) {
    stages(2, [&](Word n) { return normal_stage(f_, n, also_p); });
  }
  TCA_DEVICE void apply_both() {
    stages(4, [&](Word n) { return iteration_stage(f_, n); });
  }

  // Visits the sites of this block once, those at the faces first. `make` returns the four of a site that the
  // neighbours are to get.
  template <class Make>
  TCA_DEVICE void pass(bool dagger, const Make& make) {
    const Word chunks = f_.ground.chunks();
    ChunkRoom<T>& room = block_.template room<T>();
    for (Word k = block_.index(); k < chunks; k += block_.count()) {
      const Word turn = chunks - 1 - k;
      const auto chunk = static_cast<Word>(f_.chunks[0].order[turn]);
      const bool sends = turn >= f_.chunks[0].interior;
      block_.each([&](SiteThread& thread) {
        const Word place = chunk * chunk_sites + thread.lane, four = thread.warp;
        if (sends) thread.here = neighbour_of(f_.ground, chunk, false, thread);
        if (four >= 6 || place >= f_.ground.half()) return;
        const Four<T> value = make(place, four);
        if (sends) put_four(room.spinors, chunk_sites, thread.lane, four, value);
      });
      if (!sends) continue;
      block_.sync();
      send_chunk(block_, f_.ground, room.spinors, chunk, false, dagger, 0,
                 ProducedSink<T>{f_.halves, exchange_ + 1});
      block_.sync();
    }
    ++exchange_;
  }

  TCA_DEVICE Four<T> at(const T* field, Word place, Word four) const {
    return four_at(field, f_.ground.half(), place, four);
  }
  TCA_DEVICE void put(T* field, Word place, Word four, Four<T> value) const {
    put_four(field, f_.ground.half(), place, four, value);
  }
  TCA_DEVICE const SolveFields<T>& fields() const { return f_; }

 private:
  // Runs stages, each after a barrier of the grid, during which the hop loads what it can. It is a loop so
  // that there is only one copy of a hop's code: there is little room for instructions, and a call would save
  // as many registers as it uses.
  template <class Make>
  TCA_DEVICE void stages(Word count, const Make& make) {
    TCA_QCD_ONCE
    for (Word n = 0; n < count; ++n) {
      const Stage<T> what = make(n);
      block_.arrive();
      Hop<T, reals, Block> hop(block_, f_.ground, what, f_.chunks[what.to_odd ? 1 : 0]);
      block_.wait();
      hop.run(ProducedGhosts<T>{f_.halves, exchange_}, ProducedSink<T>{f_.halves, exchange_ + 1});
      if (what.sends) ++exchange_;
    }
  }

  Block& block_;
  const SolveFields<T>& f_;
  Word exchange_;  // number of the last exchange whose halves were sent
};

template <class To, class From>
TCA_DEVICE Four<To> in_precision(Four<From> v) {
  From from[4];
  To to[4];
  std::memcpy(from, &v, sizeof from);
  for (int i = 0; i < 4; ++i) to[i] = static_cast<To>(from[i]);
  Four<To> result;
  std::memcpy(&result, to, sizeof result);
  return result;
}

// Reliable updates. Adds to x what the search has found since the last one. Returns x, whose halves the
// residual needs.
TCA_DEVICE Four<double> take_in(const SolveFields<float>& search, const SolveFields<double>& exact,
                                Word place, Word four, Four<float> found) {
  const Word sites = exact.ground.half();
  put_four(search.x, sites, place, four, Four<float>{});
  const Four<double> x = four_at(exact.x, sites, place, four) + in_precision<double, float>(found);
  put_four(exact.x, sites, place, four, x);
  return x;
}
// Copies the residual to the search. Returns it, because s = M^dagger r needs its halves.
TCA_DEVICE Four<float> hand_over(const SolveFields<float>& search, const SolveFields<double>& exact,
                                 Word place, Word four) {
  const Word sites = exact.ground.half();
  const Four<float> r = in_precision<float, double>(four_at(exact.r, sites, place, four));
  put_four(search.r, sites, place, four, r);
  return r;
}

// The part of a mixed-precision solve in double: what reliable updates need.
template <int reals, class Block>
class Exact {
 public:
  TCA_DEVICE Exact(Block& block, const SolveFields<double>& fields) : block_(block), part_(block, fields) {}

  // Adds to x what the search has found, alpha p included. Then recomputes r and copies it to the search.
  TCA_DEVICE void update(Part<float, reals, Block>& search, float alpha) {
    const SolveFields<double>& d = part_.fields();
    const SolveFields<float>& f = search.fields();
    part_.pass(false, [&](Word place, Word four) {
      Four<float> found = search.at(f.x, place, four);
      // In the first update p is left over from another solve. It may hold NaNs, which stay NaNs when
      // multiplied by zero.
      if (alpha != 0) found = found + alpha * search.at(f.p, place, four);
      return take_in(f, d, place, four, found);
    });
    part_.residual(false);
    block_.barrier();
    search.pass(true, [&](Word place, Word four) { return hand_over(f, d, place, four); });
  }
  TCA_DEVICE void keep_exchange() const { part_.keep_exchange(); }

 private:
  Block& block_;
  Part<double, reals, Block> part_;
};

// Stands for Exact in a solve of one precision, which has no updates.
struct NoExact {};

template <class T, int reals, class Block, class Exactly>
class CgRun {
 public:
  static constexpr bool mixed = !std::is_same_v<Exactly, NoExact>;

  TCA_DEVICE CgRun(Block& block, Part<T, reals, Block>& part, Exactly& exact, const Aim& aim, double* history)
      : block_(block), part_(part), exact_(exact), aim_(aim), history_(history) {}

  TCA_DEVICE Outcome run() {
    begin();
    while (block_.good() && outcome_.iterations < aim_.max_iterations && goes_on()) iterate();
    outcome_.good = block_.good();
    return outcome_;
  }

 private:
  TCA_DEVICE bool goes_on() const { return outcome_.r2 > bound_ && is_finite(outcome_.r2); }

  TCA_DEVICE void begin() {
    if constexpr (mixed) {
      exact_.update(part_, 0);
    } else {
      const T* const x = part_.fields().x;
      part_.pass(false, [&](Word place, Word four) { return part_.at(x, place, four); });
      part_.residual(true);
    }
    part_.normal(true);
    const double* const sums = block_.total();
    outcome_.b2 = sums[3];
    outcome_.first_r2 = outcome_.r2 = highest_ = sums[2];
    bound_ = aim_.tolerance * aim_.tolerance * outcome_.b2;
  }

  TCA_DEVICE void iterate() {
    part_.apply_both();
    const Coefficients now = coefficients(block_.total());
    outcome_.r2 = now.r2;
    if (mixed && (now.r2 < aim_.update_at * aim_.update_at * highest_ || now.r2 <= bound_)) {
      renew(static_cast<T>(now.alpha), now.s2);
    } else {
      step(static_cast<T>(now.alpha), static_cast<T>(now.beta));
    }
    if (block_.index() == 0) {
      const double relative = outcome_.b2 > 0 ? outcome_.r2 / outcome_.b2 : outcome_.r2;
      block_.one([&] { history_[outcome_.iterations] = relative; });
    }
    ++outcome_.iterations;
  }

  TCA_DEVICE void step(T alpha, T beta) {
    const SolveFields<T>& f = part_.fields();
    part_.pass(false,
               [&](Word place, Word four) { return step_of(f, f.ground.half(), place, four, alpha, beta); });
  }

  // Makes the same step, but recomputes r and s. The direction continues from the old one.
  TCA_DEVICE void renew(T alpha, double s2_before) {
    if constexpr (mixed) {
      exact_.update(part_, alpha);
      part_.normal(false);
      const double* const sums = block_.total();
      const T beta = static_cast<T>(s2_before > 0 ? sums[0] / s2_before : 0);
      outcome_.r2 = highest_ = sums[2];
      ++outcome_.updates;
      const SolveFields<T>& f = part_.fields();
      part_.pass(false, [&](Word place, Word four) {
        const Four<T> turned = part_.at(f.s, place, four) + beta * part_.at(f.p, place, four);
        part_.put(f.p, place, four, turned);
        return turned;
      });
    }
  }

  Block& block_;
  Part<T, reals, Block>& part_;
  Exactly& exact_;
  const Aim& aim_;
  double* history_;  // squared residuals; the host takes the roots
  Outcome outcome_;
  double bound_ = 0, highest_ = 0;
};

// Every block returns an outcome of its own. They are all the same.
template <class T, int reals, class Block>
TCA_DEVICE Outcome solve_cg_in(Block& block, const SolveFields<T>& fields, const Aim& aim, double* history) {
  Part<T, reals, Block> part(block, fields);
  NoExact exact;
  const Outcome outcome = CgRun<T, reals, Block, NoExact>(block, part, exact, aim, history).run();
  part.keep_exchange();
  return outcome;
}

template <int reals, class Block>
TCA_DEVICE Outcome solve_cg_mixed_in(Block& block, const SolveFields<float>& fields,
                                     const SolveFields<double>& exactly, const Aim& aim, double* history) {
  Part<float, reals, Block> part(block, fields);
  Exact<reals, Block> exact(block, exactly);
  const Outcome outcome =
      CgRun<float, reals, Block, Exact<reals, Block>>(block, part, exact, aim, history).run();
  part.keep_exchange();
  exact.keep_exchange();
  return outcome;
}

}  // namespace tca::qcd
