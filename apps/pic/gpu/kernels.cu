#include "pic/gpu/kernels.hpp"
#include "pic/gpu/step.cuh"
#include "pic/gpu/sums.cuh"

namespace tca::pic {

namespace {

template <class Number>
__global__ void advance_b_kernel(const __grid_constant__ OnGpu<Number> on) {
  advance_b_everywhere(on);
}

template <int Dims, class Number>
__global__ void push_kernel(const __grid_constant__ OnGpu<Number> on) {
  count_step(on);
  add_over_block(push_particles<Dims>(on), &on.sums->kinetic_energy);
}

template <class Number>
__global__ void let_light_out_kernel(const __grid_constant__ OnGpu<Number> on) {
  let_light_out(on);
}

template <class Number>
__global__ void advance_e_kernel(const __grid_constant__ OnGpu<Number> on) {
  advance_e_and_emit(on, *on.step - 1);
}

template <class Number>
__global__ void queue_late_kernel(const __grid_constant__ OnGpu<Number> on) {
  queue_late(on);
}

template <class Number>
__global__ void set_lengths_kernel(const __grid_constant__ OnGpu<Number> on,
                                   const __grid_constant__ QueueEnds ends) {
  set_lengths(on, ends);
}

template <class Number>
__global__ void take_in_kernel(const __grid_constant__ OnGpu<Number> on,
                               const __grid_constant__ QueueEnds ends) {
  take_in(on, ends);
  if (first_of_thread() == 0 && ends.unfinished != nullptr && *ends.unfinished != 0) *on.more = 1;
}

template <class Number>
__global__ void add_up_kernel(const __grid_constant__ OnGpu<Number> on) {
  add_up(on, *on.sums);
}

template <int Dims, class Number>
__global__ void deposit_kernel(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    if (on.rows.cell[i] != gap)
      deposit_one<Dims>(on.rows, i, on.gauss.charge, on.lattice.step, AddTogether{});
}

template <class Number>
__global__ void compare_kernel(const __grid_constant__ OnGpu<Number> on, std::int64_t which) {
  const Gauss<Number>& gauss = on.gauss;
  unsigned long long most = 0;
  each_own_cell(on, [&](const std::int64_t(&cell)[3], std::int64_t at) {
    for (const std::int64_t free : gauss.unchecked)
      if (cell[0] == free) return;
    const Number electrons = gathered(on, gauss.charge, cell, at);
    const double charge = to_double(static_cast<Number>(electrons + gauss.ions[at]));
    const double off = std::fabs(divergence(on.e + at, on.lattice) - charge);
    const auto bits = static_cast<unsigned long long>(__double_as_longlong(off));
    most = bits > most ? bits : most;
  });
  if (most > 0) atomicMax(&on.sums[which].off_gauss, most);
}

}  // namespace

template <class Number>
cudaError_t launch_advance_b(const OnGpu<Number>& on, cudaStream_t stream) {
  advance_b_kernel<<<blocks_for(on.elements), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_push(const OnGpu<Number>& on, cudaStream_t stream) {
  const cudaError_t cleared =
      cudaMemsetAsync(on.medium.flow, 0, static_cast<std::size_t>(on.elements) * sizeof(Vec<Number>), stream);
  if (cleared != cudaSuccess) return cleared;
  if (on.dims == 2)
    push_kernel<2><<<blocks_for(on.capacity), threads, 0, stream>>>(on);
  else
    push_kernel<3><<<blocks_for(on.capacity), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_advance_e(const OnGpu<Number>& on, cudaStream_t stream) {
  if (on.wall_below || on.wall_above)
    let_light_out_kernel<<<blocks_for(on.own.cells[1] * on.own.cells[2]), threads, 0, stream>>>(on);
  advance_e_kernel<<<blocks_for(on.elements), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_queue_late(const OnGpu<Number>& on, cudaStream_t stream) {
  queue_late_kernel<<<blocks_for(on.capacity), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_set_lengths(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream) {
  set_lengths_kernel<<<1, 32, 0, stream>>>(on, ends);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_take_in(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream) {
  take_in_kernel<<<static_cast<unsigned>(on.neighbours) * parts_of_queue, threads, 0, stream>>>(on, ends);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_add_up(const OnGpu<Number>& on, cudaStream_t stream) {
  add_up_kernel<<<blocks_for(on.elements), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_deposit(const OnGpu<Number>& on, cudaStream_t stream) {
  const cudaError_t cleared =
      cudaMemsetAsync(on.gauss.charge, 0, static_cast<std::size_t>(on.elements) * sizeof(Number), stream);
  if (cleared != cudaSuccess) return cleared;
  if (on.dims == 2)
    deposit_kernel<2><<<blocks_for(on.capacity), threads, 0, stream>>>(on);
  else
    deposit_kernel<3><<<blocks_for(on.capacity), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_compare(const OnGpu<Number>& on, std::int64_t which, cudaStream_t stream) {
  compare_kernel<<<blocks_for(on.elements), threads, 0, stream>>>(on, which);
  return cudaGetLastError();
}

#define TCA_PIC_LAUNCHES(Number)                                                                 \
  template cudaError_t launch_advance_b(const OnGpu<Number>&, cudaStream_t);                     \
  template cudaError_t launch_push(const OnGpu<Number>&, cudaStream_t);                          \
  template cudaError_t launch_advance_e(const OnGpu<Number>&, cudaStream_t);                     \
  template cudaError_t launch_queue_late(const OnGpu<Number>&, cudaStream_t);                    \
  template cudaError_t launch_set_lengths(const OnGpu<Number>&, const QueueEnds&, cudaStream_t); \
  template cudaError_t launch_take_in(const OnGpu<Number>&, const QueueEnds&, cudaStream_t);     \
  template cudaError_t launch_add_up(const OnGpu<Number>&, cudaStream_t);                        \
  template cudaError_t launch_deposit(const OnGpu<Number>&, cudaStream_t);                       \
  template cudaError_t launch_compare(const OnGpu<Number>&, std::int64_t, cudaStream_t)

TCA_PIC_LAUNCHES(double);
TCA_PIC_LAUNCHES(std::int64_t);

}  // namespace tca::pic
