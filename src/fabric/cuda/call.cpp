#include "fabric/cuda/call.hpp"

#include "base/fail.hpp"

namespace tca::cuda {

namespace {

template <class Function>
void find(Function& function, const char* name) {
  void* address = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t result =
      cudaGetDriverEntryPointByVersion(name, &address, 12000, cudaEnableDefault, &found);
  if (result != cudaSuccess || found != cudaDriverEntryPointSuccess || address == nullptr) {
    base::fail(Errc::device_failed,
               "this machine's NVIDIA driver has no {}; OpenTCA needs one for CUDA 12 or later", name);
  }
  function = reinterpret_cast<Function>(address);
}

// The runtime uses the driver's numbers. A link between GPUs is a path to a partner, which may be alive.
Errc code_of(int error) {
  if (error == CUDA_ERROR_OUT_OF_MEMORY) return Errc::out_of_memory;
  return error == CUDA_ERROR_NVLINK_UNCORRECTABLE ? Errc::path_lost : Errc::device_failed;
}

}  // namespace

void check(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  base::fail(code_of(result), "{}: CUDA says {} ({})", what, cudaGetErrorString(result),
             cudaGetErrorName(result));
}

void check(CUresult result, std::string_view what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver().get_error_string(result, &text);
  base::fail(code_of(result), "{}: CUDA's driver says {} ({})", what, text != nullptr ? text : "nothing more",
             static_cast<int>(result));
}

const Driver& driver() {
  static const Driver found = [] {
    Driver d{};
    find(d.get_error_string, "cuGetErrorString");
    find(d.get_granularity, "cuMemGetAllocationGranularity");
    find(d.create, "cuMemCreate");
    find(d.release, "cuMemRelease");
    find(d.reserve, "cuMemAddressReserve");
    find(d.free_address, "cuMemAddressFree");
    find(d.map, "cuMemMap");
    find(d.unmap, "cuMemUnmap");
    find(d.set_access, "cuMemSetAccess");
    find(d.export_handle, "cuMemExportToShareableHandle");
    find(d.import_handle, "cuMemImportFromShareableHandle");
    find(d.get_address_range, "cuMemGetAddressRange");
    find(d.retain, "cuMemRetainAllocationHandle");
    return d;
  }();
  return found;
}

}  // namespace tca::cuda
