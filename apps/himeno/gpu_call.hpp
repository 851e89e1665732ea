// CUDA's things with owners, and its errors as sentences.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <string_view>
#include <utility>

namespace tca::himeno {

// Throws Error{out_of_memory} or Error{device_failed}: "<what>: CUDA says <its own words>".
void cuda_ok(cudaError_t result, std::string_view what);

// Device memory, not zeroed.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) {
    cuda_ok(cudaMalloc(&data_, size * sizeof(T)), "the benchmark's arrays");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// A value in host memory that kernels and copies reach.
template <class T>
class PinnedValue {
 public:
  PinnedValue() { cuda_ok(cudaMallocHost(&value_, sizeof(T)), "pinned memory"); }
  PinnedValue(const PinnedValue&) = delete;
  PinnedValue& operator=(const PinnedValue&) = delete;
  ~PinnedValue() { cudaFreeHost(value_); }

  T* get() const { return value_; }

 private:
  T* value_ = nullptr;
};

class OwnStream {
 public:
  OwnStream() { cuda_ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    cudaStreamSynchronize(stream_);
    cudaStreamDestroy(stream_);
  }

  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

class OwnEvent {
 public:
  OwnEvent() { cuda_ok(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "making an event"); }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  ~OwnEvent() { cudaEventDestroy(event_); }

  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

// What `enqueue` puts on the stream, to be launched as a whole.
class Graph {
 public:
  template <class Enqueue>
  Graph(cudaStream_t stream, const Enqueue& enqueue) {
    cudaGraph_t graph = nullptr;
    // Other ranks may be threads of this process, in calls of their own.
    cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing an iteration");
    try {
      enqueue();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      cudaGraphDestroy(graph);
      throw;
    }
    cuda_ok(cudaStreamEndCapture(stream, &graph), "capturing an iteration");
    const cudaError_t result = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_ok(result, "making a graph of an iteration");
    cuda_ok(cudaGraphUpload(graph_, stream), "uploading a graph");
    cuda_ok(cudaStreamSynchronize(stream), "uploading a graph");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(graph_); }

  void launch(cudaStream_t stream) const { cuda_ok(cudaGraphLaunch(graph_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

}  // namespace tca::himeno
