// Conjugate gradients as one kernel runs them, all steps of the benchmark: what a block of threads computes.
//
// The elements of all vectors are dealt out to the blocks of all ranks. Beside its own ones a block has a
// copy of the operand, that is of the part that belongs to its tile's columns. Nobody sends the operand: it
// is r + beta p, so blocks publish r before the sum from which beta follows, and each makes the operand of what
// has arrived. In the merged order it is q that they publish, and copies of r are kept as well. So an iteration
// waits for other blocks twice in the benchmark's order, for p.q and for r.r with r, and once in the merged one.
//
// `Blocks` is a block's way to the others: GridBlocks or ClusterBlocks. It has
//   lane(), lanes()          of the block
//   own()                    the number of the block's own elements
//   is_first()               whether it is the rank's first block
//   publish(i, value)        gives an element of the next publication to every block that needs it
//   add(values, publishes)   their sums over all blocks of all ranks; with `publishes`, what was published is
//                            there behind it. False when somebody has given up, and the values are of no use then
//   for_columns(act)         act(column, published) for each of the tile's columns
//   multiply(q)              q = A p, of the block's own elements
//   goes_on()                whether nobody is known to have given up
#pragma once

#include <cmath>

#include "cg/gpu/run.hpp"

namespace tca::cg {

template <class Blocks>
class Iteration {
 public:
  TCA_DEVICE Iteration(const Run& run, const TileVectors& vectors, Blocks& blocks)
      : run_(run), v_(vectors), blocks_(blocks) {}

  // Runs the benchmark from its start, and ends early when a rank has not come within the time limit.
  TCA_DEVICE void solve() {
    for_own([&](Word i) { v_.x[i] = 1; });
    double left = 0;
    for (Word step = 0; step < run_.steps && blocks_.goes_on(); ++step) {
      begin(left, step);
      for (int i = 0; i < inner_iterations && blocks_.goes_on(); ++i) {
        if (run_.merged != 0) {
          iterate_merged();
        } else {
          iterate_as_npb();
        }
      }
      left = end(step);
    }
    double squares[1] = {left};
    if (blocks_.add(squares, false)) keep_squares(run_.steps, squares[0]);
  }

 private:
  template <class Act>
  TCA_DEVICE void for_own(const Act& act) const {
    for (Word i = blocks_.lane(); i < blocks_.own(); i += blocks_.lanes()) act(i);
  }

  // z = 0 and r = p = x. The squares that the step before has left are added up on the way.
  TCA_DEVICE void begin(double left, Word step) {
    double sums[2] = {0, left};
    for_own([&](Word i) {
      const double x = v_.x[i];
      v_.z[i] = 0;
      v_.r[i] = v_.p[i] = x;
      blocks_.publish(i, x);
      sums[0] += x * x;
    });
    blocks_.add(sums, true);
    rho_ = sums[0];
    if (step > 0) keep_squares(step, sums[1]);
    blocks_.for_columns([&](Word c, double x) {
      v_.operand[c] = x;
      if (run_.merged != 0) v_.residual[c] = x;
    });
  }

  TCA_DEVICE void iterate_as_npb() {
    blocks_.multiply(v_.q);
    double pq[1] = {};
    for_own([&](Word i) { pq[0] += v_.p[i] * v_.q[i]; });
    blocks_.add(pq, false);
    const double alpha = rho_ / pq[0];
    double rr[1] = {};
    for_own([&](Word i) {
      v_.z[i] += alpha * v_.p[i];
      const double r = v_.r[i] - alpha * v_.q[i];
      v_.r[i] = r;
      blocks_.publish(i, r);
      rr[0] += r * r;
    });
    blocks_.add(rr, true);
    const double beta = rr[0] / rho_;
    rho_ = rr[0];
    for_own([&](Word i) { v_.p[i] = v_.r[i] + beta * v_.p[i]; });
    blocks_.for_columns([&](Word c, double r) { v_.operand[c] = r + beta * v_.operand[c]; });
  }

  TCA_DEVICE void iterate_merged() {
    blocks_.multiply(v_.q);
    double dots[4] = {};
    for_own([&](Word i) {
      const double p = v_.p[i], q = v_.q[i], r = v_.r[i];
      blocks_.publish(i, q);
      dots[0] += p * q;
      dots[1] += r * q;
      dots[2] += q * q;
      dots[3] += r * r;
    });
    blocks_.add(dots, true);
    const double rr = dots[3], alpha = rr / dots[0];
    const double beta = (rr - 2 * alpha * dots[1] + alpha * alpha * dots[2]) / rr;
    for_own([&](Word i) {
      v_.z[i] += alpha * v_.p[i];
      const double r = v_.r[i] - alpha * v_.q[i];
      v_.r[i] = r;
      v_.p[i] = r + beta * v_.p[i];
    });
    blocks_.for_columns([&](Word c, double q) {
      const double r = v_.residual[c] - alpha * q;
      v_.residual[c] = r;
      v_.operand[c] = r + beta * v_.operand[c];
    });
  }

  // Scales z to be the next x. Returns this lane's share of the squares of x - A z.
  TCA_DEVICE double end(Word step) {
    double sums[2] = {};
    for_own([&](Word i) {
      const double z = v_.z[i];
      blocks_.publish(i, z);
      sums[0] += v_.x[i] * z;
      sums[1] += z * z;
    });
    blocks_.add(sums, true);
    if (blocks_.is_first() && blocks_.lane() == 0) run_.found[step].xz = sums[0];
    blocks_.for_columns([&](Word c, double z) { v_.operand[c] = z; });
    blocks_.multiply(v_.q);
    const double scale = 1 / sqrt(sums[1]);
    double squares = 0;
    for_own([&](Word i) {
      const double d = v_.x[i] - v_.q[i];
      squares += d * d;
      v_.x[i] = scale * v_.z[i];
    });
    return squares;
  }

  // The step counts from 1.
  TCA_DEVICE void keep_squares(Word step, double squares) const {
    if (blocks_.is_first() && blocks_.lane() == 0) run_.found[step - 1].squares = squares;
  }

  const Run& run_;
  const TileVectors v_;
  Blocks& blocks_;
  double rho_ = 0;
};

}  // namespace tca::cg
