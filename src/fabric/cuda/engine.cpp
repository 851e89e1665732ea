#include "fabric/cuda/engine.hpp"

#include <atomic>

namespace tca::cuda {

Engine::Engine(Inbox& inbox, HostCopier& copier, int rank, unsigned blocks)
    : inbox_(inbox), copier_(copier), rank_(rank), blocks_(blocks), room_(inbox) {
  if (blocks_ == 0) return;
  // Above everything else on the GPU: a command must not wait for the blocks of a large kernel.
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
        "making the engine's stream");
  bells_ = reinterpret_cast<Bell*>(room_.take_words(Bell::count * sizeof(Bell) / sizeof(Word)));
  slots_ = inbox_.at<EngineSlot>(rank_, room_.take(max_slots * sizeof(EngineSlot)));
  view_.bells = bells_;
  view_.slots = slots_;
}

Engine::~Engine() {
  if (blocks_ == 0) return;
  park();
  cudaStreamDestroy(stream_);
}

Word Engine::prepare(const DeviceChain& chain, Word* done) {
  if (blocks_ == 0) return no_slot;
  for (Word slot = 0; slot < max_slots; ++slot) {
    std::uint64_t& word = used_[slot / 64];
    const std::uint64_t bit = std::uint64_t{1} << slot % 64;
    if ((word & bit) != 0) continue;
    word |= bit;
    const EngineSlot entry{chain, done};
    copier_.write(reinterpret_cast<std::byte*>(slots_ + slot), std::as_bytes(std::span(&entry, 1)));
    return slot;
  }
  return no_slot;
}

void Engine::release(Word slot) {
  if (slot != no_slot) used_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

Word Engine::ring(Word slot, bool others_ran_it) {
  if (!runs_) {
    view_.seen = number_;
    launch_engine(view_, blocks_, stream_);
    runs_ = true;
  }
  ++in_flight_;
  return command(slot | (others_ran_it ? Bell::others_ran_it : 0));
}

Word Engine::command(Word what) {
  ++number_;
  // Release: pairs with the acquire in the engine's kernel; whatever the host has written before is there.
  std::atomic_ref(bells_[number_ % Bell::count].command)
      .store(Bell::make(number_, what), std::memory_order_release);
  return number_;
}

void Engine::park() {
  if (!runs_) return;
  command(is_idle() ? Bell::quit : Bell::drop);
  in_flight_ = 0;
  runs_ = false;
  check(cudaStreamSynchronize(stream_), "parking the engine");
  freed_.clear();
}

void Engine::free_when_parked(std::vector<Region> regions) {
  if (!runs_) return;
  for (Region& region : regions) freed_.push_back(std::move(region));
}

}  // namespace tca::cuda
