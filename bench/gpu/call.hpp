// The benchmarks' use of CUDA's runtime: owners of memory and of graphs of many steps.
#pragma once

#include <cuda_runtime.h>

#include "gpu/contenders.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::bench::gpu {

using apps::cuda_ok;
using apps::OwnStream;

// Copies, and returns when the copy is complete for all streams. cudaMemcpy alone may return once the data is
// in a buffer of the driver's.
inline void copy(void* to, const void* from, std::size_t bytes, const char* what) {
  if (bytes > 0) cuda_ok(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), what);
  cuda_ok(cudaStreamSynchronize(nullptr), what);
}

// Zeroed memory, of the GPU or pinned on the host.
template <class T>
class Buffer {
 public:
  enum Place { device, host };

  explicit Buffer(std::size_t count, Place place = device) : place_(place) {
    const std::size_t bytes = count * sizeof(T);
    void* data = nullptr;
    cuda_ok(place == device ? cudaMalloc(&data, bytes) : cudaMallocHost(&data, bytes),
            "memory for a benchmark");
    data_ = static_cast<T*>(data);
    cuda_ok(cudaMemset(data_, 0, bytes), "memory for a benchmark");
    cuda_ok(cudaStreamSynchronize(nullptr), "memory for a benchmark");
  }
  Buffer(const Buffer&) = delete;
  ~Buffer() { place_ == device ? cudaFree(data_) : cudaFreeHost(data_); }

  operator T*() const { return data_; }  // NOLINT: stands for the pointer

 private:
  T* data_ = nullptr;
  Place place_;
};

inline void finish(cudaStream_t stream) { cuda_ok(cudaStreamSynchronize(stream), "a benchmark's steps"); }

// A graph of `steps_a_graph` steps, captured once.
class Graph {
 public:
  template <class Step>
  explicit Graph(Step step, unsigned long long flags = 0)
      : captured_(
            stream_.get(),
            [&] {
              for (int i = 0; i < steps_a_graph; ++i) step(stream_.get());
            },
            flags) {}

  void run(int steps, cudaStream_t stream) const {
    for (int i = 0; i < steps; i += steps_a_graph) captured_.launch(stream);
  }

 private:
  OwnStream stream_;
  apps::CapturedGraph captured_;
};

}  // namespace tca::bench::gpu
