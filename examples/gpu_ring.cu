// Heat in a closed ring of cells, distributed over GPUs. A single kernel on each rank does everything: it
// computes, exchanges the cells at its ends by a chain, adds the heat up over all ranks, and puts its cells
// into rank 0's memory. Rank 0 checks them against a run of the whole ring by itself.
//
//   tca run -n 4 -- ./gpu_ring [cells a rank] [steps]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cub/block/block_reduce.cuh>
#include <vector>

#include "tca/chain.cuh"
#include "tca/tca.hpp"
#include "tca/team.cuh"
#include "tca/window.cuh"

constexpr int threads = 256;

__host__ __device__ static double new_heat(const double* cell) {
  return *cell + 0.2 * (cell[-1] + cell[1] - 2 * *cell);
}

// Computes a step. Cells 1 to `cells` are this rank's; cells 0 and `cells` + 1 are its neighbours'. All
// threads of the block call this.
__device__ static bool step(tca::BlockChain& ends, const double* now, double* next, int cells) {
  ends.start();  // sends the cells at my ends as the threads have left them
  // These cells need none of another rank's.
  for (int i = 2 + threadIdx.x; i < cells; i += threads) next[i] = new_heat(now + i);
  if (!ends.wait()) return false;
  if (threadIdx.x == 0) next[1] = new_heat(now + 1);
  if (threadIdx.x == 1) next[cells] = new_heat(now + cells);
  return true;
}

// Here a block runs a chain alone. With more blocks this would be tca::GridChain and a cooperative launch.
__global__ static void __launch_bounds__(threads, 1)
    heat_kernel(const __grid_constant__ tca::DeviceChain even, const __grid_constant__ tca::DeviceChain odd,
                const __grid_constant__ tca::DeviceTeam everyone,
                const __grid_constant__ tca::DeviceWindow<double> result, double* rod, int cells, int steps,
                double* total) {
  double* const other = rod + cells + 2;
  {
    tca::BlockChain ends_of_rod(even), ends_of_other(odd);
    for (int s = 0; s < steps; s += 2) {
      if (!step(ends_of_rod, rod, other, cells)) return;  // all threads return; World::check says why
      if (!step(ends_of_other, other, rod, cells)) return;
    }
  }

  using BlockSum = cub::BlockReduce<double, threads>;
  __shared__ BlockSum::TempStorage scratch;
  __shared__ double heat;
  double mine = 0;
  for (int i = 1 + threadIdx.x; i <= cells; i += threads) mine += rod[i];
  mine = BlockSum(scratch).Sum(mine);
  if (threadIdx.x == 0) heat = mine;
  tca::BlockTeam team(everyone);
  if (!team.allreduce_sum(&heat, 1)) return;
  if (threadIdx.x == 0) *total = heat;

  // A put needs no chain. It has arrived when the next signal has. If that never comes, World::check says so.
  tca::BlockWindow(result).put(0, std::uint64_t{team.rank()} * cells, rod + 1, cells);
  team.signal(0);
  for (unsigned rank = 0; team.rank() == 0 && rank < team.size(); ++rank) team.wait_signal(rank);
}

// Computes the whole ring on one rank: `cells` of them, the first `hot` of which are hot.
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
  return {now.begin() + 1, now.end() - 1};
}

int main(int argc, char** argv) try {
  const int cells = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int steps = (argc > 2 ? std::atoi(argv[2]) : 200) / 2 * 2;  // rounded down to an even number
  if (cells < 2 || steps < 2) {
    std::fprintf(stderr, "usage: gpu_ring [cells a rank, 2 or more] [steps, 2 or more]\n");
    return 2;
  }
  auto world = tca::World::init({.fabric = "cuda"});
  const int me = world.rank(), size = world.size();
  const int left = (me + size - 1) % size, right = (me + 1) % size;

  // Two arrays that take turns, and a chain for each.
  auto rod = world.window<double>(2 * (cells + 2));
  tca::Chain chains[] = {world.chain("even"), world.chain("odd")};
  for (int b = 0; b < 2; ++b) {
    const int first = b * (cells + 2);
    chains[b].put(rod.on(left).at(first + cells + 1), rod.at(first + 1), tca::block(1)).expect(left);
    chains[b].put(rod.on(right).at(first), rod.at(first + cells), tca::block(1)).expect(right);
    chains[b].commit();
  }
  auto everyone = world.team("everyone", 1);
  auto result = world.window<double>(me == 0 ? size * cells : 0);
  auto total = world.window<double>(1);
  if (me == 0) rod.write(1, std::vector<double>(cells / 2, 100.0));  // half of rank 0's cells are hot
  world.barrier();

  heat_kernel<<<1, threads>>>(chains[0].device(), chains[1].device(), everyone.device(), result.device(),
                              rod.data(), cells, steps, total.data());
  const cudaError_t error = cudaStreamSynchronize(nullptr);
  world.check();
  if (error != cudaSuccess) {
    std::printf("CUDA: %s\n", cudaGetErrorString(error));
    return 1;
  }

  double heat = 0, worst = 0;
  total.read(0, {&heat, 1});
  if (me == 0) {
    const std::vector<double> expected = whole_ring(long{size} * cells, cells / 2, steps);
    std::vector<double> have(expected.size());
    result.read(0, have);
    for (std::size_t i = 0; i < have.size(); ++i) worst = tca::Max()(worst, std::fabs(have[i] - expected[i]));
  }
  const bool right_answer = worst < 1e-9 && std::fabs(heat - cells / 2 * 100.0) < 1e-6 * heat;
  if (me == 0) {
    std::printf("%d ranks of %d cells, %d steps in one kernel: %s\n", size, cells, steps,
                right_answer ? "as by one rank" : "WRONG");
  }
  world.barrier();  // a rank's memory must stay until all ranks are done
  return right_answer ? 0 : 1;
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
