// What a crew, the listener of its block and the other blocks tell each other: one Crew in shared memory for
// each chain that a ringer may have under way. The glossary is in kernel.cu.
#pragma once

#include <cstddef>

#include "fabric/cuda/engine/view.hpp"

namespace tca::cuda::engine {

constexpr Word warp_lanes = 32;
constexpr Word crew_size = EngineView::crew_size;
constexpr Word crews = EngineView::ringers * EngineView::in_flight;
constexpr Word warps = crews * crew_size + 1;  // the listener is the last
constexpr Word all_lanes = 0xffffffffu;
static_assert(most_engine_blocks * crew_size <= device::max_parts);
static_assert(sizeof(DeviceChain) % sizeof(Word) == 0);

__device__ inline Word lane() { return threadIdx.x % warp_lanes; }
__device__ inline Word warp() { return threadIdx.x / warp_lanes; }
__device__ inline bool is_first_block() { return blockIdx.x == 0; }
// A crew serves one ringer only.
__device__ inline Word ringer_of(Word crew) { return crew / EngineView::in_flight; }

// What a crew is to do next. It is one word, so that no fence stands between the listener's store and the
// crew's loads.
struct Order {
  // refresh: other kernels may have run the chain since, so its step number is read again. quit: the engine
  // ends.
  static constexpr Word refresh = 1, quit = 2;

  Word word = 0;

  // `number` counts the crew's orders, from 1. `preparation` counts the chains that the crew has had to
  // prepare.
  static __device__ Order make(Word number, Word preparation, Word flags) {
    return {number << 16 | (preparation & 0x3fff) << 2 | flags};
  }
  __device__ Word number() const { return word >> 16; }
  __device__ Word preparation() const { return word >> 2 & 0x3fff; }
  __device__ bool is(Word flag) const { return (word & flag) != 0; }
};

constexpr Word no_chain = ~Word{0};

struct Crew {
  Order order;  // released by the listener, acquired by the crew's warps

  // The listener writes these while no warp of the crew reads them. The first is a copy of the slot's
  // DeviceChain: each acquire empties the L1, so that what is read from the slot would have to be fetched
  // anew.
  alignas(DeviceChain) Word chain_words[sizeof(DeviceChain) / sizeof(Word)];
  Word* done_word;                 // of the chain's slot: tells the host
  Word* finished_steps;            // of the chain's slot: tells kernels
  Word command_number;             // what the done word becomes
  Word prepared_chain = no_chain;  // the chain above, as bells name it
  Word busy_warps = 0;             // how many of the crew's warps in this block have units of the chain
  Word last_busy_block = 0;        // the last block of the grid that has
  Word last_order = 0;
  Word preparations = 0;  // see Order

  // The crew's warps write these, the first also the listener where no warp of the block is busy.
  Word finished_order = 0;          // the last order that this block has finished
  Word arrivals = 0;                // see CrewWarp::finish_part
  Word read_order[crew_size] = {};  // the last order that each warp has read

  __device__ const DeviceChain& chain() const { return *reinterpret_cast<const DeviceChain*>(chain_words); }
};

// Gives access to a word that other warps write. It orders nothing: where a reader also needs what was
// written before the word, there is a fence between the load and its use, and another one before the store.
template <class T>
__device__ volatile T& shared_word(T& word) {
  return word;
}
__device__ inline bool is_seen_by_all(Word& word, Word value) {
  return __all_sync(all_lanes, shared_word(word) == value) != 0;
}

}  // namespace tca::cuda::engine
