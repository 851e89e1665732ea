#include "fabric/cuda/engine/engine.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "tca/error.hpp"

namespace tca::cuda {

namespace {

using namespace std::chrono_literals;

// A kernel that posted a command to an engine that has left waits at most this long for it, in addition to
// the launch.
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
  // The engine has priority over everything else on the GPU: a command must not wait for the blocks of a
  // large kernel.
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest),
        "making the engine's stream");
  commands_ = reinterpret_cast<EngineCommand*>(
      room_.take_words(EngineCommand::count * sizeof(EngineCommand) / sizeof(Word)));
  slots_ = inbox_.own<EngineSlot>(room_.take(max_slots * sizeof(EngineSlot)));
  finished_ = inbox_.own<Word>(room_.take(max_slots * sizeof(Word)));
  doorbell_.ring = inbox_.own<EngineCommand>(room_.take(EngineCommand::count * sizeof(EngineCommand)));
  doorbell_.tail = inbox_.own<Word>(room_.take(sizeof(Word)));
  doorbell_.call = room_.take_words(1);
  view_.rings[EngineView::host].commands = commands_;
  view_.rings[EngineView::kernels].commands = doorbell_.ring;
  view_.shared = inbox_.own<EngineView::Shared>(room_.take(sizeof(EngineView::Shared)));
  view_.awake = inbox_.own<Word>(room_.take(sizeof(Word)));
  doorbell_.awake = view_.awake;
  view_.state = room_.take_words(1);
  view_.consumed = room_.take_words(EngineView::producers);
  view_.slots = slots_;
}

Engine::~Engine() {
  if (blocks_ == 0) return;
  stop();
  cudaStreamDestroy(stream_);
}

// Slots are used in turn, so it takes 16 x 255 chains until a handle is reused.
Word Engine::prepare(const DeviceChain& chain, Word* done, bool lands_on_host) {
  if (blocks_ == 0 || used_.size() == max_slots) return no_chain;
  do {
    last_slot_ = (last_slot_ + 1) % max_slots;
  } while (used_.contains(last_slot_));
  used_[last_slot_] = chain.limits;
  const EngineSlot entry{chain, done, finished_ + last_slot_, lands_on_host ? 1U : 0U};
  copier_.write(reinterpret_cast<std::byte*>(slots_ + last_slot_), std::as_bytes(std::span(&entry, 1)));
  return (last_slot_ | generations_[last_slot_]++ << EngineCommand::slot_bits) & EngineCommand::chain_mask;
}

void Engine::release(Word chain) {
  if (chain == no_chain) return;
  finished(chain);
  used_.erase(chain & EngineCommand::slot_mask);
}

// On two H100s, host to host, a launch takes 14 us, and 17 with puts that are stored in place. The engine
// takes 4 and 9, and 1.3 more for each further chunk and 4 for each further segment that one of its warps
// carries.
bool Engine::is_quick_with(const DeviceChain& chain) const {
  constexpr Word chunks_a_warp = 8, segments_a_warp = 2;
  const Word chunks = std::max(chain.chunks_out, chain.chunks_in);
  const Word segments = std::max(chain.segments_out, chain.segments_in);
  const Word warps = blocks_ * EngineView::workers_in_group;
  return segments_a_warp * chunks + chunks_a_warp * segments <= chunks_a_warp * segments_a_warp * warps;
}

Word Engine::post(Word chain, bool others_ran_it) {
  check_launches();
  Word what = chain | (others_ran_it ? EngineCommand::others_ran_it : 0);
  // The group that has the chain prepared runs it: it is free, since a chain has one step under way.
  // Otherwise a free one does.
  bool second = worker_groups_[1].prepared_chain == chain;
  if (!second && worker_groups_[0].prepared_chain != chain)
    second = worker_groups_[0].is_busy || (!last_group_ && !worker_groups_[1].is_busy);
  worker_groups_[second] = {chain, true};
  last_group_ = second;
  if (second) what |= EngineCommand::second_group;
  const Word number = command(what);
  if (device::load_acquire(view_.state) != running) relaunch_unless_consumed(number);
  return number;
}

void Engine::finished(Word chain) {
  for (auto& workers : worker_groups_) workers.is_busy = workers.is_busy && workers.prepared_chain != chain;
}

Word Engine::command(Word what) {
  ++number_;
  // Release: pairs with the acquire in Dispatcher::poll; whatever the host has written before is there.
  std::atomic_ref(commands_[number_ % EngineCommand::count].command)
      .store(EngineCommand::make(number_, what, number_), std::memory_order_release);
  // The fence is sequentially consistent, as is the engine's between `leaving` and its last poll of the
  // commands: either the engine finds this command or the host finds it leaving.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return number_;
}

DeviceDoorbell Engine::doorbell(Word chain) {
  if (!relauncher_.is_running()) {
    relauncher_ =
        base::Worker::every("launching the engine again", between_looks, [this] { relaunch_if_called(); });
  }
  DeviceDoorbell doorbell = doorbell_;
  doorbell.finished = finished_ + (chain & EngineCommand::slot_mask);
  doorbell.chain = chain;
  doorbell.limits = used_.at(chain & EngineCommand::slot_mask);
  return doorbell;
}

// The engine may have consumed this very command before it left.
void Engine::relaunch_unless_consumed(Word number) {
  const std::lock_guard lock(launching_);
  if (!stopped_ && has_ended() && device::load_relaxed(view_.consumed + EngineView::host) != number) launch();
}

void Engine::relaunch_if_called() {
  if (device::load_acquire(doorbell_.call) == 0) return;
  device::store_relaxed(doorbell_.call, 0);
  // The fence keeps this store before the poll of the state, so that a later call is seen again.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const OnDevice here(device_);
  const std::lock_guard launching(launching_);
  try {
    if (!stopped_ && has_ended()) launch();
  } catch (const Error& error) {
    failure_ = error;
    has_failure_ = true;
  }
}

void Engine::check_launches() {
  if (!has_failure_) return;
  const std::lock_guard launching(launching_);
  if (has_failure_.exchange(false)) throw *std::exchange(failure_, std::nullopt);
}

// An engine that is leaving decides within a few microseconds, unless its GPU has failed.
bool Engine::has_ended() {
  constexpr unsigned polls_between_checks = 4096;
  for (unsigned polls = 1; device::load_acquire(view_.state) == leaving; ++polls) {
    if (polls % polls_between_checks != 0) continue;
    const cudaError_t state = state_of(stream_);
    if (state != cudaErrorNotReady) check(state, "posting to the engine");
  }
  return device::load_acquire(view_.state) == ended;
}

void Engine::launch() {
  for (Word producer = 0; producer < EngineView::producers; ++producer)
    view_.rings[producer].consumed = device::load_relaxed(view_.consumed + producer);
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
  relauncher_.stop();
  command(EngineCommand::quit);
  cudaStreamSynchronize(stream_);
}

}  // namespace tca::cuda
