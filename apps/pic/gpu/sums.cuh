// What is known after a step, added up on the GPU. The order of the sums is by chance, so that energies differ in their last
// digits from run to run; particles and fields do not.
#pragma once

#include "pic/gpu/step.cuh"

namespace tca::pic {

// Adds the values of all threads of a block to a number in memory. Blocks have a multiple of 32 threads.
template <class Value>
__device__ void add_over_block(Value value, Value* sum) {
  __shared__ Value of_warps[32];
  const auto over_warp = [&] {
    for (int distance = warpSize / 2; distance > 0; distance /= 2)
      value += __shfl_down_sync(~0U, value, distance);
  };
  __syncthreads();  // the values of the call before have been read
  over_warp();
  if (threadIdx.x % warpSize == 0) of_warps[threadIdx.x / warpSize] = value;
  __syncthreads();
  if (threadIdx.x >= warpSize) return;
  value = threadIdx.x < blockDim.x / warpSize ? of_warps[threadIdx.x] : Value{};
  over_warp();
  if (threadIdx.x == 0) atomicAdd(sum, value);
}

// All but the kinetic energy, which the push has, and Gauss's law. B is read by the thread that advances it next, so that a
// step may follow without a barrier.
template <class Number>
__device__ void add_up(const OnGpu<Number>& on, Sums& sums) {
  double energy = 0, sine = 0, cosine = 0;
  const auto plane = static_cast<unsigned>(on.lattice.step.z), row = static_cast<unsigned>(on.lattice.step.y);
  for (std::int64_t at = first_of_thread(); at < on.elements; at += threads_of_grid()) {
    if (at < on.origin) continue;
    const auto from_origin = static_cast<unsigned>(at - on.origin);
    const unsigned z = on.dims == 2 ? 0 : from_origin / plane, in_plane = from_origin - z * plane;
    const unsigned y = in_plane / row, x = in_plane - y * row;
    if (x >= on.own.cells[0] || y >= on.own.cells[1] || z >= on.own.cells[2]) continue;
    energy += twice_energy(on.e + at, on.b[at], on.lattice);
    const double along = on.is_vacuum ? on.e[at].z : on.e[at].x;
    sine += along * on.sine[x];
    cosine += along * on.cosine[x];
  }
  unsigned long long particles = 0;
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    particles += on.rows.cell[i] != gap ? 1 : 0;
  add_over_block(energy, &sums.twice_field_energy);
  add_over_block(sine, &sums.sine);
  add_over_block(cosine, &sums.cosine);
  add_over_block(particles, &sums.particles);
  if (first_of_thread() == 0) sums.absorbed = *on.absorbed;
}

}  // namespace tca::pic
