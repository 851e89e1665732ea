// The sums of a BlockTeam (tca/team.cuh): one block on every rank, a few values, one trip of packets.
#pragma once

#include "tca/device/team.hpp"
#include "tca/device/team_packets.hpp"

namespace tca::device {

class BlockSums {
 public:
  // `lane` is the thread's number among the block's `threads`.
  __device__ BlockSums(const DeviceTeam& team, Word lane, Word threads)
      : team_(team), lane_(lane), threads_(threads) {}

  // Replaces the values by those of all ranks combined, for this thread's share of them; false if it gave
  // up. The block's threads meet before and after.
  template <class T, class Op>
  __device__ bool reduce(T* values, Word count, Word step, Op op) {
    if (count != prepared_) prepare(count);
    if (is_for_warp_ != 0) return lane_ >= warp || combine_in_warp(values, step, op);
    bool good = true;
    for (Word v = lane_; good && v < count; v += threads_) good = combine(values[v], v, step, op);
    return good;
  }

 private:
  static constexpr Word warp = 32;

  // For a thread that combines a value of all ranks: how many others it polls at once. It keeps the places
  // for its packets at these ranks in registers.
  static constexpr Word others_at_once = 3;

  // The lanes of the block's first warp.
  struct FirstWarp {
    __device__ bool all(bool mine) const { return __all_sync(0xffffffffu, mine) != 0; }
  };

  // What a thread needs for so many values, worked out once: with few values, which is its own of which rank, and
  // where its packets are, since the division alone takes a tenth of what a sum does.
  __device__ void prepare(Word count) {
    prepared_ = count;
    is_for_warp_ = count * team_.size <= warp ? 1 : 0;
    if (is_for_warp_ == 0) {
#pragma unroll
      for (Word k = 0; k < others_at_once; ++k)
        if (k + 1 < team_.size) to_[k] = team_.theirs[other(k)];
      return;
    }
    partner_ = lane_ / count;
    number_ = lane_ % count;
    link_ = partner_ < team_.size && partner_ != team_.rank ? partner_ : no_link;
    from_ = team_.mine;
    if (link_ == no_link) return;
    to_[0] = team_.theirs[partner_] + number_;
    from_ += partner_ * 2 * team_.max_values + number_;
  }
  // The k-th of the other ranks.
  __device__ Word other(Word k) const { return k < team_.rank ? k : k + 1; }

  // One thread, one value of every rank. A scheduler has few warps of a block, so each instruction before
  // the first store, or after the last arrival, makes the sum longer.
  template <class T, class Op>
  __device__ bool combine(T& at, Word number, Word step, Op op) const {
    const std::uint64_t own = bits_of(at);
    const Packet packet = Packet::of(own, step);
    const Word place = step % 2 * team_.max_values + number, others = team_.size - 1;
#pragma unroll
    for (Word k = 0; k < others_at_once; ++k)
      if (k < others) to_[k][place].write(packet);
#pragma unroll 1
    for (Word k = others_at_once; k < others; ++k) team_.theirs[other(k)][place].write(packet);
    Packet got[others_at_once];
    bool good = await_others(place, 0, step, got);
    // In the order of the ranks. This one is among the first ones, or comes before the first other with a larger number.
    T total = of_rank<T>(0, own, got);
#pragma unroll
    for (Word r = 1; r <= others_at_once; ++r)
      if (r <= others && (r < others_at_once || team_.rank <= others_at_once))
        total = op(total, of_rank<T>(r, own, got));
    const bool is_left = team_.rank > others_at_once;
#pragma unroll 1
    for (Word first = others_at_once; good && first < others; first += others_at_once) {
      good = await_others(place, first, step, got);
#pragma unroll
      for (Word k = 0; k < others_at_once; ++k) {
        if (first + k >= others) break;
        if (is_left && first + k == team_.rank) total = op(total, value_of<T>(own));
        total = op(total, value_of<T>(got[k].data()));
      }
    }
    if (is_left && team_.rank == others) total = op(total, value_of<T>(own));
    if (good) at = total;
    return good;
  }
  // The value of one of the first ranks.
  template <class T>
  __device__ T of_rank(Word r, std::uint64_t own, const Packet (&got)[others_at_once]) const {
    const std::uint64_t not_below = r == 0 || r == team_.rank ? own : got[r - 1].data();
    return value_of<T>(r < others_at_once && r < team_.rank ? got[r].data() : not_below);
  }
  // Waits for the packets at a place of some of the others, and loads all of them again as long as one is
  // missing: one after the other they would take a trip to the L2 each.
  __device__ bool await_others(Word place, Word first, Word step, Packet (&got)[others_at_once]) const {
    const Word others = keep_in_register(team_.size - 1);
    const Packet* at[others_at_once];
#pragma unroll
    for (Word k = 0; k < others_at_once; ++k)
      at[k] = keep_in_register(team_.mine + (place + other(first + k) * 2 * team_.max_values));
    BoundedWait waiting(team_.limits, step);
    for (;;) {
#pragma unroll
      for (Word k = 0; k < others_at_once; ++k)
        if (first + k < others) got[k] = at[k]->read_once();
      Word missing = no_link;
#pragma unroll
      for (Word k = 0; k < others_at_once; ++k)
        if (first + k < others && !got[k].carries(step)) missing = first + k;
      if (missing == no_link) return true;
      if (!waiting.keep_polling_for([&] { return other(missing); })) return false;
    }
  }

  // A lane for each value of each rank. All poll together, those without a partner for nothing, so that no
  // lane has to wait for others that are elsewhere.
  template <class T, class Op>
  __device__ bool combine_in_warp(T* values, Word step, Op op) const {
    std::uint64_t raw = partner_ < team_.size ? bits_of(values[number_]) : 0;
    const bool has_partner = link_ != no_link;
    const Word set = step % 2 * team_.max_values;
    if (has_partner) to_[0][set].write(Packet::of(raw, step));
    const Packet* const from = from_ + set;
    BoundedWait waiting(team_.limits, step);
    Packet packet = from->read_once();
    while (!FirstWarp().all(!has_partner || packet.carries(step))) {
      // Only lanes that still wait report for whom.
      const bool waits = has_partner && !packet.carries(step);
      if (!waiting.keep_polling(waits ? link_ : no_link, FirstWarp())) return false;
      packet = from->read_once();
    }
    if (has_partner) raw = packet.data();
    const auto of_rank = [&](Word r) {
      return value_of<T>(__shfl_sync(0xffffffffu, raw, r * prepared_ + number_));
    };
    T total = of_rank(0);
#pragma unroll
    for (Word r = 1; r <= others_at_once; ++r)
      if (r < team_.size) total = op(total, of_rank(r));
#pragma unroll 1
    for (Word r = others_at_once + 1; r < team_.size; ++r) total = op(total, of_rank(r));
    __syncwarp();  // every lane has read its value
    if (partner_ == 0) values[number_] = total;
    return true;
  }

  const DeviceTeam& team_;
  const Word lane_, threads_;
  // What a thread has prepared for sums of `prepared_` values; see `prepare`.
  Word prepared_ = ~Word{0}, partner_ = 0, number_ = 0, link_ = no_link;
  Flag is_for_warp_ = 0;
  Packet* to_[others_at_once] = {};
  const Packet* from_ = nullptr;
};

}  // namespace tca::device
