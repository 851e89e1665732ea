// How the blocks of a grid meet those of all ranks, for an iteration (iteration.hpp).
//
// Blocks publish into a window on every rank. A sum is one message: each block stores its share, as a packet with
// a flag, into a box on every rank, and reads those of all blocks from its own rank's memory. All add in the same
// order and get the same bits. Where rows are divided among tiles, blocks of the same rows wait for each other
// besides, on their GPU, to add up products.
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

#include <cstring>

#include "cg/gpu/iteration.hpp"
#include "tca/device/packet.hpp"
#include "tca/device/stores.hpp"
#include "tca/device/window.hpp"

namespace tca::cg {

// The parameter of the kernel.
struct GridRun : Run {
  DeviceWindow<double> published;  // on each rank that needs them two vectors
  // On each rank two sets of boxes: `most_sums` times one for every block of all ranks.
  DeviceWindow<device::Packet> sums;
  device::WaitLimits limits;             // whose links are ranks
  device::Packet* multiplied = nullptr;  // one a tile: carries the last product in which it is done
  double* products = nullptr;            // of each part of the columns, as long as the rank has rows
  double* product = nullptr;             // where ranks have blocks: their sum
  const double* result = nullptr;        // and the product of all ranks for this one's part of the vectors
  Word rows = 0;                         // of this rank
  Word sums_before = 0;                  // of all runs before this one
  Word products_before = 0;
};

// How often a run of so many steps adds up, and multiplies.
inline Word sums_of(Word steps, bool merged) {
  return steps * ((merged ? 1 : 2) * Word{inner_iterations} + 2) + 1;
}
inline Word products_of(Word steps) { return steps * (Word{inner_iterations} + 1); }

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
class GridBlocks {
 public:
  TCA_DEVICE GridBlocks(const GridRun& run, Word block, Group& group)
      : run_(run),
        tile_(run.matrix.tiles[block]),
        block_(block),
        group_(group),
        sum_(run.sums_before),
        product_(run.products_before) {}

  TCA_DEVICE Word lane() const { return group_.lane(); }
  TCA_DEVICE Word lanes() const { return group_.lanes(); }
  TCA_DEVICE Word own() const { return tile_.own; }
  TCA_DEVICE bool is_first() const { return block_ == 0; }
  TCA_DEVICE bool goes_on() const { return Group::chains ? agreed_ : good_; }

  // What has arrived for each of the tile's columns.
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

  // Stores the element on every rank.
  TCA_DEVICE void publish(Word i, double value) const {
    const std::uint64_t at = (publication_ + 1) % 2 * run_.n + run_.first_row + tile_.own_begin + i;
    for (Word to = 0; to < run_.published.size; ++to) run_.published.parts[to][at] = value;
  }

  // False on all lanes of a block that has given up.
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

  TCA_DEVICE void multiply(double* q) {
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
      for_own([&](Word i) { q[i] = load_stored(run_.result + tile_.own_begin + i); });
    } else if (parts == 1) {
      group_.multiply(run_, tile_, product_, q);
      group_.sync();
    } else {
      group_.multiply(run_, tile_, product_, products);
      group_.sync();
      meet_side_by_side(block_ - part, parts);
      for_own([&](Word i) { q[i] = sum_of_parts(tile_.sum_begin + i); });
    }
  }

 private:
  template <class Act>
  TCA_DEVICE void for_own(const Act& act) const {
    for (Word i = group_.lane(); i < tile_.own; i += group_.lanes()) act(i);
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

  const GridRun& run_;
  const Tile tile_;
  const Word block_;
  Group& group_;
  Word sum_, product_;
  Word publication_ = 0;
  bool good_ = true;
  bool agreed_ = true;  // whether all blocks of the rank were good when they met last
};

}  // namespace tca::cg
