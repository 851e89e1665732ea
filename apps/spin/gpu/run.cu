// One kernel runs many sweeps, with a barrier of the rank's grid behind each half. What crosses to other ranks needs no
// further one: the thread that has updated one end of a bond writes the spin straight into the packet from which the thread
// that updates the other end reads it, half a sweep later. So the last cells go first, and the rest and the barrier hide
// their way.
//
// No guard is needed. An end writes half-sweep n + 2 over what it wrote in n; by then it has read what the other end wrote in
// n + 1, which was after that had read n.
#include <algorithm>

#include "spin/gpu/sums.cuh"
#include "tca/device/groups.cuh"
#include "tca/operations.hpp"
#include "tca/team.cuh"

namespace tca::spin {

namespace {

constexpr unsigned threads = 512;

template <class Real>
class Sweeper {
 public:
  __device__ explicit Sweeper(const Run<Real>& run) : run_(run), before_(run.progress.last()) {}

  // Every thread's own result. A thread goes on in the rest where the last cells end, so that all have as many.
  template <Update update>
  __device__ bool half_sweep(Word half) const {
    const Word stride = gridDim.x * threads;
    bool good = true;
    Word n = blockIdx.x * threads + threadIdx.x;
    for (; n < run_.cells.shell; n += stride) good = update_last<update>(half, run_.cells[n]) && good;
    for (; n < run_.cells.all; n += stride) {
      const Cell cell = run_.cells[n];
      const Word odd = run_.sites.odd(half % 2, cell);
      Around<Real> around;
      around.load(run_.sites, half % 2, cell, odd);
      take<update>(half, cell, odd, around);
    }
    return good;
  }

  // Fills the ghosts with what was sent in the last half-sweep, for whoever sweeps next.
  __device__ bool receive_last(Word halves) const {
    bool good = true;
    for (Word n = blockIdx.x * threads + threadIdx.x; n < run_.cells.shell; n += gridDim.x * threads) {
      const Cell cell = run_.cells[n];
      good = receive(halves, cell, run_.sites.odd(halves % 2, cell), [](int, const Vector<Real>&) {}) && good;
    }
    return good;
  }

  __device__ void keep(Word halves) const {
    if (blockIdx.x == 0) run_.progress.keep(before_ + halves, threadIdx.x, threads);
  }

 private:
  // Updates a cell that has neighbours on other ranks.
  template <Update update>
  __device__ bool update_last(Word half, const Cell& cell) const {
    const Word odd = run_.sites.odd(half % 2, cell);
    Around<Real> around;
    around.load(run_.sites, half % 2, cell, odd);
    // What crossed before this kernel is in the ghosts.
    if (half > 0 &&
        !receive(half, cell, odd, [&](int side, const Vector<Real>& ghost) { around.set(side, ghost); }))
      return false;
    send(half, cell, odd, take<update>(half, cell, odd, around));
    return true;
  }

  // Stores the new spin of a cell, and returns it.
  template <Update update>
  __device__ Vector<Real> take(Word half, const Cell& cell, Word odd, const Around<Real>& around) const {
    const Sites<Real>& sites = run_.sites;
    Real* const place = sites.of_replica(half % 2, cell.replica) + sites.index(cell);
    const Vector<Real> spin =
        updated<update>(sites, cell, odd, run_.sweep + half / 2, load(place, sites.elements), around.field());
    store(place, sites.elements, spin);
    return spin;
  }

  // Puts what the half-sweep before sent to a cell's side into the ghosts, and hands it over.
  template <class Use>
  __device__ bool receive(Word half, const Cell& cell, Word odd, const Use& use) const {
    const Sites<Real>& sites = run_.sites;
    bool good = true;
#pragma unroll
    for (int side = 0; side < neighbours; ++side) {
      if (!sites.is_ghost(cell, odd, side)) continue;
      Vector<Real> ghost{};
      good = run_.seams.from[side].read(sites.in_face(cell, side), ghost, before_ + half,
                                        run_.progress.limits) &&
             good;
      store(sites.of_replica(1 - half % 2, cell.replica) + sites.neighbour(cell, odd, side), sites.elements,
            ghost);
      use(side, ghost);
    }
    return good;
  }

  __device__ void send(Word half, const Cell& cell, Word odd, const Vector<Real>& spin) const {
#pragma unroll
    for (int side = 0; side < neighbours; ++side) {
      if (run_.sites.is_ghost(cell, odd, side))
        run_.seams.to[side].write(run_.sites.in_face(cell, side), spin, before_ + half + 1);
    }
  }

  const Run<Real>& run_;
  const Word before_;  // half-sweeps of the kernels before
};

// Every block has the sums of all ranks then, and the first keeps them.
template <class Real>
__device__ __noinline__ void add_up(const Run<Real>& run, GridTeam& team, std::uint64_t begin_ns,
                                    std::uint64_t end_ns) {
  __shared__ Sums sums;
  const Sums of_block = over_block(share_of_bonds(run.sites, run.cells), run.sites.tempered);
  if (threadIdx.x == 0) sums = of_block;
  __syncthreads();
  team.allreduce_sum(&sums.energy, run.sums);
  team.allreduce(&sums.off_unit, 1, Max());
  if (blockIdx.x == 0 && threadIdx.x == 0) *run.found = {sums, begin_ns, end_ns};
}

template <Update update, class Real>
__global__ void __launch_bounds__(threads, 2) run_kernel(const __grid_constant__ Run<Real> run) {
  GridTeam team(run.team);
  Sweeper<Real> sweeper(run);
  // No rank's clock starts before all are there.
  bool good = device::grid_barrier(run.barrier, team.barrier());
  const std::uint64_t begin_ns = device::now_ns();
  const Word halves = 2 * run.sweeps;
  for (Word half = 0; half < halves && good; ++half)
    good = device::grid_barrier(run.barrier, sweeper.template half_sweep<update>(half));
  const std::uint64_t end_ns = device::now_ns();
  if (halves > 0 && good) good = device::grid_barrier(run.barrier, sweeper.receive_last(halves));
  if (!good) return;
  sweeper.keep(halves);
  add_up(run, team, begin_ns, end_ns);
}

template <Update update, class Real>
cudaError_t most_blocks(int& blocks) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, run_kernel<update, Real>, threads, 0);
}

}  // namespace

template <class Real>
cudaError_t blocks_at_once(unsigned ranks, Word cells, unsigned& blocks) {
  int device = 0, multiprocessors = 0, drawing = 0, reflecting = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess) result = most_blocks<Update::heat_bath, Real>(drawing);
  if (result == cudaSuccess) result = most_blocks<Update::over_relaxation, Real>(reflecting);
  const auto most = static_cast<unsigned>(std::min(drawing, reflecting) * multiprocessors) / ranks;
  blocks = std::min(most, std::max(1U, (cells + threads - 1) / threads));
  return result;
}

template <class Real>
cudaError_t launch_run(Update update, const Run<Real>& run, unsigned blocks, cudaStream_t stream) {
  void* arguments[] = {const_cast<Run<Real>*>(&run)};
  const void* const kernel = update == Update::heat_bath
                                 ? reinterpret_cast<const void*>(run_kernel<Update::heat_bath, Real>)
                                 : reinterpret_cast<const void*>(run_kernel<Update::over_relaxation, Real>);
  return cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(threads), arguments, 0, stream);
}

template cudaError_t blocks_at_once<float>(unsigned, Word, unsigned&);
template cudaError_t blocks_at_once<double>(unsigned, Word, unsigned&);
template cudaError_t launch_run(Update, const Run<float>&, unsigned, cudaStream_t);
template cudaError_t launch_run(Update, const Run<double>&, unsigned, cudaStream_t);

}  // namespace tca::spin
