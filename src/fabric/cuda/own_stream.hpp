// Streams and events of the fabric's own.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <list>
#include <vector>

#include "fabric/cuda/call.hpp"

namespace tca::cuda {

// What runs on one: what waits for nobody is not behind a kernel that waits for this rank, be it the fabric's or, of ordinary
// priority, the program's; and steps send before what else fills the GPU.
enum class Work { finite, waits };

struct OwnStream {
  cudaStream_t stream = nullptr;
  explicit OwnStream(Work work) {
    int least = 0, greatest = 0;  // smaller numbers go first
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for the priorities of streams");
    const int priority = work == Work::finite ? greatest : std::min(greatest + 1, least);
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority), "making a stream");
  }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { cudaStreamDestroy(stream); }
};

struct OwnEvent {
  cudaEvent_t event = nullptr;
  OwnEvent() { check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"); }
  OwnEvent(const OwnEvent&) = delete;
  ~OwnEvent() { cudaEventDestroy(event); }
};

// One for each chain that needs one, which it gives back when it goes.
class ChainStreams {
 public:
  cudaStream_t take() {
    if (free_.empty()) free_.push_back(all_.emplace_back(Work::waits).stream);
    const cudaStream_t stream = free_.back();
    free_.pop_back();
    return stream;
  }
  void give_back(cudaStream_t stream) { free_.push_back(stream); }

  void synchronize() const {
    for (const OwnStream& own : all_) cudaStreamSynchronize(own.stream);
  }

 private:
  std::list<OwnStream> all_;
  std::vector<cudaStream_t> free_;
};

}  // namespace tca::cuda
