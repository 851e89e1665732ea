// The resident engine: a small kernel that stays on the GPU and runs chains on a doorbell that the host rings, with no
// launch at all. It plays the part of PEACH2's DMA controller.
//
// It keeps the multiprocessors it was given, and as long as it runs the GPU as a whole never comes to rest: whoever waits
// for that (cudaDeviceSynchronize, cudaFree, cudaMalloc at times) waits for `park`.
#pragma once

#include <cstdint>
#include <vector>

#include "fabric/cuda/engine_view.hpp"
#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/inbox.hpp"

namespace tca::cuda {

class Engine {
 public:
  static constexpr Word max_slots = 256;
  static constexpr Word max_in_flight = 16;

  // Without blocks there is none, and nothing is ever prepared.
  Engine(Inbox& inbox, HostCopier& copier, int rank, unsigned blocks);
  Engine(const Engine&) = delete;
  ~Engine();

  // A slot for a chain, or none when there is no engine or no room.
  static constexpr Word no_slot = ~Word{0};
  Word prepare(const DeviceChain& chain, Word* done);
  void release(Word slot);

  // Whether it takes one more command now.
  bool has_room() const { return in_flight_ < max_in_flight; }
  // Starts the chain; returns the number that its done word will get. `others_ran_it`: other kernels may have, since.
  Word ring(Word slot, bool others_ran_it);
  void finished() { --in_flight_; }

  // Ends the kernel; the next command starts it again. Steps that are under way are lost.
  void park();
  bool is_idle() const { return in_flight_ == 0; }

  // Unmapping memory waits for the GPU to come to rest.
  void free_when_parked(std::vector<Region> regions);

 private:
  Word command(Word what);

  Inbox& inbox_;
  HostCopier& copier_;
  int rank_;
  unsigned blocks_;
  Room room_;
  cudaStream_t stream_ = nullptr;
  EngineView view_;
  Bell* bells_ = nullptr;
  EngineSlot* slots_ = nullptr;  // device memory
  std::uint64_t used_[max_slots / 64] = {};
  Word number_ = 0;  // of the last command
  Word in_flight_ = 0;
  bool runs_ = false;
  std::vector<Region> freed_;
};

}  // namespace tca::cuda
