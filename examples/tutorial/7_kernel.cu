// Step 7: a hundred steps are one kernel, which starts the exchanges and waits for them by itself.
//
//   tca run -n 4 -- ./7_kernel [cells along a side] [steps] [rows of ranks]
#include "heat.hpp"
#include "tca/chain.cuh"
#include "tca/tca.hpp"

constexpr unsigned threads = 256;

__device__ static void relax_cell(const heat::Part& part, const double* u, double* next, long i, long j) {
  next[part.at(i, j)] = heat::mean(u + part.at(i, j), part.pitch());
}

// A step by all threads of the grid. The exchange's start and wait are barriers of the grid as well.
__device__ static bool step(tca::GridChain& exchange, const heat::Part& part, const double* u, double* next) {
  exchange.start();
  // The cells that need no ghosts: a row a block.
  for (long i = 2 + blockIdx.x; i < part.rows; i += gridDim.x) {
    for (long j = 2 + threadIdx.x; j < part.columns; j += threads) relax_cell(part, u, next, i, j);
  }
  if (!exchange.wait()) return false;
  // The others: both end rows and both end columns.
  const long first = 1 + blockIdx.x * threads + threadIdx.x, all = gridDim.x * threads;
  for (long k = first; k <= part.columns; k += all) {
    relax_cell(part, u, next, 1, k);
    relax_cell(part, u, next, part.rows, k);
  }
  for (long k = first; k <= part.rows; k += all) {
    relax_cell(part, u, next, k, 1);
    relax_cell(part, u, next, k, part.columns);
  }
  return true;
}

__global__ static void __launch_bounds__(threads, 1)
    solve(const __grid_constant__ tca::DeviceChain even, const __grid_constant__ tca::DeviceChain odd,
          const __grid_constant__ heat::Part part, double* u, double* next, int steps) {
  tca::GridChain exchange_even(even), exchange_odd(odd);
  for (int s = 0; s < steps; s += 2) {
    if (!step(exchange_even, part, u, next)) return;  // on every block alike; World::check says why
    if (!step(exchange_odd, part, next, u)) return;
  }
}

int main(int argc, char** argv) try {
  const heat::Arguments arguments(argc, argv);
  tca::World world = tca::World::init({.fabric = "cuda"});
  const tca::Grid grid(world.size(), {arguments.rows_of_ranks, 0}, {}, {arguments.n, arguments.n});
  const tca::Range rows = grid.part(world.rank(), 0, arguments.n);
  const tca::Range columns = grid.part(world.rank(), 1, arguments.n);

  // Two arrays take turns.
  const heat::Part part{rows.size, columns.size, rows.begin, columns.begin};
  tca::Halo exchange[] = {{world, "even", grid, {part.rows, part.columns}},
                          {world, "odd", grid, {part.rows, part.columns}}};
  tca::Window<double> u[] = {world.window<double>(part.cells()), world.window<double>(part.cells())};
  for (int b = 0; b < 2; ++b) {
    u[b].write(0, heat::first_state(part));
    exchange[b].add(u[b]).commit();
  }

  cudaStream_t stream;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const unsigned blocks = 64;  // all of them must be on the GPU at once
  double *const even = u[0].data(), *const odd = u[1].data();

  heat::Clock clock;
  for (int s = 0; s < arguments.steps; s += 100) {
    int steps = std::min(100, arguments.steps - s);
    const void* parameters[] = {&exchange[0].device(), &exchange[1].device(), &part, &even, &odd, &steps};
    cudaLaunchCooperativeKernel(solve, blocks, threads, const_cast<void**>(parameters), 0, stream);
    clock.done(s + steps - 1, [&] { cudaStreamSynchronize(stream); });
  }
  const cudaError_t error = cudaStreamSynchronize(stream);
  world.check();  // throws what a step on the stream has met
  if (error != cudaSuccess) {
    std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(error));
    return 1;
  }

  std::vector<double> result(u[0].size());
  u[0].read(0, result);
  int wrong = 0;
  for (const int cells : world.all_gather(heat::wrong_cells(arguments, part, result.data()))) wrong += cells;
  return world.rank() == 0 ? heat::report(arguments, world.size(), wrong, clock) : 0;
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
