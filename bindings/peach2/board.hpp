// What a rank has of its board: memory that it has given away, chains, and four controllers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tca-api.h"
#include "tca/post.hpp"
#include "tca/world.hpp"

// A chain, whose type C sees by name alone.
struct tcaDesc {
  explicit tcaDesc(tca::World& world) : post(world, "TCA chain") {}
  tca::Post post;
};

namespace tca::peach2 {

inline constexpr int controllers = 4;
inline constexpr std::uint32_t handle_mark = 0x7ca0'4a4d;

// What an older call has said of a descriptor.
struct Descriptor {
  tcaHandle to, from;
  off_t to_offset, from_offset;
  std::size_t to_pitch, from_pitch, width, count;
  int flags, slot, tag;
};
using Descriptors = std::map<int, Descriptor>;  // by number

class Board {
 public:
  explicit Board(World& world);

  int rank() const { return world_.rank(); }
  Notices& notices() { return notices_; }

  // Memory; defined in memory.cpp.
  void* allocate(std::size_t bytes, tcaMemoryKind kind);
  void release(void* memory);
  tcaHandle name(void* memory, std::size_t bytes);
  void forget(const tcaHandle& handle);

  // Chains; defined in descriptors.cpp.
  tcaDesc* make_chain();
  void drop_chain(const tcaDesc* chain);
  void add(tcaDesc* chain, const Descriptor& descriptor);
  void give(tcaDesc* chain, int controller);
  void start(int controller);
  void wait(int controller);
  void await_notice(const tcaHandle& of, int slot, int tag);

  // Stores by the processor; defined in pio.cpp.
  void store(const tcaPIOHandle& region, off_t offset, const void* from, std::size_t bytes);
  void settle();

  // Chains by number; defined in numbered.cpp.
  void empty_internal();
  int make_set();
  void drop_set(int set);
  void put_into(int set, int number, const Descriptor& descriptor);
  void give_numbered(int controller, int set, int number);

 private:
  // Memory that the program has, and how many handles of it.
  struct Named {
    Region region;
    int handles = 0;
  };
  using Chain = std::shared_ptr<tcaDesc>;
  struct Controller {
    Chain chain;    // what it starts
    Chain running;  // what it has started
  };

  Controller& controller(int number);
  Chain& find(const tcaDesc* chain);
  void check_strictly(const Descriptor& descriptor) const;

  World& world_;
  Notices notices_;
  bool strict_;
  std::map<std::uintptr_t, Region> given_;                         // by address
  std::map<std::pair<std::uintptr_t, std::size_t>, Named> named_;  // the program's own
  std::map<const tcaDesc*, Chain> chains_;
  std::map<const tcaDesc*, std::map<std::pair<int, int>, std::vector<int>>>
      tags_;  // of a chain, by target and slot
  std::array<Controller, controllers> controllers_;
  std::map<int, Descriptors> sets_;
  std::array<Chain, controllers> numbered_;  // the chains of older calls
  int next_set_ = 1;
  Post stores_;
};

// Throws Misuse for what is no handle, and for bytes outside of its memory.
const tcaHandle& checked(const tcaHandle* handle, const char* what);
void check_bytes(const tcaHandle& handle, const char* what, off_t offset, std::size_t bytes);
RegionToken token_of(const tcaHandle& handle);

}  // namespace tca::peach2
