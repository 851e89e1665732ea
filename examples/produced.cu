// Heat in a closed ring of rods, distributed over GPUs: every rank has a band of rings, one above the other, and
// its edges are rows of cells. No kernel packs an edge and no window holds it: the thread that has computed a cell
// of an edge writes it into the put, and the neighbour's thread that needs it reads it from there.
//
// Rank 0 checks the last state against a run of all bands by itself.
//
//   tca run -n 4 -- ./produced [rows a rank] [columns] [steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tca/produced.cuh"
#include "tca/tca.hpp"

constexpr int threads = 256;

__host__ __device__ static float new_heat(float here, float up, float down, float left, float right) {
  return here + 0.2f * (up + down + left + right - 4 * here);
}

// A rank's rows, and both of its edges.
struct Band {
  int rows, columns;
  float *now, *next;
  tca::DeviceProducedPut<float> up, down;          // my first row goes up, my last row down
  tca::DeviceProducedArrival<float> above, below;  // the rows next to them
};

// Computes a cell whose neighbours above and below are given.
__device__ static void relax(const Band& band, const float* now, float* next, int row, int column,
                             float above, float below) {
  const float* const cells = now + row * band.columns;
  const int left = (column + band.columns - 1) % band.columns, right = (column + 1) % band.columns;
  next[row * band.columns + column] = new_heat(cells[column], above, below, cells[left], cells[right]);
}

// A step has the two barriers of `start` and `wait`, since a block computes with what others have computed in the step
// before. Between them each edge goes and comes cell by cell.
__global__ static void __launch_bounds__(threads, 1)
    heat_kernel(const __grid_constant__ tca::DeviceProducedChain edges, const __grid_constant__ Band band,
                int steps) {
  tca::ProducedGridChain step(edges);
  float *now = band.now, *next = band.next;
  const int last = band.rows - 1, columns = band.columns;
  for (int n = 0; n < steps; ++n) {
    step.start();  // every block has computed its cells of the step before
    step.for_own_elements(band.up, [&](unsigned c) { step.write(band.up, c, now[c]); });
    step.for_own_elements(band.down, [&](unsigned c) { step.write(band.down, c, now[last * columns + c]); });
    // These rows need nothing of another rank.
    for (int i = columns + blockIdx.x * threads + threadIdx.x; i < last * columns; i += gridDim.x * threads)
      relax(band, now, next, i / columns, i % columns, now[i - columns], now[i + columns]);
    // Each edge is computed as its neighbours arrive, cell by cell.
    step.for_own_elements(band.above, [&](unsigned c) {
      float cell;
      if (step.read(band.above, c, cell)) relax(band, now, next, 0, c, cell, now[columns + c]);
    });
    step.for_own_elements(band.below, [&](unsigned c) {
      float cell;
      if (step.read(band.below, c, cell))
        relax(band, now, next, last, c, now[(last - 1) * columns + c], cell);
    });
    if (!step.wait()) return;  // on every block; World::check says for whom it waited
    float* const other = now;
    now = next;
    next = other;
  }
}

// Computes all bands on one rank.
static std::vector<float> whole(int rows, int columns, std::vector<float> now, int steps) {
  std::vector<float> next(now.size());
  for (int s = 0; s < steps; ++s) {
    for (int r = 0; r < rows; ++r) {
      const float *here = &now[r * columns], *up = &now[(r + rows - 1) % rows * columns],
                  *down = &now[(r + 1) % rows * columns];
      for (int c = 0; c < columns; ++c)
        next[r * columns + c] =
            new_heat(here[c], up[c], down[c], here[(c + columns - 1) % columns], here[(c + 1) % columns]);
    }
    now.swap(next);
  }
  return now;
}

int main(int argc, char** argv) try {
  const int rows = argc > 1 ? std::atoi(argv[1]) : 64, columns = argc > 2 ? std::atoi(argv[2]) : 1000;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 200;
  if (rows < 2 || columns < 1 || steps < 1) {
    std::fprintf(stderr, "usage: produced [rows a rank, 2 or more] [columns] [steps]\n");
    return 2;
  }
  auto world = tca::World::init({.fabric = "cuda"});
  const int me = world.rank(), size = world.size(), cells = rows * columns;
  const int above = (me + size - 1) % size, below = (me + 1) % size;

  // Every rank declares what goes up first: where both neighbours are one rank, the order tells the puts apart.
  tca::Chain edges = world.chain("edges");
  const auto up = edges.put_produced<float>(above, columns), down = edges.put_produced<float>(below, columns);
  const auto from_below = edges.expect_produced<float>(below, columns);
  const auto from_above = edges.expect_produced<float>(above, columns);
  edges.commit();

  auto heat = world.window<float>(2 * cells);
  auto result = world.window<float>(me == 0 ? size * cells : 0);
  std::vector<float> first(static_cast<std::size_t>(size) * cells);
  for (int i = 0; i < size * cells; ++i) first[i] = static_cast<float>(i * 7919 % 101);
  heat.write(0, std::span(first).subspan(static_cast<std::size_t>(me) * cells, cells));
  world.barrier();

  const Band band{rows,        columns,       heat.data(),         heat.data() + cells,
                  up.device(), down.device(), from_above.device(), from_below.device()};
  void* arguments[] = {const_cast<tca::DeviceProducedChain*>(&edges.device_produced()),
                       const_cast<Band*>(&band), const_cast<int*>(&steps)};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(heat_kernel), 32, threads, arguments, 0, nullptr);
  const cudaError_t error = cudaStreamSynchronize(nullptr);
  world.check();
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
    return 1;
  }

  tca::Chain collect = world.chain("collect");
  collect.put(result.on(0).at(me * cells), heat.at(steps % 2 * cells), tca::block(cells));
  for (int rank = 0; me == 0 && rank < size; ++rank) collect.expect(rank);
  collect.commit();
  collect.run();
  bool right = true;
  if (me == 0) {
    const std::vector<float> expected = whole(size * rows, columns, first, steps);
    std::vector<float> have(expected.size());
    result.read(0, have);
    float worst = 0;
    for (std::size_t i = 0; i < have.size(); ++i) worst = std::fmax(worst, std::fabs(have[i] - expected[i]));
    right = worst < 1e-3f;
    std::printf("%d ranks of %d x %d cells, %d steps in one kernel: %s\n", size, rows, columns, steps,
                right ? "as by one rank" : "WRONG");
  }
  world.barrier();  // a rank's memory must stay until all ranks are done
  return right ? 0 : 1;
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
