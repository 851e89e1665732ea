// How the blocks of a cluster meet each other and those of other ranks, for an iteration (iteration.hpp).
//
// A rank has one cluster, and all that a block uses lies in its shared memory. Blocks store what they publish, and
// their shares of sums, straight into each other's; a barrier of the cluster stands between these stores and the
// loads. A share is that of a warp, since to add up a block's first takes as long as the barrier. To other ranks
// elements and the shares of blocks travel as elements of a produced put, which has no guard. Every block reads what
// comes by itself, while it waits for its cluster, and adds up all shares in the same order as all others.
//
// Two chains take turns: steps of GATHER bring a publication with the shares of a sum, and those of DOT shares alone.
// What is published and what is summed have two places each. A block stores publication n + 2 once the sum with
// publication n + 1 is over, to which each block, of whatever rank, has come only after it had read publication n;
// shares alike. That is also what the chains' missing guard asks for.
//
// Nobody may leave a cluster alone, because others store into its memory. One that has waited for another rank in vain
// goes on, with numbers that nobody will read, and tells the others by a word in the next sum, behind which all leave.
//
// `Group` is a block on a GPU and a thread on the host, as for GridBlocks. Beside what it has there it has
//   in(block, here)        the place in another block's shared memory that `here` is in this one's
//   arrive(stored), wait() a barrier of the cluster, in two halves; whether this lane's warp has stored in other blocks
//   warp(), warp_lane(), warp_lanes()
//   add_up_warp(values)    each of `values` over the lanes of a warp, on every lane
#pragma once

#include "cg/gpu/iteration.hpp"
#include "tca/device/produced.hpp"

namespace tca::cg {

// What goes to another rank and comes from there. An element of the vector or a share of a sum is one packet; shares
// lie behind the elements, those of the blocks' first values before those of the second.
struct ClusterLink {
  struct Ends {
    DeviceProducedPut<double> to;
    DeviceProducedArrival<double> from;
  };
  Ends gather, dot;
  Word first = 0, elements = 0;  // of the vector, which come from there
};

// The parameter of the kernel.
struct ClusterRun : Run {
  static constexpr Word most_others = 7;
  ClusterLink links[most_others];  // by rank, without this one
  device::Progress gather, dot;
  Word blocks = 0;
  Word warps = 0;  // of a block: the first ones, which have its elements; the same on all ranks
  Word rank = 0, others = 0;
  Word elements = 0;  // of this rank

  // In a step of GATHER: the sums of an iteration in the merged order, or else of its begin and end.
  TCA_DEVICE static constexpr Word most_shares(bool merged) { return merged ? most_sums : most_sums / 2; }
  // In double words, of a block's shared memory, behind its `room`.
  TCA_DEVICE Word meeting_words() const { return static_cast<Word>(2 * n) + 2 * words_of_shares() + 1; }
  // Of a sum: those of the blocks of all other ranks, and those of the warps of this one.
  TCA_DEVICE Word words_of_shares() const { return (others + warps) * most_sums * blocks; }
};

template <class Group>
class ClusterBlocks {
 public:
  TCA_DEVICE ClusterBlocks(const ClusterRun& run, std::byte* shared, Word block, Group& group)
      : run_(run),
        tile_(run.matrix.tiles[block]),
        block_(block),
        group_(group),
        gathered_(reinterpret_cast<double*>(shared + run.room.bytes)),
        shares_(gathered_ + 2 * run.n),
        gave_up_(reinterpret_cast<Word*>(shares_ + std::size_t{2} * run.words_of_shares())),
        stores_(group.warp() < run.warps) {}

  // Before and after the iterations.
  TCA_DEVICE void begin() {
    if (run_.others > 0) {
      gather_step_ = run_.gather.last();
      dot_step_ = run_.dot.last();
    }
    if (group_.lane() == 0) gave_up_[0] = gave_up_[1] = 0;
    meet();
  }
  TCA_DEVICE void end() {
    meet();
    if (run_.others == 0 || !is_first()) return;
    run_.gather.keep(gather_step_, group_.lane(), group_.lanes());
    run_.dot.keep(dot_step_, group_.lane(), group_.lanes());
  }

  TCA_DEVICE Word lane() const { return group_.lane(); }
  TCA_DEVICE Word lanes() const { return group_.lanes(); }
  TCA_DEVICE Word own() const { return tile_.own; }
  TCA_DEVICE bool is_first() const { return block_ == 0; }
  TCA_DEVICE bool goes_on() const { return agreed_; }

  template <class Act>
  TCA_DEVICE void for_columns(const Act& act) const {
    const double* const from = gathered(publication_);
    for (Word c = group_.lane(); c < tile_.columns; c += group_.lanes()) act(c, from[c]);
  }

  // To the blocks of this rank; `add` sends it to the others.
  TCA_DEVICE void publish(Word i, double value) const {
    double* const here = own_part(publication_ + 1) + i;
    *here = value;
    for (Word to = block_ + 1; to < run_.blocks; ++to) *group_.in(to, here) = value;
    for (Word to = 0; to < block_; ++to) *group_.in(to, here) = value;
  }

  template <Word count>
  TCA_DEVICE bool add(double (&values)[count], bool publishes) {
    if (!agreed_) return false;
    ++sum_;
    if (publishes) {
      ++publication_;
      ++gather_step_;
    } else {
      ++dot_step_;
    }
    if (stores_) tell_cluster(values);
    group_.sync();  // what this block is done reading others may overwrite behind the barrier of the cluster
    group_.arrive(stores_);
    if (run_.others > 0 && good_) {
      send(count, publishes);
      receive(count, publishes);
    }
    group_.wait();
    if (run_.others > 0) good_ = group_.all(good_);
    agreed_ = gave_up_[sum_ % 2] == 0;
    add_shares(values);
    return good_ && agreed_;
  }

  TCA_DEVICE void multiply(double* q) const {
    group_.multiply(run_, tile_, 0, q);
    group_.sync();
  }

 private:
  TCA_DEVICE double* gathered(Word publication) const { return gathered_ + publication % 2 * run_.n; }
  TCA_DEVICE double* own_part(Word publication) const {
    return gathered(publication) + run_.first_row + tile_.own_begin;
  }
  // In the present sum those of the blocks of another rank, as they lie in its put.
  TCA_DEVICE double* shares_of(Word link) const { return shares() + link * most_sums * run_.blocks; }
  // Those of the warps of this rank's blocks: of all blocks' first value and first warp, and so on.
  TCA_DEVICE double* share_of_warps(Word value, Word block) const {
    return shares() + (run_.others * most_sums + value * run_.warps) * run_.blocks + block;
  }
  TCA_DEVICE double* shares() const { return shares_ + sum_ % 2 * run_.words_of_shares(); }

  // A block's share, with the same bits here and on other ranks.
  TCA_DEVICE double share_of_block(Word value, Word block) const {
    const double* const share = share_of_warps(value, block);
    double total = share[0];
    for (Word warp = 1; warp < run_.warps; ++warp) total += share[warp * run_.blocks];
    return total;
  }

  TCA_DEVICE void meet() const {
    group_.arrive(true);
    group_.wait();
  }

  // By the warps that have elements. The share in this block goes there by an ordinary store, for `send`.
  template <Word count>
  TCA_DEVICE void tell_cluster(double (&values)[count]) const {
    group_.add_up_warp(values);
    for (Word k = group_.warp_lane(); k < count * run_.blocks; k += group_.warp_lanes()) {
      const Word to = k / count;
      double value = values[0];
      TCA_UNROLL
      for (Word v = 1; v < count; ++v)
        if (k % count == v) value = values[v];
      double* const here = share_of_warps(k % count, block_) + group_.warp() * run_.blocks;
      *(to == block_ ? here : group_.in(to, here)) = value;
    }
    if (good_) return;
    for (Word to = group_.warp_lane(); to < run_.blocks; to += group_.warp_lanes())
      *group_.in(to, gave_up_ + sum_ % 2) = 1;
  }

  // By the last lanes: the first ones have stored in other blocks, and behind what has gone to other GPUs their
  // arrival at the next barrier might have to wait until it is there. A share that the sum does not have is sent as
  // zero.
  TCA_DEVICE void send(Word count, bool publishes) const {
    const Word own = publishes ? tile_.own : 0, step = publishes ? gather_step_ : dot_step_;
    const Word shares = publishes ? ClusterRun::most_shares(run_.merged != 0) : 1;
    const double* const mine = own_part(publication_);
    for (Word k = group_.lanes() - 1 - group_.lane(); k < own + shares; k += group_.lanes()) {
      const Word share = k - own;
      const double value = k < own ? mine[k] : share < count ? share_of_block(share, block_) : 0;
      const Word element =
          k < own ? tile_.own_begin + k : (publishes ? run_.elements : 0) + share * run_.blocks + block_;
      for (Word l = 0; l < run_.others; ++l)
        (publishes ? run_.links[l].gather : run_.links[l].dot).to.write(element, value, step);
    }
  }

  // The lanes are divided among the other ranks, if there are enough.
  TCA_DEVICE void receive(Word count, bool publishes) {
    constexpr Word at_once = 4;
    const Word step = publishes ? gather_step_ : dot_step_;
    const device::WaitLimits& limits = publishes ? run_.gather.limits : run_.dot.limits;
    const Word teams = run_.others < group_.lanes() ? run_.others : group_.lanes();
    const Word team_lanes = group_.lanes() / teams;
    for (Word l = group_.lane() / team_lanes; l < run_.others; l += teams) {
      const ClusterLink& link = run_.links[l];
      const Word elements = publishes ? link.elements : 0;
      double* const vector = gathered(publication_) + link.first;
      double* const shares = shares_of(l);
      const bool all_came = (publishes ? link.gather : link.dot)
                                .from.template read_every<at_once>(
                                    group_.lane() % team_lanes, team_lanes, elements + count * run_.blocks,
                                    step, limits, [&](Word i, double value) {
                                      (i < elements ? vector + i : shares + (i - elements))[0] = value;
                                    });
      good_ = good_ && all_came;
    }
  }

  // Every warp adds by itself.
  template <Word count>
  TCA_DEVICE void add_shares(double (&values)[count]) const {
    TCA_UNROLL
    for (Word v = 0; v < count; ++v) values[v] = 0;
    for (Word b = group_.warp_lane(); b < run_.blocks; b += group_.warp_lanes()) {
      for (Word rank = 0; rank <= run_.others; ++rank) {
        const double* const others = shares_of(rank - (rank > run_.rank ? 1 : 0));
        TCA_UNROLL
        for (Word v = 0; v < count; ++v)
          values[v] += rank == run_.rank ? share_of_block(v, b) : others[v * run_.blocks + b];
      }
    }
    group_.add_up_warp(values);
  }

  const ClusterRun& run_;
  const Tile tile_;
  const Word block_;
  Group& group_;
  double* const gathered_;  // two publications, all of the vector
  double* const shares_;    // two sums: of each rank `most_sums` of each block
  Word* const gave_up_;     // two sums: whether a block of the cluster has come to it without good numbers
  const bool stores_;       // whether this warp stores in other blocks
  Word gather_step_ = 0, dot_step_ = 0;
  Word publication_ = 0, sum_ = 0;
  bool good_ = true;    // whether what this block has waited for has come
  bool agreed_ = true;  // whether all blocks of the cluster were good in the last sum
};

}  // namespace tca::cg
