// Conjugate gradients as one kernel runs them, all steps of the benchmark: what a block of threads does with
// its tile, and how it meets the blocks of all ranks.
//
// The elements of all vectors are dealt out to the blocks of all ranks. Beside its own ones a block has a
// copy of the operand, that is of the part that belongs to its tile's columns. Nobody sends the operand: it
// is r + beta p, so blocks publish r, into a window on every rank, before the sum from which beta follows,
// and each makes the operand of what has arrived. In the merged order it is q that they publish, and copies
// of r are kept as well. So an iteration waits for other ranks twice in the benchmark's order, for p.q and
// for r.r with r, and once in the merged one. Where rows are divided among tiles, blocks of the same rows
// wait for each other besides, on their GPU, to add up products.
//
// A sum is one message: each block stores its share, as a packet with a flag, into a box on every rank, and
// reads those of all blocks from its own rank's memory. All add in the same order and get the same bits.
//
// Publications alternate between two vectors, and sums between two sets of boxes. A block publishes n + 2
// once the sum that follows publication n + 1 is over, to which each block has come only after it had read
// publication n; boxes are used again likewise.
//
// Where ranks have blocks of the matrix, a rank's blocks publish among themselves, sums are those of a row of
// the grid of ranks, and chains bring the product of all ranks. Blocks meet in barriers of the grid then, so
// none may leave alone: one that has given up goes on, with numbers that nobody will read, to the next
// barrier at which all agree to leave.
//
// `Group` is a block on a GPU and a thread on the host. Beside lane(), lanes() and sync() it has
//   add_up(values, good, lanes)       each of `values` over all lanes, of which those behind the first `lanes`
//                                     bring zeros, on every lane; whether all are good
//   all(good)                         whether all lanes are good, behind a sync()
//   multiply(run, tile, product, out) the tile's rows of the n-th product, with sync() before, not after it
//   chains                            whether ranks have blocks of the matrix, and the group the following:
//   barrier(good)                     of the rank's blocks; whether all are good
//   exchange(run)                     run.result from run.product; false, on all blocks, if a rank is late
#pragma once

#include <cmath>
#include <cstring>

#include "cg/gpu/tiles.hpp"
#include "tca/device/packet.hpp"
#include "tca/device/stores.hpp"
#include "tca/device/window.hpp"

namespace tca::cg {

// Where in a block's shared memory things are, in bytes; `nowhere` for what has to be in device memory.
struct Room {
  static constexpr Word nowhere = ~Word{0};
  Word residual = nowhere;  // behind the operand, which comes first; only in the merged order
  Word own = nowhere;
  Word slices = nowhere, row_of = nowhere;
  Word value = 0, column = 0;
  Word kept_steps = 0;  // of the tile's steps the first ones, whose elements are here
  Word bytes = 0;
};

// Throws Error{invalid_argument} where not even the operand has room in so many bytes.
Room plan_room(const Tiles::Most& most, const Tiling& tiling, bool merged, std::size_t bytes);
// Returns how many elements of a tile's vectors have none.
std::uint64_t spill_of(const Tiles::Most& most, const Room& room, bool merged);

// What a step of the benchmark found.
struct Found {
  double xz;       // x.z
  double squares;  // of x - A z
};

// The parameter of the kernel.
struct Run {
  TileArrays matrix;
  DeviceWindow<double> published;  // on each rank that needs them two vectors
  // On each rank two sets of boxes: `most_sums` times one for every block of all ranks.
  DeviceWindow<device::Packet> sums;
  device::WaitLimits limits;             // whose links are ranks
  device::Packet* multiplied = nullptr;  // one a tile: carries the last product in which it is done
  double* products = nullptr;            // of each part of the columns, as long as the rank has rows
  double* product = nullptr;             // where ranks have blocks: their sum
  const double* result = nullptr;        // and the product of all ranks for this one's part of the vectors
  double* spilled = nullptr;             // what does not fit into shared memory, `spill` of each tile
  std::uint64_t spill = 0, n = 0;        // n is the length of a vector
  Found* found = nullptr;                // one a step
  Room room;
  Word rows = 0;         // of this rank
  Word first_row = 0;    // where its elements are in what is published
  Word most_own = 0;     // of a tile
  Word steps = 0;        // of the benchmark
  Word sums_before = 0;  // of all runs before this one
  Word products_before = 0;
  device::Flag merged = 0;
};
inline constexpr Word most_sums = 4;  // at a time
inline constexpr Word own_vectors = 5;

// How often a run of so many steps adds up, and multiplies.
inline Word sums_of(Word steps, bool merged) {
  return steps * ((merged ? 1 : 2) * Word{inner_iterations} + 2) + 1;
}
inline Word products_of(Word steps) { return steps * (Word{inner_iterations} + 1); }

// The vectors of a block: its own elements, and copies for its tile's columns.
struct TileVectors {
  double *x, *z, *r, *p, *q;
  double* operand;
  double* residual;

  static TCA_DEVICE TileVectors of(const Run& run, Word block, std::byte* shared) {
    double* const spilled = run.spilled + block * run.spill;
    const auto at = [&](Word place, double* otherwise) {
      return place == Room::nowhere ? otherwise : reinterpret_cast<double*>(shared + place);
    };
    double* const own = at(run.room.own, spilled);
    const std::uint64_t of_own = run.room.own == Room::nowhere ? own_vectors * run.most_own : 0;
    const Word most = run.most_own;
    return {own,
            own + most,
            own + 2 * most,
            own + 3 * most,
            own + 4 * most,
            reinterpret_cast<double*>(shared),
            at(run.room.residual, spilled + of_own)};
  }
};

// Loads what another multiprocessor or GPU has stored, which this one's first cache may have an older copy
// of.
TCA_DEVICE double load_stored(const double* from) {
#ifdef __CUDA_ARCH__
  return __ldcg(from);
#else
  return *from;
#endif
}

template <class Group>
class TileSolver {
 public:
  TCA_DEVICE TileSolver(const Run& run, const TileVectors& vectors, Word block, Group& group)
      : run_(run),
        tile_(run.matrix.tiles[block]),
        v_(vectors),
        block_(block),
        group_(group),
        sum_(run.sums_before),
        product_(run.products_before) {}

  // Runs the benchmark from its start, and ends early when a rank has not come within the time limit.
  TCA_DEVICE void solve() {
    for_own([&](Word i) { v_.x[i] = 1; });
    double left = 0;
    for (Word step = 0; step < run_.steps && goes_on(); ++step) {
      begin(left, step);
      for (int i = 0; i < inner_iterations && goes_on(); ++i) {
        if (run_.merged != 0) {
          iterate_merged();
        } else {
          iterate_as_npb();
        }
      }
      left = end(step);
    }
    double squares[1] = {left};
    if (add(squares, false)) keep_squares(run_.steps, squares[0]);
  }

 private:
  TCA_DEVICE bool goes_on() const { return Group::chains ? agreed_ : good_; }

  template <class Act>
  TCA_DEVICE void for_own(const Act& act) const {
    for (Word i = group_.lane(); i < tile_.own; i += group_.lanes()) act(i);
  }
  // act(c, published) for each of the tile's columns, with what has arrived for it.
  template <class Act>
  TCA_DEVICE void for_columns(const Act& act) {
    const double* const from =
        run_.published.parts[run_.published.rank] + publication_ % 2 * run_.n + tile_.column_begin;
    constexpr Word in_flight = 4;  // loads before the first is used: one trip to the L2 for four elements
    const Word lanes = group_.lanes();
    for (Word base = group_.lane(); base < tile_.columns; base += in_flight * lanes) {
      double got[in_flight] = {};
      TCA_UNROLL
      for (Word k = 0; k < in_flight; ++k)
        if (base + k * lanes < tile_.columns) got[k] = load_stored(from + base + k * lanes);
      TCA_UNROLL
      for (Word k = 0; k < in_flight; ++k)
        if (base + k * lanes < tile_.columns) act(base + k * lanes, got[k]);
    }
  }

  // Stores one of this block's elements of the next publication on every rank.
  TCA_DEVICE void publish(Word i, double value) const {
    const std::uint64_t at = (publication_ + 1) % 2 * run_.n + run_.first_row + tile_.own_begin + i;
    for (Word to = 0; to < run_.published.size; ++to) run_.published.parts[to][at] = value;
  }

  // The sums of what all blocks of all ranks bring. With `publishes` all that they have published can be read
  // behind it. False, on all lanes of a block that has given up, and the values are of no use then.
  template <Word count>
  TCA_DEVICE bool add(double (&values)[count], bool publishes) {
    good_ = group_.add_up(values, good_, group_.lanes());
    if (!good_) return false;
    ++sum_;
    if (publishes) ++publication_;
    const Word blocks = run_.matrix.tiling.tiles(), sources = blocks * run_.sums.size;
    const Word set = sum_ % 2 * most_sums * sources, own = run_.sums.rank * blocks + block_;
    // The last lanes send and the first ones receive: a fence behind what has been sent to other GPUs would
    // wait until it is there.
    for (Word k = group_.lanes() - 1 - group_.lane(); k < count * run_.sums.size; k += group_.lanes()) {
      double value = values[0];
      TCA_UNROLL
      for (Word v = 1; v < count; ++v)
        if (k % count == v) value = values[v];
      if (publishes) release();
      run_.sums.parts[k / count][set + k % count * sources + own].write(
          device::Packet::of(bits_of(value), sum_));
    }
    TCA_UNROLL
    for (Word v = 0; v < count; ++v) values[v] = 0;
    for (Word i = group_.lane(); i < count * sources && good_; i += group_.lanes()) {
      const Word v = i / sources;
      const double share = collect(set + i, (i - v * sources) / blocks, publishes);
      TCA_UNROLL
      for (Word k = 0; k < count; ++k)
        if (v == k) values[k] += share;
    }
    return good_ = group_.add_up(values, good_, count * sources);
  }

  // Before a block's packet, and once it is there: what was published before can be read after. To acquire
  // takes a load more, where a fence would take three times as long.
  TCA_DEVICE void release() const { has_peers() ? device::fence_system() : device::fence_gpu(); }
  TCA_DEVICE void acquire(const device::Packet& there) const {
    has_peers() ? there.read_acquire() : there.read_acquire_gpu();
  }
  TCA_DEVICE bool has_peers() const { return run_.sums.size > 1; }

  // Waits for what a block of a rank brings in a box. What it has published can be read after.
  TCA_DEVICE double collect(Word box, Word rank, bool publishes) {
    const device::Packet& packet = run_.sums.parts[run_.sums.rank][box];
    device::Packet got = packet.read_once();
    device::BoundedWait waiting(run_.limits, sum_);
    while (!got.carries(sum_)) {
      if (!waiting.keep_polling(rank == run_.sums.rank ? device::no_link : rank)) {
        good_ = false;
        return 0;
      }
      got = packet.read_once();
    }
    if (publishes) acquire(packet);
    return double_of(got.data());
  }

  static TCA_DEVICE std::uint64_t bits_of(double value) {
    std::uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static TCA_DEVICE double double_of(std::uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }

  // q = A p, of the block's own elements.
  TCA_DEVICE void multiply() {
    const Word parts = run_.matrix.tiling.column_parts, part = block_ % parts;
    ++product_;
    double* const products = run_.products + std::uint64_t{part} * run_.rows + tile_.row_begin;
    if constexpr (Group::chains) {
      group_.multiply(run_, tile_, product_, products);
      good_ = group_.barrier(good_);
      for (Word i = group_.lane(); i < tile_.sums; i += group_.lanes())
        run_.product[tile_.sum_begin + i] = sum_of_parts(tile_.sum_begin + i);
      // A block that has given up since leaves at the next barrier.
      agreed_ = good_ && group_.exchange(run_);
      good_ = agreed_;
      for_own([&](Word i) { v_.q[i] = load_stored(run_.result + tile_.own_begin + i); });
    } else if (parts == 1) {
      group_.multiply(run_, tile_, product_, v_.q);
      group_.sync();
    } else {
      group_.multiply(run_, tile_, product_, products);
      group_.sync();
      meet_side_by_side(block_ - part, parts);
      for_own([&](Word i) { v_.q[i] = sum_of_parts(tile_.sum_begin + i); });
    }
  }

  // Waits until the tiles with the same rows are done with the product. Nobody overwrites one that another
  // has not read yet, because a sum over all blocks lies between.
  TCA_DEVICE void meet_side_by_side(Word first, Word parts) {
    if (group_.lane() == 0) {
      device::fence_gpu();
      run_.multiplied[block_].write(device::Packet::of(0, product_));
    }
    for (Word other = group_.lane(); other < parts && good_; other += group_.lanes()) {
      const device::Packet& packet = run_.multiplied[first + other];
      device::BoundedWait waiting(run_.limits, product_);
      while (good_ && !packet.read_once().carries(product_)) good_ = waiting.keep_polling(device::no_link);
      packet.read_acquire_gpu();
    }
    good_ = group_.all(good_);
  }

  TCA_DEVICE double sum_of_parts(Word row) const {
    constexpr Word in_flight = 12;  // loads before the first is used: nearly always one trip to the L2
    const Word parts = run_.matrix.tiling.column_parts;
    double sum = 0;
    for (Word first = 0; first < parts; first += in_flight) {
      double got[in_flight] = {};
      TCA_UNROLL
      for (Word k = 0; k < in_flight; ++k)
        if (first + k < parts)
          got[k] = load_stored(run_.products + std::uint64_t{first + k} * run_.rows + row);
      TCA_UNROLL
      for (Word k = 0; k < in_flight; ++k) sum += got[k];
    }
    return sum;
  }

  // z = 0 and r = p = x. The squares that the step before has left are added up on the way.
  TCA_DEVICE void begin(double left, Word step) {
    double sums[2] = {0, left};
    for_own([&](Word i) {
      const double x = v_.x[i];
      v_.z[i] = 0;
      v_.r[i] = v_.p[i] = x;
      publish(i, x);
      sums[0] += x * x;
    });
    add(sums, true);
    rho_ = sums[0];
    if (step > 0) keep_squares(step, sums[1]);
    for_columns([&](Word c, double x) {
      v_.operand[c] = x;
      if (run_.merged != 0) v_.residual[c] = x;
    });
  }

  TCA_DEVICE void iterate_as_npb() {
    multiply();
    double pq[1] = {};
    for_own([&](Word i) { pq[0] += v_.p[i] * v_.q[i]; });
    add(pq, false);
    const double alpha = rho_ / pq[0];
    double rr[1] = {};
    for_own([&](Word i) {
      v_.z[i] += alpha * v_.p[i];
      const double r = v_.r[i] - alpha * v_.q[i];
      v_.r[i] = r;
      publish(i, r);
      rr[0] += r * r;
    });
    add(rr, true);
    const double beta = rr[0] / rho_;
    rho_ = rr[0];
    for_own([&](Word i) { v_.p[i] = v_.r[i] + beta * v_.p[i]; });
    for_columns([&](Word c, double r) { v_.operand[c] = r + beta * v_.operand[c]; });
  }

  TCA_DEVICE void iterate_merged() {
    multiply();
    double dots[4] = {};
    for_own([&](Word i) {
      const double p = v_.p[i], q = v_.q[i], r = v_.r[i];
      publish(i, q);
      dots[0] += p * q;
      dots[1] += r * q;
      dots[2] += q * q;
      dots[3] += r * r;
    });
    add(dots, true);
    const double rr = dots[3], alpha = rr / dots[0];
    const double beta = (rr - 2 * alpha * dots[1] + alpha * alpha * dots[2]) / rr;
    for_own([&](Word i) {
      v_.z[i] += alpha * v_.p[i];
      const double r = v_.r[i] - alpha * v_.q[i];
      v_.r[i] = r;
      v_.p[i] = r + beta * v_.p[i];
    });
    for_columns([&](Word c, double q) {
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
      publish(i, z);
      sums[0] += v_.x[i] * z;
      sums[1] += z * z;
    });
    add(sums, true);
    if (block_ == 0 && group_.lane() == 0) run_.found[step].xz = sums[0];
    for_columns([&](Word c, double z) { v_.operand[c] = z; });
    multiply();
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
    if (block_ == 0 && group_.lane() == 0) run_.found[step - 1].squares = squares;
  }

  const Run& run_;
  const Tile tile_;
  const TileVectors v_;
  const Word block_;
  Group& group_;
  Word sum_, product_;
  Word publication_ = 0;
  bool good_ = true;
  bool agreed_ = true;  // whether all blocks of the rank were good when they met last
  double rho_ = 0;
};

}  // namespace tca::cg
