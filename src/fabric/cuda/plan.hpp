// Cuts a put up for a grid. Both ends compute the same from the shape and the protocol. Nothing here needs a
// GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "base/shape.hpp"
#include "tca/device_chain.hpp"

namespace tca::cuda {

using device::Word;

enum Protocol : int { ll, direct, copy_engine };

Word words_of(std::uint64_t bytes);
Word chunks_of(std::uint64_t bytes);

// The bytes that the lines of a put take of the receiver's inbox, for as long as its chain lives: two
// buffers, 16 bytes for every 12.
std::uint64_t line_bytes(std::uint64_t bytes);

// The bytes that the lines of one chain may take of an inbox for each of its `senders`, where `room` is left
// of the inbox. Together they take no more than a quarter, so that later chains find some. The last 16 MiB
// are kept for signals, which every chain needs.
std::uint64_t room_for_lines(std::uint64_t room, std::uint64_t senders);

// The number of segments of a put. A block stores a segment and then signals. There are so many that all
// multiprocessors take part in a large put, and each is so large that its signal, which waits for a round
// trip of 1 us, takes only a small part of its time.
Word segments_of(std::uint64_t bytes);

// The number of bytes that a thread moves at a time: the largest power of two, up to `most`, that divides
// runs, pitches and address.
enum class Side { to, from };
Word atom_bytes(const base::Shape& shape, Side side, std::uintptr_t address, Word most);

device::Loops loops_of(const base::Shape& shape, Word atom_bytes);
device::Pitches pitches_of(const base::Shape& shape, Side side);

// A put goes in parts of at most so many bytes, so that 32 bits number what is in a part.
inline constexpr std::uint64_t largest_part = std::uint64_t{1} << 31;

// Cuts a put into parts, the same on both ends. A large block that is stored, and whose length is no multiple
// of 16 bytes, leaves the rest to a part of its own: as a whole it would go by its smallest unit (14 MB in
// 268 us instead of 80, on an H100).
std::vector<base::Part> parts_of(const base::Shape& shape, int protocol);

}  // namespace tca::cuda
