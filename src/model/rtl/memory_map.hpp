// What is behind the bus addresses of one node: windows and other memory of the program, the words with
// which hubs tell hosts what has happened, and room for puts whose bytes nobody looks at.
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "model/rtl/address.hpp"

namespace tca::rtl {

// Part of a GPU's or the host's memory that hubs reach while a chain runs.
class Apertures {
 public:
  // Returns the offset of memory, the same for the same memory as long as there is room. `closed`: see
  // net::Bytes. Throws Error{out_of_memory} if chains under way occupy all of the room.
  std::uint64_t open(std::byte* memory, std::uint64_t bytes, const bool* closed);
  void close(std::uint64_t offset, const bool* closed);

  struct Found {
    bool exists = false;          // an aperture, or room for bytes that nobody looks at
    std::byte* memory = nullptr;  // null also if its owner has taken it back
  };
  Found find(std::uint64_t offset, std::uint64_t bytes) const;

  // For puts without bytes.
  static constexpr std::uint64_t nowhere_bytes = std::uint64_t{1} << 30;

 private:
  struct Aperture {
    std::byte* memory;
    std::uint64_t bytes;
    std::vector<const bool*> users;
  };
  void make_room();

  std::map<std::uint64_t, Aperture> apertures_;                          // by offset
  std::map<std::pair<std::byte*, std::uint64_t>, std::uint64_t> known_;  // offset by memory
  std::uint64_t end_ = nowhere_bytes;                                    // of the last one
};

// Words in the host's memory that hubs and hosts write. Whoever expects one is told about it.
class Mailboxes {
 public:
  using Reader = std::function<void(std::uint64_t value)>;

  // A permanent box, and what is expected in it, in that order. `owner` can take it back.
  std::uint64_t fixed(std::uint32_t node, std::uint32_t channel, std::uint32_t index);
  void expect(std::uint64_t offset, const void* owner, Reader reader);
  void forget(const void* owner);

  // A box for one store.
  std::uint64_t open(Reader reader);

  static bool holds(std::uint64_t offset) { return offset >= first; }
  // Returns false if nothing is expected there.
  bool write(std::uint64_t offset, std::uint64_t value);

 private:
  static constexpr std::uint64_t first = target_bytes - (std::uint64_t{1} << 29);
  static constexpr std::uint64_t box_bytes = 256;
  struct Expected {
    const void* owner;
    Reader reader;
  };
  struct Box {
    std::deque<Expected> expected;
    bool is_fixed = false;
  };
  std::size_t add(bool is_fixed);

  std::deque<Box> boxes_;
  std::vector<std::size_t> free_;
  std::map<std::array<std::uint32_t, 3>, std::size_t> fixed_;
};

struct NodeMemory {
  Apertures host, gpus[2];
  Mailboxes mailboxes;

  Apertures& apertures(Target target) {
    return target == Target::host ? host : gpus[target == Target::gpu0 ? 0 : 1];
  }
};

}  // namespace tca::rtl
