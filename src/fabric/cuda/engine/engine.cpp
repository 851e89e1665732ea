#include "fabric/cuda/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "fabric/cuda/run_periodically.hpp"
#include "tca/error.hpp"

namespace tca::cuda {

namespace {

using namespace std::chrono_literals;

// A kernel that rang for an engine that has left waits for it this long at most, beside the launch.
constexpr auto between_looks = 500us;

}  // namespace

Engine::Engine(Inbox& inbox, HostCopier& copier, int device, unsigned blocks)
    : inbox_(inbox),
      copier_(copier),
      device_(device),
      blocks_(std::min(blocks, most_engine_blocks)),
      room_(inbox) {
  if (blocks_ == 0) return;
  load_engine();  // later a kernel that waits for the engine could keep the GPU from loading it
  // The engine goes before everything else on the GPU: a command must not wait for the blocks of a large
  // kernel.
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
        "making the engine's stream");
  bells_ = reinterpret_cast<Bell*>(room_.take_words(Bell::count * sizeof(Bell) / sizeof(Word)));
  slots_ = inbox_.own<EngineSlot>(room_.take(max_slots * sizeof(EngineSlot)));
  finished_ = inbox_.own<Word>(room_.take(max_slots * sizeof(Word)));
  bell_.ring = inbox_.own<Bell>(room_.take(Bell::count * sizeof(Bell)));
  bell_.rung = inbox_.own<Word>(room_.take(sizeof(Word)));
  bell_.call = room_.take_words(1);
  view_.rings[EngineView::host].bells = bells_;
  view_.rings[EngineView::kernels].bells = bell_.ring;
  view_.shared = inbox_.own<EngineView::Shared>(room_.take(sizeof(EngineView::Shared)));
  view_.awake = inbox_.own<Word>(room_.take(sizeof(Word)));
  bell_.awake = view_.awake;
  view_.state = room_.take_words(1);
  view_.obeyed = room_.take_words(EngineView::ringers);
  view_.slots = slots_;
}

Engine::~Engine() {
  if (blocks_ == 0) return;
  stop();
  cudaStreamDestroy(stream_);
}

// Slots take turns, so that it takes 16 x 255 chains until a handle is used again.
Word Engine::prepare(const DeviceChain& chain, Word* done) {
  if (blocks_ == 0 || used_.size() == max_slots) return no_chain;
  do {
    last_slot_ = (last_slot_ + 1) % max_slots;
  } while (used_.contains(last_slot_));
  used_[last_slot_] = chain.limits;
  const EngineSlot entry{chain, done, finished_ + last_slot_};
  copier_.write(reinterpret_cast<std::byte*>(slots_ + last_slot_), std::as_bytes(std::span(&entry, 1)));
  return (last_slot_ | generations_[last_slot_]++ << Bell::slot_bits) & Bell::chain_mask;
}

void Engine::release(Word chain) {
  if (chain == no_chain) return;
  finished(chain);
  used_.erase(chain & Bell::slot_mask);
}

// On two H100s, host to host, a launch takes 14 us, and 17 with puts that are stored in place. The engine
// takes 4 and 9, and 1.3 more for each further chunk and 4 for each further segment that one of its warps
// carries.
bool Engine::is_quick_with(const DeviceChain& chain) const {
  constexpr Word chunks_a_warp = 8, segments_a_warp = 2;
  const Word chunks = std::max(chain.chunks_out, chain.chunks_in);
  const Word segments = std::max(chain.segments_out, chain.segments_in);
  const Word warps = blocks_ * EngineView::crew_size;
  return segments_a_warp * chunks + chunks_a_warp * segments <= chunks_a_warp * segments_a_warp * warps;
}

Word Engine::ring(Word chain, bool others_ran_it) {
  check_launches();
  Word what = chain | (others_ran_it ? Bell::others_ran_it : 0);
  // The crew that has the chain prepared runs it: it is free, since a chain has one step under way. Otherwise
  // a free one does.
  bool second = crews_[1].prepared_chain == chain;
  if (!second && crews_[0].prepared_chain != chain)
    second = crews_[0].is_busy || (!last_crew_ && !crews_[1].is_busy);
  crews_[second] = {chain, true};
  last_crew_ = second;
  if (second) what |= Bell::second_crew;
  const Word number = command(what);
  if (device::load_acquire(view_.state) != running) bring_back_unless_obeyed(number);
  return number;
}

void Engine::finished(Word chain) {
  for (auto& crew : crews_) crew.is_busy = crew.is_busy && crew.prepared_chain != chain;
}

Word Engine::command(Word what) {
  ++number_;
  // Release: pairs with the acquire in Listener::look; whatever the host has written before is there.
  std::atomic_ref(bells_[number_ % Bell::count].command)
      .store(Bell::make(number_, what, number_), std::memory_order_release);
  // The fence is sequentially consistent, as is the engine's between `leaving` and its last look at the
  // bells: either the engine finds this command or the host finds it leaving.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return number_;
}

DeviceBell Engine::bell(Word chain) {
  if (!caretaker_.joinable())
    caretaker_ = std::jthread([this](const std::stop_token& stop) { bring_back_when_called(stop); });
  DeviceBell bell = bell_;
  bell.finished = finished_ + (chain & Bell::slot_mask);
  bell.chain = chain;
  bell.limits = used_.at(chain & Bell::slot_mask);
  return bell;
}

// The engine may have obeyed this very command before it left.
void Engine::bring_back_unless_obeyed(Word number) {
  const std::lock_guard lock(launching_);
  if (!stopped_ && has_ended() && device::load_relaxed(view_.obeyed + EngineView::host) != number) launch();
}

void Engine::bring_back_when_called(const std::stop_token& stop) {
  run_periodically(between_looks, stop, [this] {
    if (device::load_acquire(bell_.call) == 0) return;
    device::store_relaxed(bell_.call, 0);
    // The fence keeps this store before the look at the state, so that a later call is heard again.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const OnDevice here(device_);
    const std::lock_guard launching(launching_);
    try {
      if (!stopped_ && has_ended()) launch();
    } catch (const Error& error) {
      failure_ = error;
      has_failure_ = true;
    }
  });
}

void Engine::check_launches() {
  if (!has_failure_) return;
  const std::lock_guard launching(launching_);
  if (has_failure_.exchange(false)) throw *std::exchange(failure_, std::nullopt);
}

// An engine that is leaving makes up its mind in a few microseconds, unless its GPU has failed.
bool Engine::has_ended() {
  constexpr unsigned polls_between_checks = 4096;
  for (unsigned polls = 1; device::load_acquire(view_.state) == leaving; ++polls) {
    if (polls % polls_between_checks != 0) continue;
    const cudaError_t state = state_of(stream_);
    if (state != cudaErrorNotReady) check(state, "ringing the engine");
  }
  return device::load_acquire(view_.state) == ended;
}

void Engine::launch() {
  for (Word ringer = 0; ringer < EngineView::ringers; ++ringer)
    view_.rings[ringer].obeyed = device::load_relaxed(view_.obeyed + ringer);
  device::store_relaxed(view_.state, running);
  try {
    check(cudaMemsetAsync(view_.shared, 0, sizeof *view_.shared, stream_), "starting the engine");
    launch_engine(view_, blocks_, stream_);
  } catch (const Error&) {
    device::store_relaxed(view_.state, ended);  // the next command tries again
    throw;
  }
}

void Engine::stop() {
  if (blocks_ == 0) return;
  {
    const std::lock_guard lock(launching_);
    stopped_ = true;
  }
  caretaker_ = {};
  command(Bell::quit);
  cudaStreamSynchronize(stream_);
}

}  // namespace tca::cuda
