// NVSHMEM with PEs on several hosts: `hosts [mpi]` makes the calls that are there and says what was wrong; `hosts MISTAKE` makes
// one that is not, or one alone. OPENTCA_SUBCLUSTER, which divides a host, says how many PEs each has.
#include <mpi.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "checks.hpp"

namespace {

constexpr int n = 1000, many = 600000, threads = 128;  // `many` doubles go in two pieces

// The PEs of this host, as OPENTCA_SUBCLUSTER divides the world.
struct Host {
  int first, pes, me;
};
Host find_host() {
  const int size = std::atoi(std::getenv("OPENTCA_SUBCLUSTER")), pe = nvshmem_my_pe();
  const int first = pe / size * size;
  return {first, std::min(size, nvshmem_n_pes() - first), pe - first};
}

__device__ double bad = 0;
__device__ void must(bool good, int line) {
  if (good) return;
  printf("PE %d: WRONG: line %d of hosts.cu\n", nvshmem_my_pe(), line);
  atomicAdd(&bad, 1.0);
}

__host__ __device__ bool is_on(const Host& host, int pe) {
  return pe >= host.first && pe < host.first + host.pes;
}

void teams_of_the_host(const Host& host) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  auto* const memory = symmetric<double>(1);
  expect(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == pe && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == pes,
         "the world");
  for (const nvshmem_team_t team : {NVSHMEM_TEAM_SHARED, NVSHMEMX_TEAM_NODE}) {
    expect(nvshmem_team_my_pe(team) == host.me && nvshmem_team_n_pes(team) == host.pes, "the team of a host");
    for (int other = 0; other < pes; ++other)
      expect(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, other, team) ==
                 (is_on(host, other) ? other - host.first : -1),
             "nvshmem_team_translate_pe from the world");
    for (int other = 0; other < host.pes; ++other)
      expect(nvshmem_team_translate_pe(team, other, NVSHMEM_TEAM_WORLD) == host.first + other,
             "nvshmem_team_translate_pe to the world");
  }
  for (int other = -1; other <= pes; ++other)
    expect((nvshmem_ptr(memory, other) != nullptr) == is_on(host, other), "nvshmem_ptr");
  nvshmem_free(memory);
}

void heap() {
  void* const a = nvshmem_malloc(1000);
  void* const b = nvshmem_align(4096, 10);
  expect(a != nullptr && b != nullptr && reinterpret_cast<uintptr_t>(b) % 4096 == 0, "nvshmem_align");
  nvshmem_free(a);
  expect(nvshmem_malloc(1000) == a, "a block that is free again is given again");
  nvshmem_free(a);
  nvshmem_free(b);
}

// Puts, a signal and gets round the ring of the host's PEs, and what they do together.
__global__ void within_the_host(double* memory, uint64_t* signal, Host host) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  const int right =
                nvshmem_team_translate_pe(NVSHMEMX_TEAM_NODE, (host.me + 1) % host.pes, NVSHMEM_TEAM_WORLD),
            left = host.first + (host.me + host.pes - 1) % host.pes;
  double *const mine = memory + n, *const sums = memory + 2 * n;
  if (threadIdx.x == 0) {
    must(nvshmem_team_my_pe(NVSHMEM_TEAM_WORLD) == pe && nvshmem_team_n_pes(NVSHMEM_TEAM_WORLD) == pes,
         __LINE__);
    must(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) == host.me &&
             nvshmem_team_n_pes(NVSHMEM_TEAM_SHARED) == host.pes,
         __LINE__);
    for (int other = 0; other < pes; ++other) {
      must((nvshmem_ptr(memory, other) != nullptr) == is_on(host, other), __LINE__);
      must(nvshmem_team_translate_pe(NVSHMEM_TEAM_WORLD, other, NVSHMEMX_TEAM_NODE) ==
               (is_on(host, other) ? other - host.first : -1),
           __LINE__);
    }
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = pe + i;
  __syncthreads();
  nvshmemx_double_put_signal_block(memory, mine, n / 2, signal, 1, NVSHMEM_SIGNAL_SET, right);
  if (threadIdx.x == 0) {
    nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, 1);
    nvshmem_double_p(memory + n - 1, pe + 0.5, right);
  }
  nvshmemx_barrier_block(NVSHMEMX_TEAM_NODE);
  for (int i = threadIdx.x; i < n / 2; i += blockDim.x) must(memory[i] == left + i, __LINE__);
  must(memory[n - 1] == left + 0.5, __LINE__);
  must(nvshmem_double_g(mine + 1, right) == right + 1, __LINE__);
  const int total = host.pes * (host.pes - 1) / 2 + host.pes * host.first, last = host.first + host.pes - 1;
  for (int count : {1, 60, n}) {
    nvshmemx_double_sum_reduce_block(NVSHMEMX_TEAM_NODE, sums, mine, count);
    for (int i = threadIdx.x; i < count; i += blockDim.x)
      must(sums[i] == total + double(host.pes) * i, __LINE__);
    nvshmemx_double_broadcast_block(NVSHMEM_TEAM_SHARED, memory, mine, count, host.pes - 1);
    for (int i = threadIdx.x; i < count; i += blockDim.x) must(memory[i] == last + i, __LINE__);
    nvshmemx_team_sync_block(NVSHMEM_TEAM_SHARED);
  }
}

__global__ void fill(double* values, int count, double first) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) values[i] = first + i;
}
__global__ void compare(const double* values, int count, double first, double step, int line) {
  for (int i = threadIdx.x; i < count; i += blockDim.x) must(values[i] == first + step * i, line);
}

void host_calls_within_the_host(const Host& host) {
  auto* const memory = symmetric<double>(3 * n);
  const int pe = nvshmem_my_pe(), right = host.first + (host.me + 1) % host.pes,
            left = host.first + (host.me + host.pes - 1) % host.pes;
  write(memory + n, std::vector<double>(n, pe));
  nvshmem_barrier(NVSHMEMX_TEAM_NODE);
  nvshmem_double_put(memory, memory + n, n, right);
  nvshmem_team_sync(NVSHMEM_TEAM_SHARED);
  expect(read(memory, n) == std::vector<double>(n, left), "nvshmem_double_put of the host");
  expect(nvshmem_double_g(memory + n, right) == right, "nvshmem_double_g of the host");
  nvshmem_double_sum_reduce(NVSHMEMX_TEAM_NODE, memory + 2 * n, memory + n, n);
  expect(read(memory + 2 * n, n) ==
             std::vector<double>(n, host.pes * (host.pes - 1) / 2 + host.pes * host.first),
         "a sum of the host's PEs");
  nvshmem_double_broadcast(NVSHMEMX_TEAM_NODE, memory + 2 * n, memory + n, n, host.pes - 1);
  expect(read(memory + 2 * n, n)[n - 1] == host.first + host.pes - 1, "a broadcast to the host's PEs");
  nvshmem_free(memory);
}

template <class T>
using Sum = int (*)(nvshmem_team_t, T*, const T*, size_t);
template <class T>
void sum_over_all(Sum<T> sum, std::size_t count, const char* what) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  auto* const memory = symmetric<T>(2 * count);
  write(memory, std::vector<T>(count, T(pe + 1)));
  sum(NVSHMEM_TEAM_WORLD, memory + count, memory, count);
  const std::vector<T> sums(count, T(pes * (pes + 1) / 2));
  expect(read(memory + count, count) == sums, what);
  sum(NVSHMEM_TEAM_WORLD, memory, memory, count);
  expect(read(memory, count) == sums, what);
  nvshmem_free(memory);
}

void host_calls_over_all() {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  for (const std::size_t count : {1, 3, n, many})
    sum_over_all<double>(nvshmem_double_sum_reduce, count, "nvshmem_double_sum_reduce over all");
  sum_over_all<float>(nvshmem_float_sum_reduce, n, "nvshmem_float_sum_reduce over all");
  sum_over_all<int>(nvshmem_int_sum_reduce, n, "nvshmem_int_sum_reduce over all");
  sum_over_all<uint64_t>(nvshmem_uint64_sum_reduce, n, "nvshmem_uint64_sum_reduce over all");
  auto* const bytes = symmetric<char>(2 * n);
  write(bytes, std::vector<char>(n, char('a' + pe)));
  for (int root = 0; root < pes; ++root) {
    nvshmem_broadcastmem(NVSHMEM_TEAM_WORLD, bytes + n, bytes, 13, root);
    nvshmem_char_broadcast(NVSHMEM_TEAM_WORLD, bytes + n + 13, bytes, n - 14, root);
    std::vector<char> from_root(n, char('a' + root));
    from_root.back() = 0;
    expect(read(bytes + n, n) == from_root, "a broadcast to all");
  }
  nvshmem_barrier_all();
  nvshmem_sync_all();
  nvshmem_barrier(NVSHMEM_TEAM_WORLD);
  nvshmem_team_sync(NVSHMEM_TEAM_WORLD);
  nvshmem_free(bytes);
}

// Kernels and what all do together, one behind the other, and the same again as a graph.
void on_a_stream(const Host& host) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes(), total = pes * (pes - 1) / 2;
  auto* const memory = symmetric<double>(4 * n);
  double *const sums = memory + n, *const ghosts = memory + 2 * n, *const copies = memory + 3 * n;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  const int right = host.first + (host.me + 1) % host.pes,
            left = host.first + (host.me + host.pes - 1) % host.pes;
  const auto step = [&] {
    fill<<<1, threads, 0, stream>>>(memory, n, pe);
    nvshmemx_double_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, sums, memory, n, stream);
    compare<<<1, threads, 0, stream>>>(sums, n, total, pes, __LINE__);
    nvshmemx_double_broadcast_on_stream(NVSHMEM_TEAM_WORLD, copies, memory, n, pes - 1, stream);
    compare<<<1, threads, 0, stream>>>(copies, n, pes - 1, 1, __LINE__);
    nvshmemx_double_put_on_stream(ghosts, memory, n, right, stream);
    nvshmemx_barrier_all_on_stream(stream);
    compare<<<1, threads, 0, stream>>>(ghosts, n, left, 1, __LINE__);
    nvshmemx_barrier_on_stream(NVSHMEMX_TEAM_NODE, stream);
    nvshmemx_sync_all_on_stream(stream);
  };
  for (int i = 0; i < 3; ++i) step();
  check(cudaStreamSynchronize(stream), "what is on the stream");
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing");
  step();
  check(cudaStreamEndCapture(stream, &graph), "capturing");
  check(cudaGraphInstantiate(&executable, graph, 0), "making a graph");
  for (int i = 0; i < 3; ++i) check(cudaGraphLaunch(executable, stream), "launching a graph");
  check(cudaStreamSynchronize(stream), "a graph");
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
  nvshmem_free(memory);
}

__global__ void put_elsewhere(double* memory, int pe) { nvshmem_double_p(memory, 1, pe); }
__global__ void meet_all() { nvshmemx_barrier_all_block(); }

// By PE 0, of a PE of the last host or alone; the others wait for it.
void make(const std::string& mistake) {
  auto* const memory = symmetric<double>(2);
  const int other = nvshmem_n_pes() - 1;
  nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, memory, memory, 1);
  nvshmem_barrier_all();
  if (nvshmem_my_pe() != 0) {
    sleep(10);
    return;
  }
  if (mistake == "kernel_put") put_elsewhere<<<1, 64>>>(memory, other);
  if (mistake == "kernel_world") meet_all<<<1, 64>>>();
  if (mistake == "host_put") nvshmem_double_p(memory, 1, other);
  if (mistake == "host_signal")
    nvshmemx_signal_op_on_stream(reinterpret_cast<uint64_t*>(memory), 1, NVSHMEM_SIGNAL_SET, other, nullptr);
  if (mistake == "root") nvshmem_double_broadcast(NVSHMEMX_TEAM_NODE, memory, memory, 1, other);
  if (mistake == "late") nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, memory, memory, 1);
  if (mistake == "late_on_stream")
    nvshmemx_double_sum_reduce_on_stream(NVSHMEM_TEAM_WORLD, memory, memory, 1, nullptr);
  settle(mistake.c_str());
}

void come_up(bool by_mpi) {
  if (!by_mpi) return nvshmem_init();
  int given = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm comm = MPI_COMM_WORLD;
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  attributes.mpi_comm = &comm;
  if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_MPI_COMM, &attributes) != 0) std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const bool by_mpi = what == "mpi";
  come_up(by_mpi);
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  check(cudaSetDevice(nvshmem_my_pe() % gpus), "choosing a GPU");  // one host is divided
  if (!what.empty() && !by_mpi) {
    make(what);
    return 0;
  }
  const int pe = nvshmem_my_pe();
  const Host host = find_host();
  teams_of_the_host(host);
  heap();
  auto* const memory = symmetric<double>(3 * n);
  auto* const signal = symmetric<uint64_t>(1);
  within_the_host<<<1, threads>>>(memory, signal, host);
  settle("calls of kernels within the host");
  nvshmem_barrier_all();
  nvshmem_free(signal);
  nvshmem_free(memory);
  host_calls_within_the_host(host);
  host_calls_over_all();
  on_a_stream(host);
  double in_kernels = 0;
  check(cudaMemcpyFromSymbol(&in_kernels, bad, sizeof bad), "reading");
  if (!by_mpi) nvshmem_finalize();  // the other way programs may leave it out
  if (by_mpi) MPI_Finalize();
  const bool good = wrong == 0 && in_kernels == 0;
  if (good) std::printf("PE %d: all calls are right\n", pe);
  return good ? 0 : 1;
}
