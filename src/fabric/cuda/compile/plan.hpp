// Divides a put among the blocks and threads of a grid. Both ends compute the same division from the shape
// and the protocol, and nothing here needs a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/layout/shape.hpp"
#include "tca/device/chain.hpp"

namespace tca::cuda {

using device::Word;

enum Protocol : int { ll, direct, copy_engine };

Word words_of(std::uint64_t bytes);
Word chunks_of(std::uint64_t bytes);

// The same for a counted put, and its packets; the lengths in front of its chunks add to both.
Word counted_chunks_of(std::uint64_t bytes);
Word counted_packets_of(std::uint64_t bytes);

// Returns how many bytes of the receiver's inbox a put's packets occupy while its chain lives: two buffers,
// with 16 bytes for every 12.
std::uint64_t packet_bytes(std::uint64_t bytes);

// Returns how many bytes of an inbox the packets of one chain may occupy for each of its `senders`, if
// `room` is left in the inbox. Together they take at most a quarter, so that later chains find room. The
// last 16 MiB are kept for signals, which every chain needs.
std::uint64_t room_for_packets(std::uint64_t room, std::uint64_t senders);

// Pieces of an inbox begin at multiples of this many bytes, the data size of an NVLink packet and of an L2
// line.
inline constexpr std::size_t inbox_grain = 128;

// Returns the number of segments of a put. A block stores a segment and then signals. A large put has
// enough segments for all multiprocessors to take part. Each is large enough that its signal, which waits
// for a round trip of 1 us, takes only a small part of its time.
Word segments_of(std::uint64_t bytes);

// Returns the number of bytes that a thread moves at a time: the largest power of two, up to `most`, that
// divides run, pitches and address.
enum class Side { to, from };
Word atom_bytes(const base::Shape& shape, Side side, std::uintptr_t address, Word most);

device::Loops loops_of(const base::Shape& shape, Word atom_bytes);
device::Pitches pitches_of(const base::Shape& shape, Side side);

// Returns a shape whose bytes are contiguous on one side.
base::Shape densified(base::Shape shape, Side side);

// A put is cut into parts of at most this many bytes, so that 32 bits can number a part's contents.
inline constexpr std::uint64_t largest_part = std::uint64_t{1} << 31;

// Cuts a put into parts, the same on both ends. A large block that uses `direct`, and whose length is not a
// multiple of 8 bytes, leaves what exceeds a multiple of 16 to a separate part. As a whole it would be
// moved in its smallest unit (14 MB in 268 us instead of 80, on an H100).
std::vector<base::Part> parts_of(const base::Shape& shape, int protocol);

}  // namespace tca::cuda
