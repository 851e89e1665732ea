// Divides a put among the blocks and threads of a grid. Both ends compute the same from the shape and the
// protocol, and nothing here needs a GPU.
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

// The same of a counted put, and its packets, both of which the lengths in front of its chunks add to.
Word counted_chunks_of(std::uint64_t bytes);
Word counted_packets_of(std::uint64_t bytes);

// Returns the bytes that the packets of a put take of the receiver's inbox as long as its chain lives: two
// buffers, with 16 bytes for every 12.
std::uint64_t packet_bytes(std::uint64_t bytes);

// Returns the bytes that the packets of one chain may take of an inbox for each of its `senders`, where
// `room` is left of the inbox. Together they take a quarter at most, so that later chains find room. The last
// 16 MiB are kept for signals, which every chain needs.
std::uint64_t room_for_packets(std::uint64_t room, std::uint64_t senders);

// Pieces of an inbox begin at multiples of this many bytes, which are the data of an NVLink packet and a line of
// the L2.
inline constexpr std::size_t inbox_grain = 128;

// Returns the number of segments of a put. A block stores a segment and then signals. A large put has enough
// segments for all multiprocessors to take part. Each is large enough that its signal, which waits for a
// round trip of 1 us, takes only a small part of its time.
Word segments_of(std::uint64_t bytes);

// Returns the number of bytes that a thread moves at a time: the largest power of two, up to `most`, that
// divides run, pitches and address.
enum class Side { to, from };
Word atom_bytes(const base::Shape& shape, Side side, std::uintptr_t address, Word most);

device::Loops loops_of(const base::Shape& shape, Word atom_bytes);
device::Pitches pitches_of(const base::Shape& shape, Side side);

// Returns a shape whose bytes are contiguous on one side.
base::Shape densified(base::Shape shape, Side side);

// A put is cut into parts of at most this many bytes, so that 32 bits can number what a part contains.
inline constexpr std::uint64_t largest_part = std::uint64_t{1} << 31;

// Cuts a put into parts, the same on both ends. A large block that goes by `direct`, and whose length is no
// multiple of 8 bytes, leaves what exceeds a multiple of 16 to a part of its own. As a whole it would be
// moved in its smallest unit (14 MB in 268 us instead of 80, on an H100).
std::vector<base::Part> parts_of(const base::Shape& shape, int protocol);

}  // namespace tca::cuda
