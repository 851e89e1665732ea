// Calls of the CUDA runtime and driver, with their errors as sentences.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <string_view>

namespace tca::cuda {

// Throws Error{out_of_memory} or Error{device_failed}: "<what>: CUDA says <its own words> (<its name for
// it>)".
void check(cudaError_t result, std::string_view what);
void check(CUresult result, std::string_view what);

// The driver's calls that OpenTCA needs, found at run time: a program built with CUDA also starts where there
// is no driver.
struct Driver {
  decltype(&cuGetErrorString) get_error_string;
  decltype(&cuMemGetAllocationGranularity) get_granularity;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) free_address;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  decltype(&cuMemExportToShareableHandle) export_handle;
  decltype(&cuMemImportFromShareableHandle) import_handle;
  decltype(&cuMemGetAddressRange) get_address_range;
};
const Driver& driver();

// Asks whether a stream has work left (cudaErrorNotReady), or what has failed on its device: of a kernel only
// a call about a stream tells. The question is neither refused while a program captures a graph nor does it
// spoil the capture.
inline cudaError_t state_of(cudaStream_t stream) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t state = cudaStreamQuery(stream);
  cudaThreadExchangeStreamCaptureMode(&mode);
  return state;
}

// Makes a device the calling thread's current one for as long as it lives.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    if (before_ != device) cudaSetDevice(device);
  }
  OnDevice(const OnDevice&) = delete;
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace tca::cuda
