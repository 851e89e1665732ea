// Transforms on a GPU by cuFFT, ordered on a stream.
#pragma once

#include <cufft.h>

#include <complex>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fft/pipeline.hpp"
#include "tca/stream.hpp"

namespace tca::fft {

// Throws Error{out_of_memory} or Error{device_failed}: "<what>: cuFFT says <its own name of it>".
void cufft_ok(cufftResult result, std::string_view what);
std::string cufft_version();  // e.g. "12.0.0"

// What transforms on one stream have in common: each of them needs memory to work in, and no two work at once.
class CufftWork {
 public:
  explicit CufftWork(Stream stream) : stream_(stream) {}
  CufftWork(const CufftWork&) = delete;
  CufftWork& operator=(const CufftWork&) = delete;
  ~CufftWork();

  // Of the array at `data`, in place. This outlives the transform.
  template <class Real>
  std::unique_ptr<Transform> transform(const Local& local, std::complex<Real>* data, Direction direction);

  // Gives memory to all transforms that were made and still are, and has each run once, on what its array holds: cuFFT loads
  // a kernel when it is first used, which waits for every kernel on the GPU, and one of those may be waiting for this rank.
  void set_up();

 private:
  class Plan;
  template <class Real>
  class CufftTransform;
  Stream stream_;
  std::vector<std::shared_ptr<Plan>> plans_;
  std::vector<Transform*> transforms_;
  std::size_t bytes_ = 0;
  void* memory_ = nullptr;
};

}  // namespace tca::fft
