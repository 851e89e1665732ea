// How the blocks of a cluster meet each other and those of other ranks, for an iteration (iteration.hpp).
//
// A rank has one cluster, and all that a block uses lies in its shared memory. Blocks store what they publish, and
// their warps' shares of sums, straight into each other's. A store tells the other block's hardware that it has come,
// and a block waits until all that belongs to a sum has: nobody fences, and there is no barrier. To other ranks
// both travel as elements of a produced put, which has no guard. Every block reads what comes by itself, and adds up all
// shares in the same order as all others.
//
// Two chains take turns: steps of GATHER bring a publication with the shares of a sum, and those of DOT shares alone.
// What is published and what is summed have two places each. A block stores publication n + 2 once the sum with
// publication n + 1 is over, to which each block, of whatever rank, has come only after it had read publication n;
// shares alike. That is also what the chains' missing guard asks for.
//
// Nobody may leave a cluster alone, because others store into its memory and wait for it. One that has waited for
// another rank in vain goes on, with numbers that nobody will read, and brings NaN to the next sum, behind which all
// leave.
//
// `Group` is a block on a GPU and a thread on the host, as for GridBlocks. Beside what it has there it has
//   store(block, here, value)  stores where in a block's shared memory `here` is in this one's
//   wait(bytes)                for so many that all blocks together store here between two waits of theirs
//   meet()                     a barrier of the cluster
//   warp(), warp_lane(), warp_lanes()
//   add_up_warp(values)        each of `values` over the lanes of a warp, on every lane
//   all_of_warp(good)          whether all its lanes are good
#pragma once

#include "cg/gpu/iteration.hpp"
#include "tca/device/produced.hpp"

namespace tca::cg {

// What goes to another rank and comes from there. An element of the vector or a share of a sum is one packet; shares
// lie behind the elements: of each value, by warp, of all blocks.
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
  TCA_DEVICE Word sources() const { return warps * blocks; }  // of a rank
  // In double words, of a block's shared memory, behind its `room`.
  TCA_DEVICE Word meeting_words() const {
    return static_cast<Word>(2 * n) + 2 * (others + 1) * most_sums * sources();
  }
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
        has_elements_(group.warp() < run.warps) {}

  // Before and after the iterations.
  TCA_DEVICE void begin() {
    if (run_.others > 0) {
      gather_step_ = run_.gather.last();
      dot_step_ = run_.dot.last();
    }
    group_.meet();
  }
  TCA_DEVICE void end() {
    group_.meet();
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

  // First to other ranks, where it takes longest.
  TCA_DEVICE void publish(Word i, double value) const {
    if (!agreed_) return;
    for (Word l = 0; l < run_.others && good_; ++l)
      run_.links[l].gather.to.write(tile_.own_begin + i, value, gather_step_ + 1);
    double* const here = gathered(publication_ + 1) + run_.first_row + tile_.own_begin + i;
    for (Word to = block_; to < run_.blocks; ++to) group_.store(to, here, value);
    for (Word to = 0; to < block_; ++to) group_.store(to, here, value);
  }

  template <Word count>
  TCA_DEVICE bool add(double (&values)[count], bool publishes) {
    if (!agreed_) return false;
    group_.sync();  // whoever gets this block's shares may overwrite those that it has read
    ++sum_;
    if (publishes) {
      ++publication_;
      ++gather_step_;
    } else {
      ++dot_step_;
    }
    if (has_elements_) tell(values, publishes);
    if (run_.others > 0 && good_) receive(count, publishes);
    group_.wait((count * run_.sources() + (publishes ? run_.elements : 0)) * Word{sizeof(double)});
    if (run_.others > 0) good_ = group_.all(good_);
    add_shares(values);
    return good_ && agreed_;
  }

  TCA_DEVICE void multiply(double* q) const {
    group_.multiply(run_, tile_, 0, q);
    group_.sync();
  }

 private:
  TCA_DEVICE double* gathered(Word publication) const { return gathered_ + publication % 2 * run_.n; }
  // Those of a rank in the present sum.
  TCA_DEVICE double* shares_of(Word rank) const {
    return shares_ + (sum_ % 2 * (run_.others + 1) + rank) * most_sums * run_.sources();
  }

  // By the warps that have elements, in all blocks of all ranks.
  template <Word count>
  TCA_DEVICE void tell(double (&values)[count], bool publishes) const {
    group_.add_up_warp(values);
    const auto value_at = [&](Word at) {
      double value = 0;
      TCA_UNROLL
      for (Word v = 0; v < count; ++v)
        if (at == v) value = values[v];
      return good_ ? value : NAN;
    };
    const Word source = group_.warp() * run_.blocks + block_, sources = run_.sources();
    // In a step of GATHER there are as many as in the largest sum.
    const Word shares = publishes ? ClusterRun::most_shares(run_.merged != 0) : 1;
    for (Word k = group_.warp_lane(); good_ && k < shares * run_.others; k += group_.warp_lanes()) {
      const ClusterLink& link = run_.links[k / shares];
      const Word element = (publishes ? run_.elements : 0) + k % shares * sources + source;
      (publishes ? link.gather : link.dot)
          .to.write(element, value_at(k % shares), publishes ? gather_step_ : dot_step_);
    }
    for (Word k = group_.warp_lane(); k < count * run_.blocks; k += group_.warp_lanes()) {
      double* const here = shares_of(run_.rank) + k % count * sources + source;
      group_.store(k / count, here, value_at(k % count));
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
      double* const shares = shares_of(l < run_.rank ? l : l + 1);
      const bool all_came = (publishes ? link.gather : link.dot)
                                .from.template read_every<at_once>(
                                    group_.lane() % team_lanes, team_lanes, elements + count * run_.sources(),
                                    step, limits, [&](Word i, double value) {
                                      (i < elements ? vector + i : shares + (i - elements))[0] = value;
                                    });
      good_ = good_ && all_came;
    }
  }

  // Every warp adds by itself.
  template <Word count>
  TCA_DEVICE void add_shares(double (&values)[count]) {
    TCA_UNROLL
    for (Word v = 0; v < count; ++v) values[v] = 0;
    bool numbers = true;
    for (Word rank = 0; rank <= run_.others; ++rank) {
      const double* const shares = shares_of(rank);
      for (Word s = group_.warp_lane(); s < run_.sources(); s += group_.warp_lanes()) {
        TCA_UNROLL
        for (Word v = 0; v < count; ++v) values[v] += shares[v * run_.sources() + s];
        numbers = numbers && (rank != run_.rank || !std::isnan(shares[s]));
      }
    }
    group_.add_up_warp(values);
    agreed_ = group_.all_of_warp(numbers);
  }

  const ClusterRun& run_;
  const Tile tile_;
  const Word block_;
  Group& group_;
  double* const gathered_;   // two publications, all of the vector
  double* const shares_;     // two sums: of each rank `most_sums` of each warp that has elements
  const bool has_elements_;  // of this warp
  Word gather_step_ = 0, dot_step_ = 0;
  Word publication_ = 0, sum_ = 0;
  bool good_ = true;    // whether what this block has waited for has come
  bool agreed_ = true;  // whether all blocks of the cluster were good in the last sum
};

}  // namespace tca::cg
