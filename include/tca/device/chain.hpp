/// @file
/// A DeviceChain is a committed chain as an accelerator sees it: plain numbers and device pointers, passed to
/// kernels by value.
///
/// A chain's work is cut into units small enough to spread over a grid: chunks of 32 packets or 384 bytes
/// (ll), which one warp carries, and segments (direct), which one block carries. Unit u belongs to part u mod
/// `parts` of the kernel that runs the chain, so a kernel of any size can run it, and the two ends need not
/// have the same number of parts: all signals and acknowledgements belong to units.
#pragma once

#include "tca/device/packet.hpp"
#include "tca/device/walk.hpp"

namespace tca {

namespace device {

inline constexpr Word packets_per_chunk = 32;
inline constexpr Word words_per_chunk = packets_per_chunk * Packet::words;

// The number, in the put, of the k-th word of a lane's packet. A packet takes every 32nd word of its chunk,
// so that neighbouring lanes read and write neighbouring words.
TCA_DEVICE constexpr Word word_in_put(Word chunk, Word lane, Word k) {
  return chunk * words_per_chunk + k * packets_per_chunk + lane;
}

// The number of packets of a put of so many words. Whole chunks have 32 each; the last one has as many as it
// has words, at most 32.
TCA_DEVICE constexpr Word packets_of_words(Word words) {
  const Word rest = words % words_per_chunk;
  return words / words_per_chunk * packets_per_chunk + (rest < packets_per_chunk ? rest : packets_per_chunk);
}

// In a counted put the first word of each chunk is the length, so that a chunk itself says which of its
// packets arrive; chunks may belong to parts that know nothing of each other.
inline constexpr Word counted_words_per_chunk = words_per_chunk - 1;
inline constexpr Word no_word = ~Word{0};

// Like `word_in_put`; no_word for the length.
TCA_DEVICE constexpr Word word_in_counted_put(Word chunk, Word lane, Word k) {
  const Word place = k * packets_per_chunk + lane;
  return place == 0 ? no_word : chunk * counted_words_per_chunk + place - 1;
}

// The distance, in packets, from one of a put's two buffers to the other. Buffers are whole lines of the L2,
// so that no step writes into one that another step polls.
TCA_DEVICE constexpr Word buffer_pitch(Word packet_count) { return (packet_count + 7) / 8 * 8; }

// One end of a put that is carried as packets: the gathering end at the sender, or the scattering end at the
// receiver.
struct LlPut {
  Loops loops;
  Pitches pitches;
  std::byte* memory = nullptr;  // in the window
  Packet* packets = nullptr;    // two buffers of `packet_count` at the receiver, for odd and even steps
  Word* acks = nullptr;  // at the sender, one a chunk: the last step whose chunk the receiver has emptied
  Word atom_bytes = 0;   // 1, 2 or 4
  Word word_count = 0;
  Word packet_count = 0;
  Word end_chunk = 0;  // one past its last chunk, counted over all puts of the chain
  Word link = 0;       // the partner's index among the chain's partners
  // For a counted put, in this GPU's memory: how many elements the sender's next step has, or how many have
  // arrived with the receiver's last one. Null if all are sent.
  Word* length = nullptr;
  Word element_bytes = 0;
  Word rest = 0;  // once a block has been cut: its bytes behind the last whole atom
};

// A put that is stored into its final place.
struct Stores {
  Loops loops;
  Pitches from_pitches, to_pitches;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  Word* arrived = nullptr;      // at the receiver, one a segment: the last step in which it has arrived
  const Word* ready = nullptr;  // here: the last step that the receiver permits; null where none is needed
  Word atom_bytes = 0;          // 1, 2, 4, 8 or 16
  Word segment_atoms = 0;       // of a whole segment
  Word end_segment = 0;         // one past its last segment, counted over all puts of the chain
  Word link = 0;
  bool by_copy_engine = false;  // a copy engine stores it when the host starts the chain
  bool source_comes = false;    // `ready` also says that the source is there, which may not be read before
  Word element_bytes = 0;
  // For a counted put: how many elements the next step has, here, and where the receiver reads it. Null if
  // all are sent.
  const Word* length = nullptr;
  Word* length_there = nullptr;
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

// How long waits may take, and where they report it to the host. All but the last pointer are to pinned
// host memory.
struct WaitLimits {
  const Word* abort = nullptr;  // not 0 once the world has met an error: waits give up
  Word* gave_up = nullptr;      // gets `chain` when a wait has ended in vain
  Word* waiting = nullptr;      // one a link: the last step in which a wait for it has been long
  std::uint64_t limit_ns = 0;
  Word chain = 0;               // the number of the chain, collective or team that waits; not 0
  const Word* gone = nullptr;   // one a rank: not 0 once it will never signal again
  const Word* ranks = nullptr;  // one a link: its rank; null where links are ranks
  Word* over = nullptr;         // in device memory: not 0 once a wait of this rank has ended in vain
};

inline constexpr Word max_parts = 256;

// A table in a kernel's parameters, which are read faster than memory. Items that do not fit are in device
// memory.
template <class Item>
struct Table {
  static constexpr Word inlined = 6;  // as many as a 3-D domain has faces
  Item items[inlined];
  const Item* more = nullptr;
  Word count = 0;

  TCA_DEVICE Item operator[](Word i) const { return i < inlined ? items[i] : more[i - inlined]; }
};

}  // namespace device

struct DeviceChain {
  device::Table<device::LlPut> ll_out;
  device::Table<device::LlPut> ll_in;
  device::Table<device::Stores> stores;
  device::Table<device::Arrivals> arrivals;
  device::Table<device::Ready> readies;
  device::Word chunks_out = 0, chunks_in = 0, segments_out = 0, segments_in = 0;
  device::Flag counts = 0;  ///< whether a put is a counted one
  /// The number of finished steps, in `max_parts` entries: in a kernel of P parts, part p keeps the entries
  /// p, p + P and so on. Kernels of one chain follow each other, and each leaves the same number in all
  /// entries.
  device::Word* steps = nullptr;
  device::Word* count = nullptr;     ///< counts the parts that have come to `start`
  std::uint64_t* barrier = nullptr;  ///< see device::grid_arrive
  device::Word* posted = nullptr;    ///< the last step to whose `start` all parts have come
  device::WaitLimits limits;
};

}  // namespace tca
