// How long NVSHMEM's calls take in a kernel, in microseconds: a put of 8 bytes with its signal from one PE to the next, a sum
// of one value and a barrier over all PEs. It is a program of NVSHMEM's and compiled twice, with NVSHMEM and with OpenTCA's part of
// it, so that both do the very same.
//
//   ./nvshmem_latency 0 2 ID_FILE & ./nvshmem_latency 1 2 ID_FILE     (this PE, how many, where they meet)
#include <nvshmem.h>
#include <nvshmemx.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int steps = 2000, batches = 15;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
  std::exit(1);
}

// Two PEs in turn: the second one answers with what it has got.
__global__ void by_put_signal(double* data, uint64_t* signal, const double* value, uint64_t first) {
  const int pe = nvshmem_my_pe();
  if (pe > 1) return;
  for (uint64_t step = first; step < first + steps; ++step) {
    if (pe == 1) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, step);
    nvshmem_double_put_signal(data, pe == 1 ? data : value, 1, signal, step, NVSHMEM_SIGNAL_SET, 1 - pe);
    if (pe == 0) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, step);
  }
}
__global__ void by_p(uint64_t* signal, uint64_t first) {
  const int pe = nvshmem_my_pe();
  if (pe > 1) return;
  for (uint64_t step = first; step < first + steps; ++step) {
    if (pe == 1) nvshmem_uint64_wait_until(signal, NVSHMEM_CMP_GE, step);
    nvshmem_uint64_p(signal, step, 1 - pe);
    if (pe == 0) nvshmem_uint64_wait_until(signal, NVSHMEM_CMP_GE, step);
  }
}
// Each sum is of what the one before has brought: of zeros, so that nothing but the call takes time.
__global__ void sums_of_block(double* a, double* b) {
  for (int step = 0; step < steps; ++step)
    nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, step % 2 == 0 ? b : a, step % 2 == 0 ? a : b, 1);
}
__global__ void sums_of_thread(double* a, double* b) {
  for (int step = 0; step < steps; ++step)
    nvshmem_double_sum_reduce(NVSHMEM_TEAM_WORLD, step % 2 == 0 ? b : a, step % 2 == 0 ? a : b, 1);
}
__global__ void barriers() {
  for (int step = 0; step < steps; ++step) nvshmemx_barrier_all_block();
}

template <class Launch>
void measure(const char* what, double a_step, const Launch& launch) {
  std::vector<float> times;
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int batch = 0; batch < batches; ++batch) {
    nvshmem_barrier_all();
    check(cudaEventRecord(begin));
    launch(uint64_t(batch) * steps + 1);
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end));
    times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  const double scale = 1000.0 / steps / a_step;
  if (nvshmem_my_pe() == 0)
    std::printf("%-36s %8.3f  (%.3f to %.3f)\n", what, times[batches / 2] * scale, times.front() * scale,
                times.back() * scale);
}

// PE 0 leaves the id in a file, where the others find it.
nvshmemx_uniqueid_t meet(const std::string& path, int rank) {
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (rank == 0) {
    if (nvshmemx_get_uniqueid(&id) != 0) std::exit(1);
    std::FILE* const file = std::fopen((path + ".new").c_str(), "wb");
    std::fwrite(&id, sizeof id, 1, file);
    std::fclose(file);
    std::rename((path + ".new").c_str(), path.c_str());
    return id;
  }
  std::FILE* file = nullptr;
  for (int tries = 0; file == nullptr && tries < 3000; ++tries) {
    file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) usleep(10'000);
  }
  if (file == nullptr || std::fread(&id, sizeof id, 1, file) != 1) std::exit(1);
  std::fclose(file);
  return id;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return std::fprintf(stderr, "usage: nvshmem_latency PE PES ID_FILE\n"), 2;
  const int rank = std::atoi(argv[1]), ranks = std::atoi(argv[2]);
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus));
  check(cudaSetDevice(rank % gpus));
  nvshmemx_uniqueid_t id = meet(argv[3], rank);
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  nvshmemx_set_attr_uniqueid_args(rank, ranks, &id, &attributes);
  if (nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) return 1;

  auto* const memory = static_cast<double*>(nvshmem_calloc(1024, sizeof(double)));
  auto* const signals = static_cast<uint64_t*>(nvshmem_calloc(1024, sizeof(uint64_t)));
  double* const values = memory + 512;
  auto* const together = reinterpret_cast<uint64_t*>(memory + 256);
  measure("8 bytes by p", 2, [&](uint64_t first) { by_p<<<1, 1>>>(signals + 16, first); });
  measure("put_signal of 8 bytes", 2,
          [&](uint64_t first) { by_put_signal<<<1, 1>>>(memory, signals, values, first); });
  measure("put_signal, data beside signal", 2,
          [&](uint64_t first) { by_put_signal<<<1, 1>>>(memory + 257, together, values, first); });
  measure("sum of one double, a thread", 1, [&](uint64_t) { sums_of_thread<<<1, 1>>>(values, values + 16); });
  measure("sum of one double, a block of 32", 1,
          [&](uint64_t) { sums_of_block<<<1, 32>>>(values, values + 16); });
  measure("sum of one double, a block of 256", 1,
          [&](uint64_t) { sums_of_block<<<1, 256>>>(values, values + 16); });
  measure("barrier, a block of 32", 1, [&](uint64_t) { barriers<<<1, 32>>>(); });
  nvshmem_free(signals);
  nvshmem_free(memory);
  nvshmem_finalize();
  return 0;
}
