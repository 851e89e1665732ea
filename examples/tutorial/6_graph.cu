// Step 6: two steps are captured in a CUDA graph, which saves the host's launches.
//
//   tca run -n 4 -- ./6_graph [cells along a side] [steps] [rows of ranks]
#include "heat.hpp"
#include "tca/tca.hpp"

constexpr unsigned threads = 256;

__device__ static void relax_cell(const heat::Part& part, const double* u, double* next, long i, long j) {
  next[part.at(i, j)] = heat::mean(u + part.at(i, j), part.pitch());
}

// The cells that need no ghosts: a block does 256 of a row.
__global__ static void inside_kernel(heat::Part part, const double* u, double* next) {
  const long i = 2 + blockIdx.y, j = 2 + blockIdx.x * threads + threadIdx.x;
  if (i < part.rows && j < part.columns) relax_cell(part, u, next, i, j);
}

// The others: thread k does cell k of both end rows and both end columns.
__global__ static void rim_kernel(heat::Part part, const double* u, double* next) {
  const long k = 1 + blockIdx.x * threads + threadIdx.x;
  if (k <= part.columns) {
    relax_cell(part, u, next, 1, k);
    relax_cell(part, u, next, part.rows, k);
  }
  if (k <= part.rows) {
    relax_cell(part, u, next, k, 1);
    relax_cell(part, u, next, k, part.columns);
  }
}

static unsigned blocks_for(long cells) { return static_cast<unsigned>((cells + threads - 1) / threads); }

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
  const dim3 inside(blocks_for(part.columns), static_cast<unsigned>(std::max(1L, part.rows - 2)));
  const unsigned rim = blocks_for(std::max(part.rows, part.columns));
  const auto step = [&](int now) {
    exchange[now].start(stream);
    inside_kernel<<<inside, threads, 0, stream>>>(part, u[now].data(), u[1 - now].data());
    exchange[now].wait(stream);
    rim_kernel<<<rim, threads, 0, stream>>>(part, u[now].data(), u[1 - now].data());
  };

  cudaGraph_t graph;
  cudaGraphExec_t two_steps;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  step(0);
  step(1);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&two_steps, graph, 0);

  heat::Clock clock;
  for (int s = 0; s < arguments.steps; s += 2) {
    cudaGraphLaunch(two_steps, stream);
    clock.done(s + 1, [&] { cudaStreamSynchronize(stream); });
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
