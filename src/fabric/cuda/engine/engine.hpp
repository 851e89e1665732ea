// The resident engine: a small kernel that stays on the GPU and runs chains when the host or another kernel
// rings a doorbell, without any launch. It plays the part of PEACH2's DMA controller. Its kernel is in
// kernel.cu.
//
// It keeps the multiprocessors it was given for as long as there is something to do. After 2 ms without
// work it leaves, and the next command launches it again: calls that wait for the whole GPU to become idle
// (cudaFree, cudaDeviceSynchronize, a cooperative kernel that needs every multiprocessor) wait that long
// and no longer. A kernel cannot launch it; the relauncher, a host thread, does so when a kernel has posted
// while the engine was gone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "base/system/worker.hpp"
#include "fabric/cuda/engine/view.hpp"
#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "tca/error.hpp"

namespace tca::cuda {

class Engine {
 public:
  static constexpr Word max_slots = EngineCommand::slot_mask;

  // With 0 blocks there is no engine, and no chain is ever prepared.
  Engine(Inbox& inbox, HostCopier& copier, int device, unsigned blocks);
  Engine(const Engine&) = delete;
  ~Engine();

  static constexpr Word no_chain = ~Word{0};
  // Gives a chain a slot and returns its handle, which identifies it in commands (see EngineCommand);
  // `no_chain` if there is no engine or no slot left. `done` (pinned) receives the number of the host's
  // last command that has finished a step of it. `lands_on_host`: see EngineSlot.
  Word prepare(const DeviceChain& chain, Word* done, bool lands_on_host);
  void release(Word chain);

  // Whether the engine finishes a step of the chain sooner than a launch of its kernel would.
  bool is_quick_with(const DeviceChain& chain) const;

  // Whether the engine can accept another of the host's commands.
  bool has_room() const { return !worker_groups_[0].is_busy || !worker_groups_[1].is_busy; }
  // Starts a step of the chain; returns the number that its done word will receive. `others_ran_it`: other
  // kernels may have run the chain since the engine did.
  Word post(Word chain, bool others_ran_it);
  // The caller has seen the chain's done word.
  void finished(Word chain);

  // Returns the doorbell that kernels ring for the chain. The first call starts the relauncher.
  DeviceDoorbell doorbell(Word chain);

  // Throws, once, the reason why the relauncher could not bring the engine back for a kernel that posted.
  void check_launches();

  // Ends the kernel; steps under way are lost.
  void stop();

 private:
  Word command(Word what);
  void relaunch_unless_consumed(Word number);
  void relaunch_if_called();
  bool has_ended();
  void launch();

  Inbox& inbox_;
  HostCopier& copier_;
  int device_;
  unsigned blocks_;
  Room room_;
  cudaStream_t stream_ = nullptr;
  EngineView view_;
  EngineCommand* commands_ = nullptr;
  EngineSlot* slots_ = nullptr;                // device memory
  Word* finished_ = nullptr;                   // device memory, one per slot: see EngineSlot
  DeviceDoorbell doorbell_;                    // what the commands of all chains share
  std::map<Word, device::WaitLimits> used_;    // by slot: the limits of the chain that occupies it
  Word last_slot_ = 0;                         // the slot given out last
  std::array<Word, max_slots> generations_{};  // by slot: how many chains have occupied it
  Word number_ = 0;                            // the number of the host's last command
  // The worker groups that serve the host, as far as the host knows: a group is busy from its command until
  // `finished`.
  struct {
    Word prepared_chain = no_chain;
    bool is_busy = false;
  } worker_groups_[EngineView::in_flight];
  static_assert(EngineView::in_flight == 2);
  bool last_group_ = true;  // whether the second group got the last command
  std::mutex launching_;    // guards launches, which the relauncher makes as well, and the next two
  bool stopped_ = false;
  std::optional<Error> failure_;          // why the relauncher could not launch the engine
  std::atomic<bool> has_failure_{false};  // whether `failure_` holds one, readable without the lock
  base::Worker relauncher_;
};

}  // namespace tca::cuda
