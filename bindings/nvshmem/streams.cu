// What the host has the GPU do on streams, and what it tells kernels of the PEs.
#include "nvshmem/device.hpp"
#include "tca_nvshmem/kernel.cuh"

namespace tca_nvshmem {
extern __constant__ tca::DeviceTeam team_of[3];
__device__ void check_collectives(const char* call);
}  // namespace tca_nvshmem

namespace tca::nvshmem {
namespace {

constexpr unsigned few = 32, many = 512;  // threads: for a few values, and for copies

void launched(const char* what) { check(cudaGetLastError(), what); }

__global__ void signal_kernel(std::uint64_t* at, std::uint64_t value, int op, int pe) {
  tca_nvshmem::signal(at, value, op, pe, "a signal on a stream");
}
template <class T>
__global__ void wait_kernel(const T* at, int cmp, T value) {
  tca_nvshmem::wait(at, cmp, value, "a wait on a stream");
}
__global__ void check_kernel() { tca_nvshmem::check_collectives("a collective across hosts"); }
__global__ void barrier_kernel(int team) {
  tca_nvshmem::barrier<tca_nvshmem::by_block>(team, "a barrier on a stream");
}
template <tca_nvshmem_kind kind>
__global__ void sum_kernel(int team, void* to, const void* from, std::size_t count) {
  tca_nvshmem::sum<tca_nvshmem::by_block, kind>(team, to, from, count, "a sum on a stream");
}
__global__ void broadcast_kernel(int team, void* to, const void* from, std::size_t bytes, int root) {
  tca_nvshmem::broadcast<tca_nvshmem::by_block>(team, to, from, bytes, root, "a broadcast on a stream");
}
__global__ void strided_kernel(void* to, const void* from, std::ptrdiff_t to_stride,
                               std::ptrdiff_t from_stride, std::size_t count, unsigned element_bytes,
                               int pe) {
  tca_nvshmem::copy_strided(tca_nvshmem::by_block,
                            tca_nvshmem::at(static_cast<char*>(to), pe, "a strided put"), from, to_stride,
                            from_stride, count, element_bytes);
}

template <class T>
void wait_for(void* at, int cmp, std::uint64_t value, cudaStream_t stream) {
  wait_kernel<<<1, 1, 0, stream>>>(static_cast<const T*>(at), cmp, static_cast<T>(value));
}

}  // namespace

void tell_kernels(const tca_nvshmem::State& state, const DeviceTeam* teams, int count) {
  check(cudaMemcpyToSymbol(tca_nvshmem::state, &state, sizeof state), "telling kernels of the PEs");
  check(cudaMemcpyToSymbol(tca_nvshmem::team_of, teams, sizeof *teams * static_cast<std::size_t>(count)),
        "telling kernels of the teams");
}

void launch_signal(std::uint64_t* at, std::uint64_t value, int op, int pe, Stream stream) {
  signal_kernel<<<1, 1, 0, stream>>>(at, value, op, pe);
  launched("a signal");
}

void launch_wait(void* at, int cmp, std::uint64_t value, std::size_t bytes, bool is_signed, Stream stream) {
  if (bytes == 8)
    is_signed ? wait_for<std::int64_t>(at, cmp, value, stream)
              : wait_for<std::uint64_t>(at, cmp, value, stream);
  else if (bytes == 4)
    is_signed ? wait_for<std::int32_t>(at, cmp, value, stream)
              : wait_for<std::uint32_t>(at, cmp, value, stream);
  else
    is_signed ? wait_for<std::int16_t>(at, cmp, value, stream)
              : wait_for<std::uint16_t>(at, cmp, value, stream);
  launched("a wait");
}

void launch_barrier(int team, Stream stream) {
  barrier_kernel<<<1, few, 0, stream>>>(team);
  launched("a barrier");
}

void launch_check(Stream stream) {
  check_kernel<<<1, 1, 0, stream>>>();
  launched("a collective across hosts");
}

void launch_sum(int team, int kind, void* to, const void* from, std::size_t count, Stream stream) {
  const auto launch = [&](auto kernel) {
    kernel<<<1, count <= few ? few : many, 0, stream>>>(team, to, from, count);
  };
  if (kind == tca_nvshmem_float32) launch(sum_kernel<tca_nvshmem_float32>);
  if (kind == tca_nvshmem_float64) launch(sum_kernel<tca_nvshmem_float64>);
  if (kind == tca_nvshmem_word32) launch(sum_kernel<tca_nvshmem_word32>);
  if (kind == tca_nvshmem_word64) launch(sum_kernel<tca_nvshmem_word64>);
  launched("a sum");
}

void launch_broadcast(int team, void* to, const void* from, std::size_t bytes, int root, Stream stream) {
  broadcast_kernel<<<1, bytes <= 8 * few ? few : many, 0, stream>>>(team, to, from, bytes, root);
  launched("a broadcast");
}

void launch_put_strided(void* to, const void* from, std::ptrdiff_t to_stride, std::ptrdiff_t from_stride,
                        std::size_t count, unsigned element_bytes, int pe, Stream stream) {
  strided_kernel<<<1, many, 0, stream>>>(to, from, to_stride, from_stride, count, element_bytes, pe);
  launched("a strided put");
}

}  // namespace tca::nvshmem
