// The base of contenders of peers whose own kernel does all steps of a run.
#pragma once

#include <algorithm>
#include <utility>

#include "gpu/call.hpp"

namespace tca::bench::gpu {

// Numbers the steps over all runs, from 1 on; what step n sends has the values of number n - 1. `Kind` is the kind of contender.
template <class Kind>
class InKernel : public Kind {
 public:
  template <class... Args>
  explicit InKernel(const char* whose, Args&&... args) : Kind(std::forward<Args>(args)...) {
    this->fabric = this->peer = whose;
    this->start = "kernel";
  }

  void run(int steps, Stream stream) final {
    run_from(next_, steps, stream);
    this->steps_done += static_cast<std::uint32_t>(steps);
    next_ += static_cast<std::uint64_t>(steps);
    cuda_ok(cudaGetLastError(), "launching a peer's kernel");
  }

 protected:
  virtual void run_from(std::uint64_t first, int steps, cudaStream_t stream) = 0;

 private:
  std::uint64_t next_ = 1;
};

// Returns the number of blocks with which each has about `bytes_each` bytes, up to 64.
inline unsigned parts_for(std::size_t bytes, std::size_t bytes_each) {
  return static_cast<unsigned>(std::clamp<std::size_t>(bytes / bytes_each, 1, 64));
}

}  // namespace tca::bench::gpu
