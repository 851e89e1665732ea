// The sums of teams (tca/team.cuh) by packets: one block's part in them.
//
// `ThreadGroup` is a block on a GPU; on the host threads stand for its lanes. See stores.hpp.
#pragma once

#include <cstring>

#include "tca/device/packet.hpp"
#include "tca/device/team.hpp"
#include "tca/device/wait_limits.hpp"

namespace tca::device {

template <class T>
TCA_DEVICE std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "teams combine values of 4 and 8 bytes");
  std::uint64_t bits = 0;
  memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
TCA_DEVICE T value_of(std::uint64_t bits) {
  T value;
  memcpy(&value, &bits, sizeof(T));
  return value;
}

// So many packets are loaded at once, since each takes a trip to the L2.
inline constexpr Word packets_at_once = 4;

// Waits for a packet from each of the ranks from `first` on, of which there are up to `packets_at_once`
// below `end`, except `own`, which sends itself nothing. They are `pitch` apart from `mine` on, by rank,
// and are the ones awaited once their upper half is `flag`. As long as one is missing, all are loaded
// again: one after the other they would take a trip each even if they had arrived long ago.
TCA_DEVICE bool await_packets(const WaitLimits& limits, Word step, const Packet* mine, Word pitch, Word first,
                              Word end, Word own, std::uint64_t flag, Packet (&got)[packets_at_once]) {
  BoundedWait waiting(limits, step);
  for (;;) {
    TCA_UNROLL
    for (Word k = 0; k < packets_at_once; ++k) {
      if (first + k < end && first + k != own)
        got[k] = mine[static_cast<std::size_t>((first + k) * pitch)].read_once();
    }
    Word missing = no_link;
    TCA_UNROLL
    for (Word k = 0; k < packets_at_once; ++k) {
      if (first + k < end && first + k != own && got[k].high != flag) missing = first + k;
    }
    if (missing == no_link) return true;
    if (!waiting.keep_polling(missing)) return false;
  }
}

// What a team combines over all blocks of all ranks: the calling block's part of a step.
//
// With few values every block sends its own to every rank, and adds up what has arrived from all blocks of
// all ranks: one trip. With more, a rank's blocks first divide the values among them, each adds up its own
// over the blocks of this rank and sends it to every rank, and every block then adds up the ranks: two
// trips, and far fewer packets to read.
//
// Each place is used again two steps later, which is safe: a block completes a step only when every block
// of every rank has sent in it, and so has completed the one before.
//
// A packet also carries the number of blocks, which is the same on every rank. Packets of a grid of another
// size are never mistaken for those that are awaited, and the time limit says whose they were.
struct GridStep {
  const DeviceTeam& team;
  Word step, block, blocks;
  bool everywhere;  // orders memory for all ranks, and not for this one's blocks alone

  // The numbers that a block's lanes share: a row of `width` for each value that they combine at once.
  static constexpr Word scratch_size = 512;
  static constexpr Word fan = 8;

  static TCA_DEVICE Word least(Word a, Word b) { return a < b ? a : b; }
  TCA_DEVICE Word width() const { return least(blocks, scratch_size); }

  TCA_DEVICE bool in_one_trip(Word count) const {
    // By all blocks of a rank: 2 MB, which take the L2 some 0.7 us, as long as another trip.
    constexpr std::uint64_t most_packets_read = 1 << 17;
    return count * blocks <= scratch_size &&
           std::uint64_t{blocks} * blocks * team.size * count <= most_packets_read;
  }

  TCA_DEVICE std::uint64_t flag() const { return std::uint64_t{step} << 32 | blocks; }
  TCA_DEVICE Word pitch() const { return 2 * team.max_values * (team.max_blocks + 1); }
  // The place, among the packets of a rank that are from one sender, of a value of a block, or of the
  // sender's total: that of block `max_blocks`.
  TCA_DEVICE Word place(Word value, Word of_block) const {
    return (step % 2 * team.max_values + value) * (team.max_blocks + 1) + of_block;
  }
  // These packets come after those that single blocks exchange.
  TCA_DEVICE const Packet* mine() const {
    return team.mine + static_cast<std::size_t>(2 * team.size * team.max_values);
  }
  TCA_DEVICE void send(Word to, Word at, std::uint64_t bits) const {
    Packet* const theirs =
        team.theirs[to] + static_cast<std::size_t>(2 * (team.size - team.rank) * team.max_values);
    const Word data[]{static_cast<Word>(bits), static_cast<Word>(bits >> 32), blocks};
    theirs[static_cast<std::size_t>(team.rank * pitch() + at)].write(Packet::of(data, step));
  }
  TCA_DEVICE void fence() const { everywhere ? fence_system() : fence_gpu(); }
  // Pairs with the fence of a packet's sender, if the step orders what that has stored. It is one more
  // load, which finds the packet in the L2; a fence would take three times as long on an H100 (0.9 us).
  TCA_DEVICE void acquire(Word from, const Packet& packet) const {
    if (everywhere)
      packet.read_acquire();
    else if (from == team.rank)
      packet.read_acquire_gpu();
  }

  // Combines a value of the ranks from `first` to `end`, in their order, each from the place `at`.
  template <class T, class Op>
  TCA_DEVICE bool over_ranks(Word at, Word first, Word end, Op op, T& total) const {
    bool begun = false;
    for (Word rank = first; rank < end; rank += packets_at_once) {
      Packet got[packets_at_once];
      if (!await_packets(team.limits, step, mine() + at, pitch(), rank, end, no_link, flag(), got))
        return false;
      TCA_UNROLL
      for (Word k = 0; k < packets_at_once; ++k) {
        if (rank + k >= end) break;
        acquire(rank + k, mine()[static_cast<std::size_t>((rank + k) * pitch() + at)]);
        const T value = value_of<T>(got[k].data());
        total = begun ? op(total, value) : value;
        begun = true;
      }
    }
    return true;
  }

  // Combines `count` values from `value` on over the ranks from `first` to `end`, by block, into rows of
  // `scratch`.
  template <class T, class Op, class ThreadGroup>
  TCA_DEVICE bool into_rows(Word value, Word count, Word first, Word end, Op op, std::uint64_t* scratch,
                            const ThreadGroup& group) const {
    const Word width = this->width();
    bool good = true;
    for (Word i = group.lane(); good && i < count * width; i += group.lanes()) {
      const Word v = count == 1 ? 0 : i / width;
      T total{};
      for (Word b = i - v * width; good && b < blocks; b += width) {
        T next{};
        good = over_ranks(place(value + v, b), first, end, op, next);
        total = b < width ? next : op(total, next);
      }
      scratch[i] = bits_of(total);
    }
    return group.all(good);
  }

  // Combines each row to its first number.
  template <class T, class Op, class ThreadGroup>
  TCA_DEVICE void to_first(Word count, Op op, std::uint64_t* scratch, const ThreadGroup& group) const {
    const Word width = this->width();
    for (Word left = width; left > 1;) {
      const Word next = (left + fan - 1) / fan;
      for (Word i = group.lane(); i < count * next; i += group.lanes()) {
        const Word v = count == 1 ? 0 : i / next, at = v * width + i - v * next, end = v * width + left;
        std::uint64_t bits[fan];
        TCA_UNROLL
        for (Word k = 0; k < fan; ++k) bits[k] = at + k * next < end ? scratch[at + k * next] : 0;
        T total = value_of<T>(bits[0]);
        TCA_UNROLL
        for (Word k = 1; k < fan; ++k)
          if (at + k * next < end) total = op(total, value_of<T>(bits[k]));
        scratch[at] = bits_of(total);
      }
      left = next;
      group.sync();
    }
  }

  // Replaces the block's `count` values by the combination of those of all blocks of all ranks; false, on
  // every lane, if it gave up. `scratch` has `scratch_size` numbers, which the block's lanes share. What
  // any block of this rank (of any, if `everywhere`) has stored before it is visible to every one after it.
  template <class T, class Op, class ThreadGroup>
  TCA_DEVICE bool reduce(T* values, Word count, Op op, std::uint64_t* scratch,
                         const ThreadGroup& group) const {
    group.sync();
    const bool good = in_one_trip(count) ? in_one(values, count, op, scratch, group)
                                         : in_two(values, count, op, scratch, group);
    return group.all(good);
  }

 private:
  // Calls send(i) for i below `count` on `lanes` of the block's lanes, after a fence if `fenced`. They are
  // counted from the last one, without `skipped`: the first ones read packets.
  template <class ThreadGroup, class Send>
  TCA_DEVICE void send_by(Word skipped, Word lanes, Word count, bool fenced, const ThreadGroup& group,
                          const Send& send) const {
    const Word mine = group.lanes() - 1 - group.lane() - skipped;
    if (mine >= lanes || mine >= count) return;
    if (fenced) fence();  // pairs with `acquire`
    for (Word i = mine; i < count; i += lanes) send(i);
  }
  template <class ThreadGroup, class Send>
  TCA_DEVICE void send_each(Word count, const ThreadGroup& group, const Send& send) const {
    send_by(0, group.lanes(), count, true, group, send);
  }

  // The target of a value's i-th packet: first the next rank, so that not all send to the same one.
  TCA_DEVICE Word target(Word i) const {
    const Word to = team.rank + 1 + i;
    return to >= team.size ? to - team.size : to;
  }

  // Packets to other ranks order nothing, unless the step does so everywhere. So they need not wait for the
  // fence before those to the blocks of this rank, nor that fence for them: other warps send them.
  template <class T, class ThreadGroup>
  TCA_DEVICE void send_shares(const T* values, Word count, const ThreadGroup& group) const {
    const auto send_to = [&](Word ranks) {
      return [this, values, count, ranks](Word i) {
        const Word v = count == 1 ? 0 : i / ranks;
        send(target(i - v * ranks), place(v, block), bits_of(values[v]));
      };
    };
    const Word half = group.lanes() / 2, others = team.size - 1;
    if (everywhere || half == 0 || half % 32 != 0)
      return send_each(count * team.size, group, send_to(team.size));
    send_by(0, half, count * others, false, group, send_to(others));
    send_by(half, half, count, true, group,
            [&](Word v) { send(team.rank, place(v, block), bits_of(values[v])); });
  }

  template <class T, class Op, class ThreadGroup>
  TCA_DEVICE bool in_one(T* values, Word count, Op op, std::uint64_t* scratch,
                         const ThreadGroup& group) const {
    send_shares(values, count, group);
    if (!into_rows<T>(0, count, 0, team.size, op, scratch, group)) return false;
    to_first<T>(count, op, scratch, group);
    for (Word v = group.lane(); v < count; v += group.lanes()) values[v] = value_of<T>(scratch[v * blocks]);
    return true;
  }

  template <class T, class Op, class ThreadGroup>
  TCA_DEVICE bool in_two(T* values, Word count, Op op, std::uint64_t* scratch,
                         const ThreadGroup& group) const {
    send_each(count, group, [&](Word v) { send(team.rank, place(v, block), bits_of(values[v])); });
    // This block's values, as many at a time as there are rows for.
    const Word each = (count + blocks - 1) / blocks, end = least(count, (block + 1) * each);
    const Word at_once = scratch_size / width();
    for (Word first = block * each; first < end; first += at_once) {
      const Word values_now = least(at_once, end - first);
      if (!into_rows<T>(first, values_now, team.rank, team.rank + 1, op, scratch, group)) return false;
      to_first<T>(values_now, op, scratch, group);
      send_each(values_now * team.size, group, [&](Word i) {
        const Word v = i / team.size;
        send(target(i - v * team.size), place(first + v, team.max_blocks), scratch[v * width()]);
      });
      group.sync();  // before the next values take the scratch
    }
    bool good = true;
    for (Word v = group.lane(); good && v < count; v += group.lanes()) {
      T total{};
      good = over_ranks(place(v, team.max_blocks), 0, team.size, op, total);
      values[v] = total;
    }
    return good;
  }
};

}  // namespace tca::device
