// The resident engine: a small kernel that stays on the GPU and runs chains on a doorbell that the host rings, with no
// launch at all. It plays the part of PEACH2's DMA controller.
//
// It keeps the multiprocessors it was given for as long as there is something to do. After 2 ms without, it leaves, and
// the next command launches it again: whoever waits for the GPU as a whole to come to rest (cudaFree,
// cudaDeviceSynchronize, a cooperative kernel that needs every multiprocessor) waits that long and no longer.
#pragma once

#include <cstdint>

#include "fabric/cuda/engine_view.hpp"
#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/inbox.hpp"

namespace tca::cuda {

class Engine {
 public:
  static constexpr Word max_slots = 256;

  // Without blocks there is none, and nothing is ever prepared.
  Engine(Inbox& inbox, HostCopier& copier, unsigned blocks);
  Engine(const Engine&) = delete;
  ~Engine();

  // A slot for a chain, or none when there is no engine or no room.
  static constexpr Word no_slot = ~Word{0};
  Word prepare(const DeviceChain& chain, Word* done);
  void release(Word slot);

  // Whether it takes one more command now.
  bool has_room() const { return in_flight_ < EngineView::max_in_flight; }
  // Starts the chain; returns the number that its done word will get. `others_ran_it`: other kernels may have, since.
  Word ring(Word slot, bool others_ran_it);
  void finished() { --in_flight_; }

  // Ends the kernel; steps that are under way are lost.
  void stop();

 private:
  Word command(Word what);
  bool has_ended();
  void launch();

  Inbox& inbox_;
  HostCopier& copier_;
  unsigned blocks_;
  Room room_;
  cudaStream_t stream_ = nullptr;
  EngineView view_;
  Bell* bells_ = nullptr;
  EngineSlot* slots_ = nullptr;  // device memory
  std::uint64_t used_[max_slots / 64] = {};
  std::uint64_t new_[max_slots / 64] = {};  // not rung since they were prepared
  Word number_ = 0;                         // of the last command
  Word in_flight_ = 0;
};

}  // namespace tca::cuda
