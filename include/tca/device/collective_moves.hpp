// A large collective as one kernel: ranks load from each other's inputs and store into each other's outputs, past any buffer.
//
// Two flags order it. "Ready": this rank has come to the step, so its input may be read and its output written. "Done", one
// for each block: this block has read and written what it had to at the others. A step begins with everybody's "ready" and
// ends with everybody's "done", so steps of different ranks never overlap and flags only ever grow. A barrier is the first
// half of it.
//
// What a rank does in between is such that every byte crosses a link as seldom as can be, in both directions at once:
//  - allreduce: loads its slice of everybody's input, combines, and stores the result at everybody;
//  - broadcast: each rank but the root loads its slice from the root, and stores it at all the others;
//  - reduce-scatter: loads, combines; allgather and all-to-all: store.
//
// `Block` is what carries the moves: a block on a GPU, a thread on the host; see stores.hpp.
#pragma once

#include "tca/device/reduction.hpp"
#include "tca/device/stores.hpp"
#include "tca/device_window.hpp"

namespace tca::device {

struct CollectiveMoves {
  // fan: the values of all `from`, combined where there are several, to all `to`. pairs: each `from` to its own `to`.
  // swaps: each `from` and its own `to` change places.
  enum class Way : std::uint8_t { nothing, fan, pairs, swaps };

  Word rank = 0, size = 1;
  Way way = Way::nothing;
  bool moves_data = false;  // some rank does: the step ends with "done"
  Word atom_bytes = 0;      // 1, 2, 4, 8 or 16: divides all addresses here
  Word sources = 0, targets = 0;
  std::byte* from[max_ranks] = {};
  std::byte* to[max_ranks] = {};
  std::uint64_t bytes[max_ranks] = {};  // of each pair; of a fan the first
  // By rank, the flags that this rank raises there: "ready", then "done" a block, `size` words apart. And here by sender.
  Word* theirs[max_ranks] = {};
  const Word* mine = nullptr;
  Word* steps = nullptr;  // the last finished step, by block
  Word* count = nullptr;  // of blocks that are through with a step
  Patience patience;
};

// One lane for each other rank: flag `number` of this rank's there becomes `step`. What the block has stored before, and
// what it has loaded, comes first.
template <class Block>
TCA_DEVICE void raise_flags(const CollectiveMoves& all, Word number, Word step, const Block& block) {
  block.sync();
  for (Word to = block.lane(); to < all.size; to += block.lanes())
    if (to != all.rank) store_release(all.theirs[to] + number * all.size, step);
}

// Pairs with the release above; false, on every lane, when one of them gave up.
template <class Block>
TCA_DEVICE bool await_flags(const CollectiveMoves& all, Word number, Word step, const Block& block) {
  bool good = true;
  for (Word from = block.lane(); good && from < all.size; from += block.lanes())
    good = from == all.rank || await(all.mine + number * all.size + from, step, from, all.patience);
  return block.all(good);
}

// What falls to a lane of the bytes from `begin` to `end`: stretch by stretch, `at(k)` is the offset of atom k of `wide`; those
// of the last stretch may lie behind the end.
template <Word wide, class Atom, class Block, class Do>
TCA_DEVICE void each_stretch(std::uint64_t begin, std::uint64_t end, const Block& block, const Do& act) {
  const std::uint64_t stride = std::uint64_t{block.parts()} * block.lanes() * wide;
  const std::uint64_t atoms = (end - begin) / sizeof(Atom);
  for (std::uint64_t base = std::uint64_t{block.part()} * block.lanes() * wide; base < atoms; base += stride)
    act([&](Word k) { return begin + (base + k * block.lanes() + block.lane()) * sizeof(Atom); });
}

// Loads that are under way at once: `wide` atoms of each of `deep` sources.
template <class Kind, class Atom, class Block>
TCA_DEVICE void move_fan(const CollectiveMoves& all, std::uint64_t begin, std::uint64_t end,
                         const Block& block) {
  constexpr Word deep = Kind::combines ? 4 : 1, wide = Kind::combines ? 2 : 4;
  each_stretch<wide, Atom>(begin, end, block, [&](const auto& at) {
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

template <class Atom, class Block>
TCA_DEVICE void move_pair(std::byte* from, std::byte* to, bool swaps, std::uint64_t begin, std::uint64_t end,
                          const Block& block) {
  constexpr Word wide = 4;
  each_stretch<wide, Atom>(begin, end, block, [&](const auto& at) {
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

template <class Kind, class Atom, class Block>
TCA_DEVICE void move_range(const CollectiveMoves& all, Word pair, std::uint64_t begin, std::uint64_t end,
                           const Block& block) {
  if constexpr (Kind::combines) {
    move_fan<Kind, Atom>(all, begin, end, block);
  } else if (all.way == CollectiveMoves::Way::fan) {
    move_fan<Kind, Atom>(all, begin, end, block);
  } else {
    move_pair<Atom>(all.from[pair], all.to[pair], all.way == CollectiveMoves::Way::swaps, begin, end, block);
  }
}

// In atoms as wide as the addresses allow, and what is left at the end in narrow ones.
template <class Kind, class Block>
TCA_DEVICE void move_whole(const CollectiveMoves& all, Word pair, const Block& block) {
  const std::uint64_t end = all.bytes[pair], wide_end = end / 16 * 16;
  if constexpr (Kind::combines) {
    using Element = typename Kind::Element;
    if (all.atom_bytes == 16) {
      move_range<Kind, Atom16>(all, pair, 0, wide_end, block);
      move_range<Kind, Element>(all, pair, wide_end, end, block);
    } else {
      move_range<Kind, Element>(all, pair, 0, end, block);
    }
  } else {
    switch (all.atom_bytes) {
      case 16:
        move_range<Kind, Atom16>(all, pair, 0, wide_end, block);
        break;
      case 8:
        move_range<Kind, std::uint64_t>(all, pair, 0, wide_end, block);
        break;
      case 4:
        move_range<Kind, std::uint32_t>(all, pair, 0, wide_end, block);
        break;
      default:
        move_range<Kind, std::uint8_t>(all, pair, 0, wide_end, block);
    }
    move_range<Kind, std::uint8_t>(all, pair, wide_end, end, block);
  }
}

// "Ready": by the first block, whose kernel has come as a whole.
template <class Block>
TCA_DEVICE void begin_moves(const CollectiveMoves& all, Word step, const Block& block) {
  if (block.part() == 0) raise_flags(all, 0, step, block);
}

// The rest of the step; false, on every lane, when one of them gave up.
template <class Kind, class Block>
TCA_DEVICE bool finish_moves(const CollectiveMoves& all, Word step, const Block& block) {
  if (!await_flags(all, 0, step, block)) return false;
  if (!all.moves_data) return true;
  if (all.way != CollectiveMoves::Way::nothing) {
    const Word moves = all.way == CollectiveMoves::Way::fan ? 1 : all.targets;
    for (Word pair = 0; pair < moves; ++pair) move_whole<Kind>(all, pair, block);
  }
  raise_flags(all, 1 + block.part(), step, block);
  return await_flags(all, 1 + block.part(), step, block);
}

}  // namespace tca::device
