// How many threads walk a layout at once: from the number of an atom to its place.
//
// One thread moves an atom with one access. Its size is the largest power of two, at most 16 bytes, that
// divides a put's runs, pitches and addresses.
#pragma once

#include "tca/device/memory.hpp"

namespace tca::device {

// Divides by a number known at commit, for dividends below 2^32, with one multiplication instead of some 20
// instructions (Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019).
struct Divisor {
  std::uint64_t reciprocal = 0;  // ceil(2^64 / value); 0 for 1
  Word value = 1;

  TCA_DEVICE static constexpr Divisor of(Word value) {
    return {value == 1 ? 0 : ~std::uint64_t{0} / value + 1, value};
  }

  TCA_DEVICE Word divide(Word dividend) const {
    if (value == 1) return dividend;
#ifdef __CUDA_ARCH__
    return static_cast<Word>(__umul64hi(reciprocal, dividend));
#else
    __extension__ using Product = unsigned __int128;
    return static_cast<Word>((static_cast<Product>(reciprocal) * dividend) >> 64);
#endif
  }
};

inline constexpr int max_loops = 3;

// The place of an atom in a nest of loops around runs.
struct Position {
  Word in_run;
  Word index[max_loops];
};

struct Loops {
  Divisor run;                    // atoms a run
  Divisor counts[max_loops - 1];  // of the inner loops; the outermost loop's is not needed
  Word depth = 0;                 // the number of loops
  Word atoms = 0;                 // in all

  TCA_DEVICE Position at(Word atom) const {
    Position p{atom, {0, 0, 0}};
    if (depth == 0) return p;
    Word rest = run.divide(atom);
    p.in_run = atom - rest * run.value;
    p.index[0] = rest;
    if (depth == 1) return p;
    Word outer = counts[0].divide(rest);
    p.index[0] = rest - outer * counts[0].value;
    p.index[1] = outer;
    if (depth == 2) return p;
    rest = outer;
    outer = counts[1].divide(rest);
    p.index[1] = rest - outer * counts[1].value;
    p.index[2] = outer;
    return p;
  }
};

// The distances between runs on one side of a put, in bytes, by loop.
struct Pitches {
  std::int64_t pitch[max_loops] = {0, 0, 0};

  TCA_DEVICE std::int64_t offset(const Position& p, Word atom_bytes) const {
    return static_cast<std::int64_t>(p.in_run) * atom_bytes + p.index[0] * pitch[0] + p.index[1] * pitch[1] +
           p.index[2] * pitch[2];
  }
};

}  // namespace tca::device
