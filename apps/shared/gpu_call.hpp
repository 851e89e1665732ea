// Owners of CUDA's resources, and its errors as exceptions.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tca/world.hpp"

namespace tca::apps {

// Throws Error{out_of_memory} or Error{device_failed}: "<what>: CUDA says <its own words>".
void cuda_ok(cudaError_t result, std::string_view what);

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
  void synchronize(std::string_view what) const { cuda_ok(cudaStreamSynchronize(stream_), what); }

  // Copies what the stream's work so far has produced, and returns when the copy is done. It synchronises the
  // stream first because copies share a queue: a copy that waits for kernels that wait for another rank holds
  // up that rank's own copies, if it is a thread on the same GPU.
  void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) const {
    synchronize("waiting before a copy");
    cuda_ok(cudaMemcpyAsync(to, from, bytes, kind, stream_), "copying a field");
    synchronize("copying a field");
  }

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

// A second stream. Work that is put on it between a fork and a join runs beside what is put on the other
// stream meanwhile. A graph that captures the other stream captures both.
class SideStream {
 public:
  // Orders the work of this stream behind the other's so far, and returns this stream.
  cudaStream_t fork(cudaStream_t other) const {
    cuda_ok(cudaEventRecord(fork_.get(), other), "starting what runs beside");
    cuda_ok(cudaStreamWaitEvent(stream_.get(), fork_.get()), "starting what runs beside");
    return stream_.get();
  }
  // Orders the other stream's work behind that of this one.
  void join(cudaStream_t other) const {
    cuda_ok(cudaEventRecord(join_.get(), stream_.get()), "joining what ran beside");
    cuda_ok(cudaStreamWaitEvent(other, join_.get()), "joining what ran beside");
  }

 private:
  OwnEvent fork_, join_;
  OwnStream stream_;
};

// Device memory, zeroed unless it is made from values.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : size_(size) {
    if (size == 0) return;
    cuda_ok(cudaMalloc(&data_, size * sizeof(T)), "memory on the GPU (use more GPUs, or a smaller problem)");
    cuda_ok(cudaMemset(data_, 0, size * sizeof(T)), "clearing memory");
    cuda_ok(cudaStreamSynchronize(nullptr), "clearing memory");  // other streams do not wait for it
  }
  explicit DeviceArray(const std::vector<T>& from) : DeviceArray(from.size()) {
    cuda_ok(cudaMemcpy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "copying to the GPU");
    // The call returns once the host's memory may change. Other streams do not wait until the copy has
    // arrived on the GPU.
    cuda_ok(cudaStreamSynchronize(nullptr), "copying to the GPU");
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }

  void write(const std::vector<T>& from, const OwnStream& stream) const {
    stream.copy(data_, from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  std::vector<T> read(const OwnStream& stream) const {
    std::vector<T> into(size_);
    stream.copy(into.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    return into;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_;
};

// Host memory that kernels can access.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) {
    cuda_ok(cudaMallocHost(&data_, size * sizeof(T)), "pinned memory");
    for (std::size_t i = 0; i < size; ++i) data_[i] = T{};
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { cudaFreeHost(data_); }

  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

// What `enqueue` puts on a stream, captured once and launched as a whole from then on.
class CapturedGraph {
 public:
  // With cudaGraphInstantiateFlagUseNodePriority among the flags, kernels keep the priorities of the streams that they were
  // captured from.
  CapturedGraph(cudaStream_t stream, const std::function<void()>& enqueue, unsigned long long flags = 0);
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;
  ~CapturedGraph() { cudaGraphExecDestroy(graph_); }

  void launch(cudaStream_t stream) const { cuda_ok(cudaGraphLaunch(graph_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

// The same for ranks that may be threads and share GPUs. There each launch calls `enqueue` anew instead, since a
// graph's work must not stand behind a kernel that waits: see "Where ranks share a GPU" in docs/gpu.md.
class Graph {
 public:
  // Collective, because where ranks share a GPU no graph can be made while another rank's kernel waits for
  // this one.
  Graph(World& world, cudaStream_t stream, std::function<void()> enqueue);

  void launch() const;

 private:
  cudaStream_t stream_;
  std::function<void()> enqueue_;
  std::optional<CapturedGraph> captured_;
};

}  // namespace tca::apps
