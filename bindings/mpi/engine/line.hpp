// What one rank tells another is a line: one cache line, so that a short message crosses between cores in one transfer.
// A line that is ready bears the stamp of its place in the order of all lines, and nothing but stamps is ever stored where
// stamps are: so neither side clears anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tca::p2p {

inline constexpr std::size_t cache_line = 64;

enum class Kind : std::uint32_t {
  whole,    // a message that the line itself carries
  first,    // the first bytes of a message, which lie in the ring
  more,     // its next ones; no other message begins before it is complete
  offered,  // a message that the receiver fetches from the sender's memory
  done,     // the receiver has matched, and has all of, a message whose sender waits for that
  wanted,   // the receiver has matched a message that it cannot fetch
  moved,    // the message is a copy now, elsewhere: for a receiver that wanted it, or for whoever receives it
  let_go,   // the receiver knows of the copy, so the send is complete
  grown     // the next line is the first of another ring
};

struct Fragment {
  std::uint64_t position;  // in the ring's data
  std::uint64_t bytes;
  std::uint64_t sender;  // whom to tell: a request of the sender's, or 0
};

struct Offer {
  std::uint64_t address;
  std::uint64_t sender;
  std::uint64_t reach_bytes;  // 0, or the size of what is at the address: how to reach the message
};

struct Wanted {
  std::uint64_t sender;
  std::uint64_t receiver;  // a request of the receiver's
};

struct Moved {
  std::uint64_t sender;
  std::uint64_t receiver;  // who has wanted it, or 0
  std::uint64_t address;
  std::uint64_t copy;  // whom to tell in the sender's place, where nobody has wanted it
};

struct Growth {
  std::uint64_t address;  // in the sender's process
  std::uint64_t data_bytes;
  std::int32_t file;  // a descriptor of the sender's
};

union Body {
  std::byte payload[40];
  Fragment fragment;
  Offer offer;
  Wanted wanted;
  Moved moved;
  Growth growth;
  std::uint64_t sender;
};

struct alignas(cache_line) Line {
  std::atomic<std::uint32_t> stamp;
  Kind kind;
  std::uint32_t context;
  std::int32_t tag;
  std::uint64_t bytes;  // of the message
  Body body;
};
static_assert(sizeof(Line) == cache_line && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace tca::p2p
