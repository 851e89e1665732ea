// The benchmarks' use of CUDA's runtime: errors become exceptions, and memory, streams and graphs have
// owners.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "gpu/contenders.hpp"
#include "tca/error.hpp"

namespace tca::bench::gpu {

inline void check(cudaError_t result, const char* what) {
  if (result != cudaSuccess)
    throw Error(Errc::device_failed, std::string(what) + ": CUDA says: " + cudaGetErrorString(result));
}

// Copies, and returns when the copy is complete for all streams. cudaMemcpy alone may return once the data is
// in a buffer of the driver's.
inline void copy(void* to, const void* from, std::size_t bytes, const char* what) {
  if (bytes > 0) check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), what);
  check(cudaStreamSynchronize(nullptr), what);
}

// Zeroed memory, of the GPU or pinned on the host.
template <class T>
class Buffer {
 public:
  enum Place { device, host };

  explicit Buffer(std::size_t count, Place place = device) : place_(place) {
    const std::size_t bytes = count * sizeof(T);
    void* data = nullptr;
    check(place == device ? cudaMalloc(&data, bytes) : cudaMallocHost(&data, bytes),
          "memory for a benchmark");
    data_ = static_cast<T*>(data);
    check(cudaMemset(data_, 0, bytes), "memory for a benchmark");
    check(cudaStreamSynchronize(nullptr), "memory for a benchmark");
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { place_ == device ? cudaFree(data_) : cudaFreeHost(data_); }

  operator T*() const { return data_; }  // NOLINT: stands for the pointer

 private:
  T* data_ = nullptr;
  Place place_;
};

class OwnStream {
 public:
  OwnStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT: stands for the stream

 private:
  cudaStream_t stream_ = nullptr;
};

inline void finish(cudaStream_t stream) { check(cudaStreamSynchronize(stream), "a benchmark's steps"); }

// A graph of `steps_a_graph` steps, captured once.
class Graph {
 public:
  template <class Step>
  explicit Graph(Step step) {
    const OwnStream stream;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
    for (int i = 0; i < steps_a_graph; ++i) step(static_cast<cudaStream_t>(stream));
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "capturing a graph");
    const cudaError_t result = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    check(result, "making a graph");
  }
  Graph(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(graph_); }

  void run(int steps, cudaStream_t stream) const {
    for (int i = 0; i < steps; i += steps_a_graph)
      check(cudaGraphLaunch(graph_, stream), "launching a graph");
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace tca::bench::gpu
