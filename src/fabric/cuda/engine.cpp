#include "fabric/cuda/engine.hpp"

#include <atomic>

namespace tca::cuda {

namespace {

std::uint64_t bit_of(Word slot) { return std::uint64_t{1} << slot % 64; }

}  // namespace

Engine::Engine(Inbox& inbox, HostCopier& copier, unsigned blocks)
    : inbox_(inbox), copier_(copier), blocks_(blocks), room_(inbox) {
  if (blocks_ == 0) return;
  // Above everything else on the GPU: a command must not wait for the blocks of a large kernel.
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
        "making the engine's stream");
  bells_ = reinterpret_cast<Bell*>(room_.take_words(Bell::count * sizeof(Bell) / sizeof(Word)));
  slots_ = inbox_.own<EngineSlot>(room_.take(max_slots * sizeof(EngineSlot)));
  view_.bells = bells_;
  view_.relay = inbox_.own<Bell>(room_.take(Bell::count * sizeof(Bell)));
  view_.state = room_.take_words(1);
  view_.obeyed = room_.take_words(1);
  view_.slots = slots_;
}

Engine::~Engine() {
  if (blocks_ == 0) return;
  stop();
  cudaStreamDestroy(stream_);
}

Word Engine::prepare(const DeviceChain& chain, Word* done) {
  if (blocks_ == 0) return no_slot;
  for (Word slot = 0; slot < max_slots; ++slot) {
    if ((used_[slot / 64] & bit_of(slot)) != 0) continue;
    used_[slot / 64] |= bit_of(slot);
    new_[slot / 64] |= bit_of(slot);
    const EngineSlot entry{chain, done};
    copier_.write(reinterpret_cast<std::byte*>(slots_ + slot), std::as_bytes(std::span(&entry, 1)));
    return slot;
  }
  return no_slot;
}

void Engine::release(Word slot) {
  if (slot != no_slot) used_[slot / 64] &= ~bit_of(slot);
}

Word Engine::ring(Word slot, bool others_ran_it) {
  Word what = slot | (others_ran_it ? Bell::others_ran_it : 0);
  if ((new_[slot / 64] & bit_of(slot)) != 0) {
    new_[slot / 64] &= ~bit_of(slot);
    what |= Bell::is_new;
  }
  ++in_flight_;
  const Word number = command(what);
  // It may have obeyed this very command before it left.
  if (has_ended() && device::load_relaxed(view_.obeyed) != number) launch();
  return number;
}

Word Engine::command(Word what) {
  ++number_;
  // Release: pairs with the acquire in the engine's kernel; whatever the host has written before is there.
  std::atomic_ref(bells_[number_ % Bell::count].command)
      .store(Bell::make(number_, what), std::memory_order_release);
  // Sequentially consistent, as the engine's between `leaving` and its last look at the bell: either it finds this
  // command or the host finds it leaving.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return number_;
}

// An engine that is leaving makes up its mind in a few microseconds, unless its GPU has failed.
bool Engine::has_ended() {
  constexpr unsigned polls_between_checks = 4096;
  for (unsigned polls = 1; device::load_acquire(view_.state) == leaving; ++polls) {
    if (polls % polls_between_checks != 0) continue;
    const cudaError_t state = cudaStreamQuery(stream_);
    if (state != cudaErrorNotReady) check(state, "ringing the engine");
  }
  return device::load_acquire(view_.state) == ended;
}

void Engine::launch() {
  view_.seen = device::load_relaxed(view_.obeyed);
  device::store_relaxed(view_.state, running);
  if (blocks_ > 1) {
    check(cudaMemsetAsync(view_.relay, 0, Bell::count * sizeof(Bell), stream_), "starting the engine");
  }
  launch_engine(view_, blocks_, stream_);
}

void Engine::stop() {
  if (blocks_ == 0) return;
  command(Bell::quit);
  in_flight_ = 0;
  cudaStreamSynchronize(stream_);
}

}  // namespace tca::cuda
