// A DeviceChain is a committed chain as an accelerator sees it: plain numbers and device pointers, passed to
// kernels by value.
//
// A chain's work is cut into units small enough to spread over a grid: chunks of 32 lines or 384 bytes (ll),
// which one warp carries, and segments (direct), which one block carries. Unit u belongs to part u mod
// `parts` of whoever runs the chain, so a kernel of any size can run it, and the two ends need not agree on
// how many parts they have: all signals and acknowledgements belong to units.
#pragma once

#include "tca/device/walk.hpp"

namespace tca {

namespace device {

inline constexpr Word lines_per_chunk = 32;
inline constexpr Word words_per_chunk = lines_per_chunk * words_per_line;

// Returns which word of a put is the k-th of a lane's line. A line takes every 32nd word of its chunk, so
// that lanes side by side read and write what lies side by side.
TCA_DEVICE constexpr Word word_in_put(Word chunk, Word lane, Word k) {
  return chunk * words_per_chunk + k * lines_per_chunk + lane;
}
// Returns how many lines a put of so many words has: 32 for each whole chunk, and in the last one as many as
// it has words, at most 32.
TCA_DEVICE constexpr Word lines_of_words(Word words) {
  const Word rest = words % words_per_chunk;
  return words / words_per_chunk * lines_per_chunk + (rest < lines_per_chunk ? rest : lines_per_chunk);
}

// Returns the distance between a put's two buffers, in lines. It is a multiple of the L2's lines, so that no
// step writes into one that another step polls.
TCA_DEVICE constexpr Word buffer_pitch(Word line_count) { return (line_count + 7) / 8 * 8; }

// One end of a put that is carried as lines: the gathering end at the sender, or the scattering end at the
// receiver.
struct Lines {
  Loops loops;
  Pitches pitches;
  std::byte* memory = nullptr;  // in the window
  Line* lines = nullptr;        // two buffers of `line_count` at the receiver, for odd and even steps
  Word* acks = nullptr;  // at the sender, one a chunk: the last step whose chunk the receiver has emptied
  Word atom_bytes = 0;   // 1, 2 or 4
  Word word_count = 0;
  Word line_count = 0;
  Word end_chunk = 0;  // one past its chunks in the chain's count
  Word link = 0;       // index of the partner
};

// A put that is stored into its final place.
struct Stores {
  Loops loops;
  Pitches from_pitches, to_pitches;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Word* arrived = nullptr;      // at the receiver, one a segment
  const Word* ready = nullptr;  // here, null when this put needs no permission
  Word atom_bytes = 0;          // 1, 2, 4, 8 or 16
  Word segment_atoms = 0;
  Word end_segment = 0;
  Word link = 0;
  bool by_copy_engine = false;  // when the host starts the chain
  bool source_comes = false;    // what is stored is not there either before `ready` says so
};

// The arrivals of one stored put, at the receiver.
struct Arrivals {
  const Word* arrived = nullptr;
  Word end_segment = 0;
  Word link = 0;
};

// A partner to be told that this rank is done reading.
struct Ready {
  Word* flag = nullptr;  // at the partner
};

// Says how long waits may take, and where they tell the host about it. All pointers but the last are to
// pinned host memory.
struct Patience {
  const Word* abort = nullptr;  // not 0: give up, the world has met an error
  Word* gave_up = nullptr;      // gets `chain` when the limit has passed
  Word* waiting = nullptr;      // one a link: the step in which a wait for it has been long
  std::uint64_t limit_ns = 0;
  Word chain = 0;
  const Word* gone = nullptr;   // one a rank: not 0 once it will never signal again
  const Word* ranks = nullptr;  // one a link: its rank; null where links are ranks
  Word* over = nullptr;         // where the waits run: not 0 once one of this rank's has ended in vain
};

inline constexpr Word max_parts = 256;

template <class Item>
struct Table {
  static constexpr Word inlined = 6;  // faces of a 3-D domain; kernel parameters are read faster than memory
  Item items[inlined];
  const Item* more = nullptr;  // in device memory
  Word count = 0;

  TCA_DEVICE Item operator[](Word i) const { return i < inlined ? items[i] : more[i - inlined]; }
};

}  // namespace device

struct DeviceChain {
  device::Table<device::Lines> lines_out;
  device::Table<device::Lines> lines_in;
  device::Table<device::Stores> stores;
  device::Table<device::Arrivals> arrivals;
  device::Table<device::Ready> readies;
  device::Word chunks_out = 0, chunks_in = 0, segments_out = 0, segments_in = 0;
  // The number of finished steps, kept by parts: a kernel of P parts keeps entry e in part e mod P. Kernels
  // of one chain follow each other, and each leaves all entries alike.
  device::Word* steps = nullptr;
  device::Word* count = nullptr;     // of parts that have come to `start`
  std::uint64_t* barrier = nullptr;  // of a grid that carries the chain
  device::Word* posted = nullptr;    // the last step to whose `start` all have come
  device::Patience patience;
};

}  // namespace tca
