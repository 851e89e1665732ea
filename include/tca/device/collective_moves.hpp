// A large collective as one kernel: ranks load from each other's inputs and store into each other's outputs,
// without a buffer.
//
// Two kinds of flags order it. "Ready" says that this rank has reached the step, so its input may be read
// and its output written. "Done", one for each block, says that this block has read and written what it had
// to at the others. A step begins with everybody's "ready" and ends with everybody's "done", so steps of
// different ranks never overlap and flags only ever grow. A barrier is the first half of it.
//
// In between, every byte crosses a link as few times as possible, in both directions at once:
//  - allreduce: loads its slice of everybody's input, combines, and stores the result at everybody;
//  - broadcast: each rank except the root loads its slice from the root, and stores it at all the others;
//  - reduce-scatter: loads, combines; allgather and all-to-all: store.
//
// `ThreadGroup` carries a part of the moves: a block on a GPU, a thread on the host; see stores.hpp.
#pragma once

#include "tca/device/reduction.hpp"
#include "tca/device/stores.hpp"
#include "tca/device/window.hpp"

namespace tca::device {

struct CollectiveMoves {
  // fan: the values of all `from` go, combined where there are several, to all `to`. pairs: each `from` goes
  // to its own `to`. swaps: each `from` and its own `to` change places.
  enum class Way : std::uint8_t { nothing, fan, pairs, swaps };

  Word rank = 0, size = 1;
  Way way = Way::nothing;
  bool moves_data = false;  // whether any rank moves data: then the step ends with "done"
  Word atom_bytes = 0;      // 1, 2, 4, 8 or 16; it divides all addresses here
  Word sources = 0, targets = 0;
  std::byte* from[max_ranks] = {};
  std::byte* to[max_ranks] = {};
  std::uint64_t bytes[max_ranks] = {};  // of each pair; a fan has only the first
  // The flags that this rank raises at each rank, `size` words apart: "ready", and then one "done" per
  // block. `mine` are those that the others raise here: for each of these flags, one word per sender.
  Word* theirs[max_ranks] = {};
  const Word* mine = nullptr;
  Word* steps = nullptr;  // by block: the last finished step
  Word* count = nullptr;  // counts the blocks that are through with a step
  WaitLimits limits;
};

// Sets flag `number` of this rank's at every other rank to `step`, one lane for each rank. It comes after
// whatever the group has stored and loaded before.
template <class ThreadGroup>
TCA_DEVICE void raise_flags(const CollectiveMoves& all, Word number, Word step, const ThreadGroup& group) {
  group.sync();
  for (Word to = group.lane(); to < all.size; to += group.lanes())
    if (to != all.rank) store_release(all.theirs[to] + static_cast<std::size_t>(number * all.size), step);
}

// Waits for the flags that `raise_flags` sets; false, on every lane, if one of them gave up.
template <class ThreadGroup>
TCA_DEVICE bool await_flags(const CollectiveMoves& all, Word number, Word step, const ThreadGroup& group) {
  bool good = true;
  for (Word from = group.lane(); good && from < all.size; from += group.lanes())
    good = from == all.rank ||
           await(all.mine + static_cast<std::size_t>(number * all.size + from), step, from, all.limits);
  return group.all(good);
}

// A lane among those that share a range.
struct LaneOf {
  std::uint64_t lane, lanes;
};

// Calls `act(at)` for each `wide` atoms that a lane has at once of the bytes from `begin` to `end`: `at(k)` is the
// offset of atom k, which may lie behind the end. Every lane has an atom before any has a second one.
template <Word wide, class Atom, class Do>
TCA_DEVICE void each_atoms(std::uint64_t begin, std::uint64_t end, const LaneOf& share, const Do& act) {
  const std::uint64_t stride = share.lanes * sizeof(Atom);
  for (std::uint64_t first = begin + share.lane * sizeof(Atom); first < end; first += stride * wide)
    act([&](Word k) { return first + k * stride; });
}

// Moves the bytes from `begin` to `end` as a fan. The loads of `wide` atoms of each of `deep` sources are
// in flight at once.
template <class Kind, class Atom>
TCA_DEVICE void move_fan(const CollectiveMoves& all, std::uint64_t begin, std::uint64_t end,
                         const LaneOf& share) {
  constexpr Word deep = Kind::combines ? 4 : 1, wide = Kind::combines ? 2 : 4;
  each_atoms<wide, Atom>(begin, end, share, [&](const auto& at) {
    Atom total[wide] = {};
    for (Word first = 0; first < all.sources; first += deep) {
      Atom got[deep][wide] = {};
      TCA_UNROLL
      for (Word s = 0; s < deep; ++s) {
        TCA_UNROLL
        for (Word k = 0; k < wide; ++k) {
          if (first + s < all.sources && at(k) < end)
            got[s][k] = *reinterpret_cast<const Atom*>(all.from[first + s] + at(k));
        }
      }
      TCA_UNROLL
      for (Word s = 0; s < deep; ++s) {
        if (first + s >= all.sources) break;
        TCA_UNROLL
        for (Word k = 0; k < wide; ++k) {
          if constexpr (Kind::combines) {
            if (first + s > 0) got[s][k] = Kind::combine(total[k], got[s][k]);
          }
          total[k] = got[s][k];
        }
      }
    }
    for (Word t = 0; t < all.targets; ++t) {
      TCA_UNROLL
      for (Word k = 0; k < wide; ++k)
        if (at(k) < end) *reinterpret_cast<Atom*>(all.to[t] + at(k)) = total[k];
    }
  });
}

template <class Atom>
TCA_DEVICE void move_pair(std::byte* from, std::byte* to, bool swaps, std::uint64_t begin, std::uint64_t end,
                          const LaneOf& share) {
  constexpr Word wide = 4;
  each_atoms<wide, Atom>(begin, end, share, [&](const auto& at) {
    Atom there[wide] = {}, back[wide] = {};
    TCA_UNROLL
    for (Word k = 0; k < wide; ++k) {
      if (at(k) >= end) break;
      there[k] = *reinterpret_cast<const Atom*>(from + at(k));
      if (swaps) back[k] = *reinterpret_cast<const Atom*>(to + at(k));
    }
    TCA_UNROLL
    for (Word k = 0; k < wide; ++k) {
      if (at(k) >= end) break;
      *reinterpret_cast<Atom*>(to + at(k)) = there[k];
      if (swaps) *reinterpret_cast<Atom*>(from + at(k)) = back[k];
    }
  });
}

template <class Kind, class Atom>
TCA_DEVICE void move_range(const CollectiveMoves& all, Word pair, std::uint64_t begin, std::uint64_t end,
                           const LaneOf& share) {
  if (Kind::combines || all.way == CollectiveMoves::Way::fan) {
    move_fan<Kind, Atom>(all, begin, end, share);
  } else if constexpr (!Kind::combines) {
    move_pair<Atom>(all.from[pair], all.to[pair], all.way == CollectiveMoves::Way::swaps, begin, end, share);
  }
}

// Moves a whole pair or fan, in atoms as wide as the addresses allow, and the rest at the end in narrow ones.
template <class Kind>
TCA_DEVICE void move_whole(const CollectiveMoves& all, Word pair, const LaneOf& share) {
  const std::uint64_t end = all.bytes[pair], wide_end = end / 16 * 16;
  if constexpr (Kind::combines) {
    using Element = typename Kind::Element;
    if (all.atom_bytes == 16) {
      move_range<Kind, Atom16>(all, pair, 0, wide_end, share);
      move_range<Kind, Element>(all, pair, wide_end, end, share);
    } else {
      move_range<Kind, Element>(all, pair, 0, end, share);
    }
  } else {
    switch (all.atom_bytes) {
      case 16:
        move_range<Kind, Atom16>(all, pair, 0, wide_end, share);
        break;
      case 8:
        move_range<Kind, std::uint64_t>(all, pair, 0, wide_end, share);
        break;
      case 4:
        move_range<Kind, std::uint32_t>(all, pair, 0, wide_end, share);
        break;
      default:
        move_range<Kind, std::uint8_t>(all, pair, 0, wide_end, share);
    }
    move_range<Kind, std::uint8_t>(all, pair, wide_end, end, share);
  }
}

// Moves a part's share. If there are enough parts they divide the pairs among them, so that none waits for
// the loads of one pair after those of another.
template <class Kind, class ThreadGroup>
TCA_DEVICE void move_part(const CollectiveMoves& all, const ThreadGroup& group) {
  const Word pairs = all.way == CollectiveMoves::Way::fan ? 1 : all.targets;
  if (all.way == CollectiveMoves::Way::nothing || pairs == 0) return;
  const Word together = group.parts() < pairs ? 1 : pairs;  // pairs that are moved at the same time
  const std::uint64_t part = group.part() / together;
  const std::uint64_t parts = (group.parts() - group.part() % together + together - 1) / together;
  const LaneOf share{part * group.lanes() + group.lane(), parts * group.lanes()};
  for (Word pair = group.part() % together; pair < pairs; pair += together)
    move_whole<Kind>(all, pair, share);
}

// Says "ready". The first block does so for all, since it runs only when every block of the kernel before
// is done. A barrier releases whatever earlier kernels have stored, at other ranks, too. In other
// collectives "ready" is about this rank's own memory, and on a GPU it needs no release, which would take
// 0.5 us: what earlier kernels have stored there is in the L2 by then, where the others read and write.
// (NCCL's kernels on symmetric windows begin in the same way.)
template <class ThreadGroup>
TCA_DEVICE void begin_moves(const CollectiveMoves& all, Word step, const ThreadGroup& group) {
  if (group.part() != 0) return;
#ifdef __CUDA_ARCH__
  if (all.moves_data) {
    for (Word to = group.lane(); to < all.size; to += group.lanes())
      if (to != all.rank) store_relaxed(all.theirs[to], step);
    return;
  }
#endif
  raise_flags(all, 0, step, group);
}

// The rest of the step; false, on every lane, if one of them gave up.
template <class Kind, class ThreadGroup>
TCA_DEVICE bool finish_moves(const CollectiveMoves& all, Word step, const ThreadGroup& group) {
  if (!await_flags(all, 0, step, group)) return false;
  if (!all.moves_data) return true;
  move_part<Kind>(all, group);
  raise_flags(all, 1 + group.part(), step, group);
  return await_flags(all, 1 + group.part(), step, group);
}

}  // namespace tca::device
