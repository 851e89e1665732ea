// The resident engine: a small kernel that stays on the GPU and runs chains on a doorbell that the host or another kernel
// rings, with no launch at all. It plays the part of PEACH2's DMA controller.
//
// It keeps the multiprocessors it was given for as long as there is something to do. After 2 ms without, it leaves, and
// the next command launches it again: whoever waits for the GPU as a whole to come to rest (cudaFree,
// cudaDeviceSynchronize, a cooperative kernel that needs every multiprocessor) waits that long and no longer. A kernel
// cannot launch it; a thread does so where a kernel has rung in vain.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "fabric/cuda/engine_view.hpp"
#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/inbox.hpp"
#include "tca/error.hpp"

namespace tca::cuda {

class Engine {
 public:
  static constexpr Word max_slots = Bell::slot_mask;

  // Without blocks there is none, and nothing is ever prepared.
  Engine(Inbox& inbox, HostCopier& copier, int device, unsigned blocks);
  Engine(const Engine&) = delete;
  ~Engine();

  // What a chain is called here (see Bell); no chain when there is no engine or no room.
  static constexpr Word no_chain = ~Word{0};
  Word prepare(const DeviceChain& chain, Word* done);
  void release(Word chain);

  // Whether it has a chain's step done sooner than a launch of its kernel would.
  bool is_quick_with(const DeviceChain& chain) const;

  // Whether it takes one more command of the host's now.
  bool has_room() const { return !crews_[0].flies || !crews_[1].flies; }
  // Starts the chain; returns the number that its done word will get. `others_ran_it`: other kernels may have, since.
  Word ring(Word chain, bool others_ran_it);
  void finished(Word chain);

  // With which kernels ring for the chain. From now on somebody listens whether the engine is to be brought back.
  DeviceBell bell(Word chain);

  // Throws why it could not be brought back for a kernel that rang, once.
  void check_launches();

  // Ends the kernel; steps that are under way are lost.
  void stop();

 private:
  Word command(Word what);
  void bring_back_unless_obeyed(Word number);
  void bring_back_when_called(const std::stop_token& stop);
  bool has_ended();
  void launch();

  Inbox& inbox_;
  HostCopier& copier_;
  int device_;
  unsigned blocks_;
  Room room_;
  cudaStream_t stream_ = nullptr;
  EngineView view_;
  Bell* bells_ = nullptr;
  EngineSlot* slots_ = nullptr;  // device memory
  Word* finished_ = nullptr;     // device memory, one a slot: see DeviceBell
  DeviceBell bell_;
  std::map<Word, device::Patience> used_;  // of the chains in slots
  Word last_slot_ = 0;                     // that was given out
  std::array<Word, max_slots> turns_{};    // of each: how many chains it has had
  Word number_ = 0;                        // of the host's last command
  // The host's own, and the chains that they have prepared.
  struct {
    Word has = no_chain;
    bool flies = false;
  } crews_[EngineView::in_flight];
  static_assert(EngineView::in_flight == 2);
  bool last_crew_ = true;  // that got a command
  std::mutex launching_;   // of what follows: the thread launches too
  bool stopped_ = false;
  std::optional<Error> failure_;          // of the thread
  std::atomic<bool> has_failure_{false};  // which may be looked at without the lock
  std::jthread caretaker_;
};

}  // namespace tca::cuda
