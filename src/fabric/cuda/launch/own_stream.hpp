// The fabric's own streams and events.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <list>
#include <vector>

#include "fabric/cuda/call.hpp"

namespace tca::cuda {

// The kind of work on a stream. Finite work waits for no other rank and has the highest priority, so that
// it never queues behind a kernel that waits for this rank, the fabric's or the program's. Steps, which
// wait, are next, so that they send before whatever else fills the GPU.
enum class Work { finite, waits };

struct OwnStream {
  cudaStream_t stream = nullptr;
  explicit OwnStream(Work work) {
    int least = 0, greatest = 0;  // smaller numbers have priority
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

// Streams for chains. A chain that needs one takes it, and returns it when destroyed.
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
