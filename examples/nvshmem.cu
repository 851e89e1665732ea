// A program written for NVSHMEM: a token that goes round a ring, heat in a ring of cells whose ends are exchanged in a kernel,
// and a sum over all PEs. It compiles unchanged with NVSHMEM and with OpenTCA's part of it (docs/nvshmem.md):
//
//   nvcc -rdc=true -arch=native -I$HOME_OF_NVSHMEM/include nvshmem.cu -L$HOME_OF_NVSHMEM/lib -lnvshmem ...
//   tca run -n 4 -- ./nvshmem [cells a PE] [steps]
#include <nvshmem.h>
#include <nvshmemx.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int threads = 256;

static void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// Each PE adds its number to the token and passes it on; PE 0 begins, and gets it in the end.
__global__ void ring(long* token, long* sent, uint64_t* arrived) {
  const int pe = nvshmem_my_pe(), next = (pe + 1) % nvshmem_n_pes();
  if (pe != 0) nvshmem_signal_wait_until(arrived, NVSHMEM_CMP_EQ, 1);
  *sent = (pe == 0 ? 0 : *token) + pe;
  nvshmem_long_put_signal(token, sent, 1, arrived, 1, NVSHMEM_SIGNAL_SET, next);
  if (pe == 0) nvshmem_signal_wait_until(arrived, NVSHMEM_CMP_EQ, 1);
}

__host__ __device__ static double new_heat(const double* cell) {
  return *cell + 0.2 * (cell[-1] + cell[1] - 2 * *cell);
}

// Cells 1 to `cells` are this PE's; cells 0 and `cells` + 1 are its neighbours'. `news` counts, of each neighbour, the steps
// whose cell has come. The two arrays take turns: who has the neighbours' cells of a step knows that they are through with
// those of the step before.
__global__ void stencil(double* even, double* odd, int cells, int steps, uint64_t* news, double* heat,
                        double* total) {
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  const int left = (pe + pes - 1) % pes, right = (pe + 1) % pes;
  double *now = even, *next = odd;
  for (int step = 1; step <= steps; ++step) {
    if (threadIdx.x == 0)
      nvshmem_double_put_signal(now + cells + 1, now + 1, 1, news + 1, step, NVSHMEM_SIGNAL_SET, left);
    if (threadIdx.x == 1)
      nvshmem_double_put_signal(now, now + cells, 1, news, step, NVSHMEM_SIGNAL_SET, right);
    for (int i = 2 + threadIdx.x; i < cells; i += blockDim.x) next[i] = new_heat(now + i);
    if (threadIdx.x < 2) nvshmem_signal_wait_until(news + threadIdx.x, NVSHMEM_CMP_GE, step);
    if (threadIdx.x == 0) next[1] = new_heat(now + 1);
    if (threadIdx.x == 1) next[cells] = new_heat(now + cells);
    __syncthreads();
    double* const other = now;
    now = next;
    next = other;
  }
  if (threadIdx.x == 0) {
    *heat = 0;
    for (int i = 1; i <= cells; ++i) *heat += now[i];
  }
  nvshmemx_double_sum_reduce_block(NVSHMEM_TEAM_WORLD, total, heat, 1);
}

// The whole ring of cells, computed by one.
static std::vector<double> whole_ring(long cells, long hot, int steps) {
  std::vector<double> now(cells + 2), next;
  for (long i = 1; i <= hot; ++i) now[i] = 100;
  for (int s = 0; s < steps; ++s) {
    now[0] = now[cells];
    now[cells + 1] = now[1];
    next = now;
    for (long i = 1; i <= cells; ++i) next[i] = new_heat(&now[i]);
    now.swap(next);
  }
  return now;
}

int main(int argc, char** argv) {
  const int cells = argc > 1 ? std::atoi(argv[1]) : 1000,
            steps = (argc > 2 ? std::atoi(argv[2]) : 200) / 2 * 2;
  if (cells < 2 || steps < 2)
    return std::fprintf(stderr, "usage: nvshmem [cells a PE, 2 or more] [steps, 2 or more]\n"), 2;
  nvshmem_init();
  const int pe = nvshmem_my_pe(), pes = nvshmem_n_pes();
  int gpus = 0;
  check(cudaGetDeviceCount(&gpus), "counting GPUs");
  check(cudaSetDevice(nvshmem_team_my_pe(NVSHMEMX_TEAM_NODE) % gpus), "choosing a GPU");

  auto* const token = static_cast<long*>(nvshmem_calloc(2, sizeof(long)));
  auto* const news = static_cast<uint64_t*>(nvshmem_calloc(3, sizeof(uint64_t)));
  auto* const rods = static_cast<double*>(nvshmem_calloc(2 * (cells + 2), sizeof(double)));
  auto* const sums = static_cast<double*>(nvshmem_calloc(2, sizeof(double)));
  if (token == nullptr || news == nullptr || rods == nullptr || sums == nullptr) return 1;

  ring<<<1, 1>>>(token, token + 1, news + 2);
  check(cudaDeviceSynchronize(), "the ring");
  long round = 0;
  check(cudaMemcpy(&round, token, sizeof round, cudaMemcpyDeviceToHost), "reading the token");

  const long hot = cells / 2;  // of PE 0's cells
  if (pe == 0) {
    const std::vector<double> warm(hot, 100.0);
    check(cudaMemcpy(rods + 1, warm.data(), hot * sizeof(double), cudaMemcpyHostToDevice), "heating");
  }
  nvshmem_barrier_all();
  stencil<<<1, threads>>>(rods, rods + cells + 2, cells, steps, news, sums, sums + 1);
  check(cudaDeviceSynchronize(), "the stencil");

  std::vector<double> mine(cells);
  double total = 0, worst = 0;
  check(cudaMemcpy(mine.data(), rods + 1, cells * sizeof(double), cudaMemcpyDeviceToHost),
        "reading the cells");
  check(cudaMemcpy(&total, sums + 1, sizeof total, cudaMemcpyDeviceToHost), "reading the sum");
  const std::vector<double> expected = whole_ring(long{pes} * cells, hot, steps);
  for (int i = 0; i < cells; ++i)
    worst = std::fmax(worst, std::fabs(mine[i] - expected[1 + long{pe} * cells + i]));
  const bool good = (pe != 0 || round == long{pes} * (pes - 1) / 2) && worst < 1e-9 &&
                    std::fabs(total - hot * 100.0) < 1e-6 * total;
  std::printf("PE %d of %d: token %ld, heat %.9g, %d steps: %s\n", pe, pes, round, total, steps,
              good ? "right" : "WRONG");

  nvshmem_free(sums);
  nvshmem_free(rods);
  nvshmem_free(news);
  nvshmem_free(token);
  nvshmem_finalize();
  return good ? 0 : 1;
}
