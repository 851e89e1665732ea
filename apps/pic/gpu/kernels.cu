#include "pic/gpu/kernels.hpp"

namespace tca::pic {

namespace {

constexpr unsigned threads = 256, most_blocks = 2048;
constexpr std::int32_t gap = -1;

__device__ unsigned first_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ unsigned threads_of_grid() { return gridDim.x * blockDim.x; }

unsigned blocks_for(std::int64_t items) {
  const std::int64_t blocks = (items + threads - 1) / threads;
  return blocks < 1 ? 1 : blocks > most_blocks ? most_blocks : static_cast<unsigned>(blocks);
}

struct AddTogether {
  __device__ void operator()(double& sum, double value) const { atomicAdd(&sum, value); }
  __device__ void operator()(std::int64_t& sum, double value) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(&sum),
              static_cast<unsigned long long>(to_number<std::int64_t>(value)));
  }
};

// Where more have come than fit, the host ends the run behind the step.
template <class Number>
__device__ unsigned used_of(const OnGpu<Number>& on) {
  return *on.used < on.capacity ? *on.used : on.capacity;
}

// Of all cells, ghosts included; in those further out than E's ghosts B gets values that nothing reads.
template <class Number>
__global__ void advance_b_kernel(const __grid_constant__ OnGpu<Number> on) {
  const std::int64_t sy = on.medium.step.y, sz = on.medium.step.z, last = on.elements - 1 - sy - sz;
  const double half = on.medium.ratio / 2;
  for (std::int64_t at = first_of_thread(); at < last; at += threads_of_grid()) {
    const Vec<double>*e = on.e + at, here = e[0], right = e[1], up = e[sy], far = e[sz];
    Vec<double> b = on.b[at];
    b.x -= half * ((up.z - here.z) - (far.y - here.y));
    b.y -= half * ((far.x - here.x) - (right.z - here.z));
    b.z -= half * ((right.y - here.y) - (up.x - here.x));
    on.b[at] = b;
  }
}

template <class Number>
__device__ void leave(const OnGpu<Number>& on, unsigned i) {
  const Rows& rows = on.rows;
  const std::int32_t cell = rows.cell[i];
  const Way way = on.ways[on.medium.directions[cell]];
  if (way.neighbour == Way::itself) {
    rows.cell[i] = cell + way.shift;
    return;
  }
  const unsigned place = atomicAdd(on.leaving + way.neighbour, 1u);
  rows.cell[i] = gap;
  if (place >= on.room) return;  // launch_set_lengths sees that they are too many
  on.out[static_cast<std::size_t>(way.neighbour) * on.room + place] = {
      cell + way.shift,
      {rows.at[0][i], rows.at[1][i], rows.at[2][i]},
      {rows.p[0][i], rows.p[1][i], rows.p[2][i]},
      rows.charge[i]};
}

template <int Dims, class Number>
__global__ void push_kernel(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid()) {
    if (on.rows.cell[i] == gap) continue;
    if (push_one<Dims>(on.rows, i, on.medium, AddTogether{}).has_left) leave(on, i);
  }
}

template <class Number>
__global__ void advance_e_kernel(const __grid_constant__ OnGpu<Number> on) {
  const std::int64_t sy = on.medium.step.y, sz = on.medium.step.z;
  const std::int64_t all = on.cells[0] * on.cells[1] * on.cells[2];
  const double ratio = on.medium.ratio;
  for (std::int64_t cell = first_of_thread(); cell < all; cell += threads_of_grid()) {
    const std::int64_t x = cell % on.cells[0], rest = cell / on.cells[0];
    const std::int64_t at = on.origin + x + rest % on.cells[1] * sy + rest / on.cells[1] * sz;
    const Vec<double>*b = on.b + at, here = b[0], left = b[-1], down = b[-sy], near = b[-sz];
    const Vec<Number> flow = on.medium.flow[at];
    Vec<double> e = on.e[at];
    e.x += ratio * ((here.z - down.z) - (here.y - near.y)) - on.side * to_double(flow.x);
    e.y += ratio * ((here.x - near.x) - (here.z - left.z)) - on.side * to_double(flow.y);
    e.z += ratio * ((here.y - left.y) - (here.x - down.x)) - on.side * to_double(flow.z);
    on.e[at] = e;
  }
}

template <class Number>
__global__ void set_lengths_kernel(const __grid_constant__ OnGpu<Number> on,
                                   const __grid_constant__ QueueEnds ends) {
  const int k = static_cast<int>(threadIdx.x);
  if (k >= on.neighbours) return;
  const unsigned leaving = on.leaving[k];
  on.leaving[k] = 0;
  if (leaving > on.room) *on.failed = 1;
  ends.to[k].set(leaving > on.room ? on.room : leaving);
}

// A block for each neighbour.
template <class Number>
__global__ void unpack_kernel(const __grid_constant__ OnGpu<Number> on,
                              const __grid_constant__ QueueEnds ends) {
  const unsigned count = ends.from[blockIdx.x].count();
  __shared__ unsigned begin;
  if (threadIdx.x == 0) begin = atomicAdd(on.used, count);
  __syncthreads();
  const Traveller* const queue = on.in + static_cast<std::size_t>(blockIdx.x) * on.room;
  for (unsigned n = threadIdx.x; n < count; n += blockDim.x) {
    const unsigned i = begin + n;
    if (i >= on.capacity) {
      *on.failed = 1;
      return;
    }
    const Traveller one = queue[n];
    const Rows& rows = on.rows;
    rows.cell[i] = static_cast<std::int32_t>(one.cell);
    const double numbers[2][3]{{one.at.x, one.at.y, one.at.z}, {one.p.x, one.p.y, one.p.z}};
    for (int axis = 0; axis < 3; ++axis) {
      rows.at[axis][i] = numbers[0][axis];
      rows.p[axis][i] = numbers[1][axis];
    }
    rows.charge[i] = one.charge;
  }
}

template <class Number>
__global__ void count_kernel(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    if (const std::int32_t cell = on.rows.cell[i]; cell != gap) atomicAdd(on.begin + cell + 1, 1u);
}

// Makes of each number the sum of all up to it, in one block, whose threads have a part each.
template <class Number>
__global__ void add_up_kernel(const __grid_constant__ OnGpu<Number> on) {
  __shared__ unsigned sums[1024];
  const std::int64_t all = on.elements + 1, part = (all + blockDim.x - 1) / blockDim.x;
  const std::int64_t first = part * threadIdx.x, end = first + part < all ? first + part : all;
  unsigned sum = 0;
  for (std::int64_t i = first; i < end; ++i) sum += on.begin[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned reach = 1; reach < blockDim.x; reach *= 2) {
    const unsigned before = threadIdx.x >= reach ? sums[threadIdx.x - reach] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  sum = threadIdx.x > 0 ? sums[threadIdx.x - 1] : 0;
  for (std::int64_t i = first; i < end; ++i) on.begin[i] = sum += on.begin[i];
}

__device__ void copy_particle(const Rows& from, unsigned i, const Rows& to, unsigned j) {
  to.cell[j] = from.cell[i];
  for (int axis = 0; axis < 3; ++axis) {
    to.at[axis][j] = from.at[axis][i];
    to.p[axis][j] = from.p[axis][i];
  }
  to.charge[j] = from.charge[i];
}

template <class Number>
__global__ void scatter_kernel(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    if (const std::int32_t cell = on.rows.cell[i]; cell != gap)
      copy_particle(on.rows, i, on.spare, atomicAdd(on.begin + cell, 1u));
}

template <class Number>
__global__ void copy_back_kernel(const __grid_constant__ OnGpu<Number> on) {
  const unsigned sorted = on.begin[on.elements];
  if (first_of_thread() == 0) *on.used = sorted;
  for (unsigned i = first_of_thread(); i < sorted; i += threads_of_grid())
    copy_particle(on.spare, i, on.rows, i);
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
  advance_e_kernel<<<blocks_for(on.elements), threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_set_lengths(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream) {
  if (on.neighbours == 0) return cudaSuccess;
  set_lengths_kernel<<<1, 32, 0, stream>>>(on, ends);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_unpack(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream) {
  if (on.neighbours == 0) return cudaSuccess;
  unpack_kernel<<<static_cast<unsigned>(on.neighbours), threads, 0, stream>>>(on, ends);
  return cudaGetLastError();
}

template <class Number>
cudaError_t launch_sort(const OnGpu<Number>& on, cudaStream_t stream) {
  const cudaError_t cleared =
      cudaMemsetAsync(on.begin, 0, static_cast<std::size_t>(on.elements + 1) * sizeof(unsigned), stream);
  if (cleared != cudaSuccess) return cleared;
  const unsigned blocks = blocks_for(on.capacity);
  count_kernel<<<blocks, threads, 0, stream>>>(on);
  add_up_kernel<<<1, 1024, 0, stream>>>(on);
  scatter_kernel<<<blocks, threads, 0, stream>>>(on);
  copy_back_kernel<<<blocks, threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template cudaError_t launch_advance_b(const OnGpu<double>&, cudaStream_t);
template cudaError_t launch_advance_b(const OnGpu<std::int64_t>&, cudaStream_t);
template cudaError_t launch_push(const OnGpu<double>&, cudaStream_t);
template cudaError_t launch_push(const OnGpu<std::int64_t>&, cudaStream_t);
template cudaError_t launch_advance_e(const OnGpu<double>&, cudaStream_t);
template cudaError_t launch_advance_e(const OnGpu<std::int64_t>&, cudaStream_t);
template cudaError_t launch_set_lengths(const OnGpu<double>&, const QueueEnds&, cudaStream_t);
template cudaError_t launch_set_lengths(const OnGpu<std::int64_t>&, const QueueEnds&, cudaStream_t);
template cudaError_t launch_unpack(const OnGpu<double>&, const QueueEnds&, cudaStream_t);
template cudaError_t launch_unpack(const OnGpu<std::int64_t>&, const QueueEnds&, cudaStream_t);
template cudaError_t launch_sort(const OnGpu<double>&, cudaStream_t);
template cudaError_t launch_sort(const OnGpu<std::int64_t>&, cudaStream_t);

}  // namespace tca::pic
