// What a group, its block's dispatcher and the other blocks tell each other: one WorkerGroup in shared
// memory for each chain that a producer may have under way. The glossary is in kernel.cu.
#pragma once

#include <cstddef>

#include "fabric/cuda/engine/view.hpp"

namespace tca::cuda::engine {

constexpr Word warp_lanes = 32;
constexpr Word workers_in_group = EngineView::workers_in_group;
constexpr Word worker_groups = EngineView::producers * EngineView::in_flight;
constexpr Word warps = worker_groups * workers_in_group + 1;  // the dispatcher is the last
constexpr Word all_lanes = 0xffffffffu;
static_assert(most_engine_blocks * workers_in_group <= device::max_parts);
static_assert(sizeof(DeviceChain) % sizeof(Word) == 0);

__device__ inline Word lane() { return threadIdx.x % warp_lanes; }
__device__ inline Word warp() { return threadIdx.x / warp_lanes; }
__device__ inline bool is_first_block() { return blockIdx.x == 0; }
// A group serves one producer only.
__device__ inline Word producer_of(Word workers) { return workers / EngineView::in_flight; }

// What a group is to do next. It is one word, so that no fence is needed between the dispatcher's store and
// the group's loads.
struct WorkItem {
  // refresh: other kernels may have run the chain since, so its step number is read again. quit: the engine
  // ends.
  static constexpr Word refresh = 1, quit = 2;

  Word word = 0;

  // `number` counts the group's work items, from 1. `preparation` counts the chains that the group has had to
  // prepare.
  static __device__ WorkItem make(Word number, Word preparation, Word flags) {
    return {number << 16 | (preparation & 0x3fff) << 2 | flags};
  }
  __device__ Word number() const { return word >> 16; }
  __device__ Word preparation() const { return word >> 2 & 0x3fff; }
  __device__ bool is(Word flag) const { return (word & flag) != 0; }
};

constexpr Word no_chain = ~Word{0};

struct WorkerGroup {
  WorkItem item;  // released by the dispatcher, acquired by the group's warps

  // The dispatcher writes these while no warp of the group reads them. The first is a copy of the slot's
  // DeviceChain: each acquire empties the L1, so what is read from the slot would have to be fetched anew.
  alignas(DeviceChain) Word chain_words[sizeof(DeviceChain) / sizeof(Word)];
  Word* done_word;                 // of the chain's slot: tells the host
  Word* finished_steps;            // of the chain's slot: tells kernels
  Word lands_on_host;              // of the chain's slot
  Word command_number;             // the value that the done word will get
  Word prepared_chain = no_chain;  // the chain above, as identified in commands
  Word busy_warps = 0;             // how many of the group's warps in this block have units of the chain
  Word last_busy_block = 0;        // the last block of the grid that has any
  Word last_item = 0;
  Word preparations = 0;  // see WorkItem

  // The group's warps write these; the dispatcher also writes the first if no warp of the block is busy.
  Word finished_item = 0;                 // the last work item that this block has finished
  Word arrivals = 0;                      // see WorkerWarp::finish_part
  Word read_item[workers_in_group] = {};  // the last work item that each warp has read

  __device__ const DeviceChain& chain() const { return *reinterpret_cast<const DeviceChain*>(chain_words); }
};

// Gives access to a word that other warps write. It orders nothing: if a reader also needs what was written
// before the word, there is a fence between the load and its use, and another one before the store.
template <class T>
__device__ volatile T& shared_word(T& word) {
  return word;
}
__device__ inline bool is_seen_by_all(Word& word, Word value) {
  return __all_sync(all_lanes, shared_word(word) == value) != 0;
}

}  // namespace tca::cuda::engine
