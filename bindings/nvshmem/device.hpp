// What the host tells kernels, and has them do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "tca/device/team.hpp"
#include "tca/stream.hpp"
#include "tca_nvshmem/state.h"

namespace tca::nvshmem {

// Throws Error{device_failed}, which says what was being done.
void check(cudaError_t error, const char* what);

// The state of the PEs, and the teams, for the kernels of this process. Throw Error{device_failed}.
void tell_kernels(const tca_nvshmem::State& state, const DeviceTeam* teams, int count);

// Each is a kernel on a stream.
void launch_signal(std::uint64_t* at, std::uint64_t value, int op, int pe, Stream stream);
void launch_wait(void* at, int cmp, std::uint64_t value, std::size_t bytes, bool is_signed, Stream stream);
void launch_barrier(int team, Stream stream);
// Ends with an error where a collective before it has waited in vain.
void launch_check(Stream stream);
void launch_sum(int team, int kind, void* to, const void* from, std::size_t count, Stream stream);
void launch_broadcast(int team, void* to, const void* from, std::size_t bytes, int root, Stream stream);
void launch_put_strided(void* to, const void* from, std::ptrdiff_t to_stride, std::ptrdiff_t from_stride,
                        std::size_t count, unsigned element_bytes, int pe, Stream stream);

}  // namespace tca::nvshmem
