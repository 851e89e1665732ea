// Calls to the CUDA runtime and driver, with their errors as sentences.
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <string_view>

namespace tca::cuda {

// Throws Error{out_of_memory}, Error{path_lost} if a link between GPUs failed, or Error{device_failed}:
// "<what>: CUDA says <its own words> (<its name for it>)".
void check(cudaError_t result, std::string_view what);
void check(CUresult result, std::string_view what);

// The driver functions that OpenTCA needs. They are looked up at run time, so that a program built with
// CUDA also starts without a driver.
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
  decltype(&cuMemRetainAllocationHandle) retain;
};
const Driver& driver();

// Returns cudaErrorNotReady while a stream has work left, and otherwise the error on its device, if any: only
// calls about a stream report the failure of a kernel. The call is allowed while the program captures a
// graph, and does not invalidate the capture.
inline cudaError_t state_of(cudaStream_t stream) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  const cudaError_t state = cudaStreamQuery(stream);
  cudaThreadExchangeStreamCaptureMode(&mode);
  return state;
}

// Returns whether the program is capturing a graph on a stream.
inline bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t result = cudaStreamIsCapturing(stream, &status);
  // CUDA returns this for the legacy stream while another thread captures a stream that it waits for.
  if (result == cudaErrorStreamCaptureImplicit) return true;
  check(result, "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

// While it lives, lets the calling thread make calls about other streams while it captures one.
class BesideCapture {
 public:
  BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
  BesideCapture(const BesideCapture&) = delete;
  ~BesideCapture() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Makes a device current on the calling thread for as long as this object lives.
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
