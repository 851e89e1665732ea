// How a put is cut up for a grid: what both ends compute alike, from the shape and the protocol. Nothing here needs a GPU.
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

// What the lines of a put take of the receiver's inbox, for as long as its chain lives: two buffers, of 16 bytes for 12.
std::uint64_t line_bytes(std::uint64_t bytes);

// What the lines of one chain may take of an inbox for the puts of one of its `senders`, where `room` is left of it: together no
// more than a quarter, so that chains which come later find some. The last 16 MiB are for what no chain can do without.
std::uint64_t room_for_lines(std::uint64_t room, std::uint64_t senders);

// A segment is what one block stores before it signals. Enough of them that all multiprocessors take part in a large put;
// each large enough that its signal, which waits for a round trip of 1 us, is not what it mostly does.
Word segments_of(std::uint64_t bytes);

// The largest power of two, up to `most`, that divides runs, pitches and address: bytes a thread moves at a time.
enum class Side { to, from };
Word atom_bytes(const base::Shape& shape, Side side, std::uintptr_t address, Word most);

device::Loops loops_of(const base::Shape& shape, Word atom_bytes);
device::Pitches pitches_of(const base::Shape& shape, Side side);

// A put goes in parts of so many bytes, which 32 bits number.
inline constexpr std::uint64_t largest_part = std::uint64_t{1} << 31;

// How a put is cut into parts, the same on both ends. A large block that is stored and whose length is odd parts with what is over
// 16 bytes: as a whole it would go by its smallest unit (14 MB in 268 us instead of 80, on an H100).
std::vector<base::Part> parts_of(const base::Shape& shape, int protocol);

}  // namespace tca::cuda
