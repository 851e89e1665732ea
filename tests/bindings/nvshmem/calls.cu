// Every call of NVSHMEM that OpenTCA has, once, by as many PEs as there are: `calls` says what was wrong and ends with 1.
// `calls MISTAKE` makes one, whose message gpu_nvshmem_test.py looks for.
#include <nvshmem.h>
#include <nvshmemx.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "checks.hpp"

namespace {

constexpr int n = 1000, threads = 128;

template <class T>
std::vector<T> counted(std::size_t count, T first) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = first + T(i);
  return values;
}

struct Ring {
  int left, right;
};

__device__ double bad = 0;
__device__ void must(bool good, int line) {
  if (good) return;
  printf("PE %d: WRONG: line %d of calls.cu\n", nvshmem_my_pe(), line);
  atomicAdd(&bad, 1.0);
}

// A thread: p, g, iput, put and get of some sizes, signals by both operations, every comparison.
__global__ void by_thread(double* memory, uint64_t* signals, int* numbers, Ring ring) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  must(nvshmem_ptr(memory, pe) == memory, __LINE__);
  must(nvshmem_ptr(memory, ring.right) != nullptr && nvshmem_ptr(memory, pes) == nullptr, __LINE__);
  must(nvshmem_ptr(&ring, pe) == nullptr, __LINE__);
  must(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) == pe && nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED) == pes,
       __LINE__);
  must(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, pe, NVSHMEMX_TEAM_NODE) == pe, __LINE__);

  nvshmem_double_p(memory, pe + 0.5, ring.right);
  for (int i = 0; i < 8; ++i) memory[100 + i] = 10 * pe + i;
  nvshmem_double_put(memory + 1, memory + 100, 1, ring.right);
  nvshmem_double_put_nbi(memory + 2, memory + 101, 3, ring.right);
  nvshmem_putmem(memory + 5, memory + 104, 2 * sizeof(double), ring.right);
  nvshmem_put64_nbi(memory + 7, memory + 106, 2, ring.right);
  nvshmem_double_iput(memory + 10, memory + 100, 3, 2, 4, ring.right);
  nvshmem_fence();
  nvshmemx_signal_op(signals, 7, NVSHMEM_SIGNAL_SET, ring.right);
  must(nvshmem_signal_wait_until(signals, NVSHMEM_CMP_EQ, 7) == 7, __LINE__);
  must(memory[0] == ring.left + 0.5, __LINE__);
  for (int i = 0; i < 8; ++i) must(memory[1 + i] == 10 * ring.left + i, __LINE__);
  for (int i = 0; i < 4; ++i) must(memory[10 + 3 * i] == 10 * ring.left + 2 * i, __LINE__);
  must(memory[11] == 0 && memory[12] == 0, __LINE__);

  nvshmem_double_put_signal(memory + 20, memory + 103, 1, signals + 1, 3, NVSHMEM_SIGNAL_ADD, ring.right);
  nvshmem_double_put_signal_nbi(memory + 21, memory + 104, 2, signals + 1, 4, NVSHMEM_SIGNAL_ADD, ring.right);
  nvshmem_signal_wait_until(signals + 1, NVSHMEM_CMP_GE, 7);
  must(nvshmem_signal_fetch(signals + 1) == 7, __LINE__);
  for (int i = 0; i < 3; ++i) must(memory[20 + i] == 10 * ring.left + 3 + i, __LINE__);
  // Together in 16 bytes, the data before the signal and behind it.
  auto* const pair = reinterpret_cast<uint64_t*>(memory + 200);
  nvshmem_double_put_signal(memory + 200, memory + 101, 1, pair + 1, 5, NVSHMEM_SIGNAL_SET, ring.right);
  nvshmem_putmem_signal(memory + 203, memory + 102, 8, pair + 2, 6, NVSHMEM_SIGNAL_SET, ring.right);
  nvshmem_signal_wait_until(pair + 1, NVSHMEM_CMP_EQ, 5);
  nvshmem_signal_wait_until(pair + 2, NVSHMEM_CMP_EQ, 6);
  must(memory[200] == 10 * ring.left + 1 && memory[203] == 10 * ring.left + 2, __LINE__);

  nvshmem_int_p(numbers, -3, ring.right);
  nvshmem_int_wait_until(numbers, NVSHMEM_CMP_LT, -2);
  nvshmem_int_wait_until(numbers, NVSHMEM_CMP_LE, -3);
  nvshmem_int_wait_until(numbers, NVSHMEM_CMP_NE, 0);
  nvshmem_int_wait_until(numbers, NVSHMEM_CMP_GT, -4);
  nvshmem_int_wait_until(numbers, NVSHMEM_CMP_EQ, -3);
  must(
      nvshmem_int_test(numbers, NVSHMEM_CMP_GE, -3) == 1 && nvshmem_int_test(numbers, NVSHMEM_CMP_GT, 0) == 0,
      __LINE__);

  nvshmem_barrier_all();
  must(nvshmem_double_g(memory + 100, ring.right) == 10 * ring.right, __LINE__);
  double got[3];
  nvshmem_double_get(got, memory + 100, 3, ring.right);
  nvshmem_getmem(got + 2, memory + 105, sizeof(double), ring.right);
  must(got[1] == 10 * ring.right + 1 && got[2] == 10 * ring.right + 5, __LINE__);
  nvshmem_quiet();
  nvshmem_sync_all();
}

// A block, or warps of it: puts that begin at odd places, gets, signals.
__global__ void by_groups(char* bytes, double* memory, uint64_t* signals, Ring ring) {
  const int pe = nvshmem_my_pe();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    bytes[n + i] = char(pe + i);
    memory[n + i] = pe + i;
  }
  nvshmemx_putmem_block(bytes + 3, bytes + n + 5, n - 10, ring.right);
  nvshmemx_double_put_signal_block(memory, memory + n, n / 2, signals + 4, 1, NVSHMEM_SIGNAL_SET, ring.right);
  if (threadIdx.x < 32)
    nvshmemx_double_put_signal_nbi_warp(memory + n / 2, memory + n + n / 2, n / 2, signals + 5, 1,
                                        NVSHMEM_SIGNAL_SET, ring.right);
  nvshmemx_barrier_all_block();
  must(nvshmem_signal_fetch(signals + 4) == 1 && nvshmem_signal_fetch(signals + 5) == 1, __LINE__);
  for (int i = threadIdx.x; i < n; i += blockDim.x) must(memory[i] == ring.left + i, __LINE__);
  for (int i = threadIdx.x; i < n - 10; i += blockDim.x)
    must(bytes[3 + i] == char(ring.left + i + 5), __LINE__);
  nvshmemx_double_get_block(memory + 2 * n, memory + n, n, ring.right);
  if (threadIdx.x / 32 == 1) nvshmemx_double_iput_warp(memory + 3 * n, memory + n, 2, 1, n / 2, ring.right);
  nvshmemx_barrier_block(NVSHMEMX_TEAM_NODE);
  for (int i = threadIdx.x; i < n; i += blockDim.x) must(memory[2 * n + i] == ring.right + i, __LINE__);
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x)
    must(memory[3 * n + 2 * i] == ring.left + i, __LINE__);
  if (threadIdx.x < 32) nvshmemx_sync_all_warp();
}

// Sums and broadcasts of few values and of many, in place too, by every scope.
__global__ void collectives(double* memory, int* numbers, float* few) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes(), total = pes * (pes - 1) / 2, last = pes - 1;
  double* const sums = memory + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    memory[i] = pe + i;
    numbers[i] = -pe;
  }
  if (threadIdx.x < 3) few[threadIdx.x] = 0.5f * pe;
  __syncthreads();
  for (int count = 1; count <= n; count = count * 5 + 3) {
    nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, sums, memory, count);
    for (int i = threadIdx.x; i < count; i += blockDim.x) must(sums[i] == total + double(pes) * i, __LINE__);
  }
  if (threadIdx.x < 32) nvshmemx_int_sum_reduce_warp(NVSHMEM_TEAM_SHARED, numbers, numbers, n);
  if (threadIdx.x == 0) nvshmem_float_sum_reduce(NVSHMEMX_TEAM_NODE, few, few, 3);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) must(numbers[i] == -total, __LINE__);
  must(few[2] == 0.5f * total, __LINE__);
  for (int count : {1, 3, n}) {
    nvshmemx_double_broadcast_block(NVSHMEM_TEAM_WORLD, sums, memory, count, last);
    for (int i = threadIdx.x; i < count; i += blockDim.x) must(sums[i] == last + i, __LINE__);
    nvshmemx_barrier_all_block();
  }
  if (threadIdx.x == 0) nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, sums, memory, 13, 0);
  __syncthreads();
  must(sums[0] == 0, __LINE__);
}

void on_host_and_streams(Ring ring) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  auto* const memory = symmetric<double>(4 * n);
  auto* const signal = symmetric<uint64_t>(4);
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "making a stream");
  write(memory + n, counted<double>(n, pe));
  nvshmem_barrier_all();
  nvshmem_double_put(memory, memory + n, n / 2, ring.right);
  nvshmem_double_p(memory + n - 1, pe + 0.25, ring.right);
  nvshmem_double_iput(memory + 2 * n, memory + n, 2, 3, 10, ring.right);
  nvshmem_quiet();
  nvshmem_barrier_all();
  expect(read(memory, n / 2) == counted<double>(n / 2, ring.left), "nvshmem_double_put of the host");
  expect(read(memory + n - 1, 1)[0] == ring.left + 0.25, "nvshmem_double_p of the host");
  expect(read(memory + 2 * n, 20)[18] == ring.left + 27, "nvshmem_double_iput of the host");
  expect(nvshmem_double_g(memory + n, ring.right) == ring.right, "nvshmem_double_g of the host");
  nvshmem_barrier_all();
  nvshmemx_double_put_signal_on_stream(memory, memory + n + 1, n - 1, signal, 1, NVSHMEM_SIGNAL_SET,
                                       ring.right, stream);
  nvshmemx_signal_wait_until_on_stream(signal, NVSHMEM_CMP_EQ, 1, stream);
  nvshmemx_int64_wait_until_on_stream(reinterpret_cast<int64_t*>(signal), NVSHMEM_CMP_GT, -1, stream);
  nvshmemx_barrier_all_on_stream(stream);
  nvshmemx_double_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, memory + 2 * n, memory + n, n, stream);
  nvshmemx_double_broadcast_on_stream(NVSHMEM_TEAM_WORLD, memory + 3 * n, memory + n, 2, pes - 1, stream);
  nvshmemx_double_get_on_stream(memory + 3 * n + 2, memory + n, 1, ring.right, stream);
  check(cudaStreamSynchronize(stream), "what is on the stream");
  expect(read(memory, n - 1) == counted<double>(n - 1, ring.left + 1),
         "nvshmemx_double_put_signal_on_stream");
  expect(read(memory + 2 * n, n)[5] == pes * (pes - 1) / 2 + 5.0 * pes,
         "nvshmemx_double_sum_reduce_on_stream");
  expect(read(memory + 3 * n, 3) == std::vector<double>{pes - 1.0, double(pes), double(ring.right)},
         "broadcast and get on a stream");
  expect(nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, memory + 2 * n, memory + n, 2) == 0,
         "nvshmem_double_sum_reduce of the host");
  expect(read(memory + 2 * n, 2)[1] == pes * (pes - 1) / 2 + pes, "nvshmem_double_sum_reduce of the host");
  cudaStreamDestroy(stream);
  nvshmem_free(signal);
  nvshmem_free(memory);
}

void heap() {
  expect(nvshmem_malloc(0) == nullptr, "nothing of no bytes");
  void* const a = nvshmem_malloc(1000);
  void* const b = nvshmem_align(4096, 10);
  expect(a != nullptr && b != nullptr && reinterpret_cast<uintptr_t>(b) % 4096 == 0, "nvshmem_align");
  expect(nvshmem_malloc(std::size_t{1} << 50) == nullptr, "a heap that is full gives null");
  nvshmem_free(a);
  expect(nvshmem_malloc(1000) == a, "a block that is free again is given again");
  nvshmem_free(a);
  nvshmem_free(b);
}

// What is asked of kernels in vain.
__global__ void no_such_pe(double* memory) { nvshmem_double_p(memory, 1, nvshmem_n_pes() + 3); }
__global__ void not_symmetric(double* memory) { nvshmem_double_p(memory, 1, 0); }
__global__ void never_signalled(uint64_t* signal) { nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, 42); }
__global__ void alone() { nvshmemx_barrier_all_block(); }

void make(const std::string& mistake) {
  auto* const signal = symmetric<uint64_t>(8);
  double* elsewhere = nullptr;
  check(cudaMalloc(&elsewhere, 8), "cudaMalloc");
  if (mistake == "pe") no_such_pe<<<1, 64>>>(reinterpret_cast<double*>(signal));
  if (mistake == "memory") not_symmetric<<<1, 64>>>(elsewhere);
  if (mistake == "signal") never_signalled<<<1, 64>>>(signal);
  if (mistake == "barrier" && nvshmem_my_pe() == 0) alone<<<1, 32>>>();
  if (mistake == "death" && nvshmem_my_pe() == 1) std::_Exit(9);
  if (mistake == "death") never_signalled<<<1, 64>>>(signal);
  if (mistake == "differs") nvshmem_malloc(nvshmem_my_pe() == 0 ? 100 : 1000);
  if (mistake == "free") nvshmem_free(elsewhere);
  if (mistake == "host_pe") nvshmem_double_p(reinterpret_cast<double*>(signal), 1, -1);
  settle("the kernel");
  if (mistake == "barrier") sleep(10);
}

}  // namespace

int main(int argc, char** argv) {
  nvshmem_init();
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  check(cudaSetDevice(pe % gpus), "choosing a GPU");
  if (argc > 1) {
    make(argv[1]);
    return 0;
  }
  const Ring ring{(pe + pes - 1) % pes, (pe + 1) % pes};
  heap();
  auto* const bytes = symmetric<char>(2 * n);
  auto* const memory = symmetric<double>(4 * n);
  auto* const signals = symmetric<uint64_t>(8);
  auto* const numbers = symmetric<int>(n);
  auto* const few = symmetric<float>(4);
  by_thread<<<1, 1>>>(memory, signals, numbers, ring);
  settle("calls of a thread");
  nvshmem_barrier_all();
  by_groups<<<1, threads>>>(bytes, memory, signals, ring);
  settle("calls of groups");
  nvshmem_barrier_all();
  collectives<<<1, threads>>>(memory, numbers, few);
  settle("collectives");
  on_host_and_streams(ring);
  double in_kernels = 0;
  check(cudaMemcpyFromSymbol(&in_kernels, bad, sizeof bad), "reading");
  nvshmem_free(few);
  nvshmem_free(numbers);
  nvshmem_free(signals);
  nvshmem_free(memory);
  nvshmem_free(bytes);
  nvshmem_finalize();
  if (wrong == 0 && in_kernels == 0) std::printf("PE %d: all calls are right\n", pe);
  return wrong == 0 && in_kernels == 0 ? 0 : 1;
}
