// The words of "QUDA's RMA method" (Fujii and others, the port of lattice QCD to PEACH2), each on what OpenTCA has
// for it:
//
//   RmaWindow          tca::Window<std::byte>: memory that sources and targets lie in
//   MsgHandle          what one put needs: rank, both offsets, and a layout
//   Alloc, Free        the constructor and the destructor of an RmaQueue; World::chain
//   Push               Chain::put
//   Add Origin         Chain::expect: whose writes Wait waits for
//   Commit             Chain::commit, where descriptors are made; collective
//   Start, Wait        Chain::start, Chain::wait, by the host or ordered on a stream
//   Clear              another chain, with nothing in it
//
// Two things the paper leaves to the program are the chain's own: Start says that this rank has read what came with the
// step before (a chain is guarded), and Wait returns when what the origins wrote with their Start is here, not when all
// ranks have arrived.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tca/tca.hpp"

namespace rma {

class RmaWindow {
 public:
  // Collective: every rank has `bytes` of it, on its accelerator where the world is on accelerators.
  RmaWindow(tca::World& world, std::int64_t bytes)
      : world_(&world), memory_(world.window<std::byte>(bytes, "RMA window")) {}

  tca::World& world() const { return *world_; }
  const tca::Window<std::byte>& memory() const { return memory_; }

 private:
  tca::World* world_;
  tca::Window<std::byte> memory_;
};

// A message that is written again and again; offsets and lengths are bytes. `to` lies in the window of `rank`.
struct MsgHandle {
  int rank;
  std::int64_t to, from;
  tca::Layout layout;
};

inline MsgHandle message(int rank, std::int64_t to, std::int64_t from, std::int64_t bytes) {
  return {rank, to, from, tca::block(bytes)};
}

// As MPI_Type_vector has it: rows of `bytes`, which begin `pitch` bytes apart on both sides.
inline MsgHandle strided_message(int rank, std::int64_t to, std::int64_t from, std::int64_t rows,
                                 std::int64_t bytes, std::int64_t pitch) {
  return {rank, to, from, tca::block_stride(rows, bytes, pitch)};
}

class RmaQueue {
 public:
  explicit RmaQueue(const RmaWindow& window) : window_(window), chain_(window.world().chain("RMA queue")) {}

  // Both throw tca::Error{invalid_argument} once the queue is committed, until it is cleared.
  void push(const MsgHandle& message) {
    const auto& memory = window_.memory();
    chain_.put(memory.on(message.rank).at(message.to), memory.at(message.from), message.layout);
  }
  void add_origin(int rank) { chain_.expect(rank); }

  // Collective. Throws tca::Error{refused} on every rank where a message would leave its target's window, meet another
  // message there, or come from a rank that its target has not added.
  void commit() { chain_.commit(); }

  // As often as needed; neither changes the queue.
  void start() { chain_.start(); }
  void wait() { chain_.wait(); }
  void start(tca::Stream stream) { chain_.start(stream); }
  void wait(tca::Stream stream) { chain_.wait(stream); }

  void clear() { chain_ = window_.world().chain("RMA queue"); }

 private:
  RmaWindow window_;
  tca::Chain chain_;
};

}  // namespace rma
