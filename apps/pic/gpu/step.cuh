// The parts of a step. Each is done by all threads of a grid together, and by whoever has the grid: a kernel of its own, or one
// that takes all steps.
#pragma once

#include "pic/gpu/on_gpu.hpp"

namespace tca::pic {

inline constexpr std::int32_t gap = -1;

__device__ inline unsigned first_of_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline unsigned threads_of_grid() { return gridDim.x * blockDim.x; }

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
__device__ void advance_b_everywhere(const OnGpu<Number>& on) {
  const std::int64_t last = on.elements - 1 - on.lattice.step.y - on.lattice.step.z;
  for (std::int64_t at = first_of_thread(); at < last; at += threads_of_grid())
    advance_b(on.b[at], on.e + at, on.lattice);
}

template <class Number>
__device__ void clear_flow(const OnGpu<Number>& on) {
  for (std::int64_t at = first_of_thread(); at < on.elements; at += threads_of_grid())
    on.medium.flow[at] = {};
}

// A particle takes a place in the queue to its neighbour and leaves a gap, or is late.
template <class Number>
__device__ bool queue(const OnGpu<Number>& on, unsigned i, const Way& way) {
  const Rows& rows = on.rows;
  const unsigned place = atomicAdd(on.leaving + way.neighbour, 1U);
  if (place >= on.room) return false;
  on.out[static_cast<std::size_t>(way.neighbour) * on.room + place] = {
      rows.cell[i] + way.shift,
      {rows.at[0][i], rows.at[1][i], rows.at[2][i]},
      {rows.p[0][i], rows.p[1][i], rows.p[2][i]},
      rows.charge[i]};
  rows.cell[i] = gap;
  return true;
}

template <class Number>
__device__ void leave(const OnGpu<Number>& on, unsigned i) {
  std::int32_t& cell = on.rows.cell[i];
  const Way way = on.ways[on.medium.directions[cell]];
  if (way.neighbour == Way::itself) {
    cell += way.shift;
  } else if (way.neighbour == Way::gone) {
    cell = gap;
    atomicAdd(on.absorbed, 1ULL);
  } else if (!queue(on, i, way)) {
    on.late[atomicAdd(on.lates, 1U)] = i;
  }
}

// The next step begins. Until all threads have met no other one asks which.
template <class Number>
__device__ void count_step(const OnGpu<Number>& on) {
  if (first_of_thread() == 0) ++*on.step;
}

// Returns the kinetic energy of the thread's particles.
template <int Dims, class Number>
__device__ double push_particles(const OnGpu<Number>& on) {
  const unsigned used = used_of(on);
  double energy = 0;
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid()) {
    if (on.rows.cell[i] == gap) continue;
    const Pushed one = push_one<Dims>(on.rows, i, on.medium, AddTogether{});
    energy += one.energy;
    if (one.has_left) leave(on, i);
  }
  return energy;
}

// Calls act(cell, index) with the coordinates of each of the thread's own cells.
template <class Number, class Act>
__device__ void each_own_cell(const OnGpu<Number>& on, const Act& act) {
  // There are fewer than 2^31 cells, and a division of 64 bits takes several times as long.
  const auto size = [&](int axis) { return static_cast<unsigned>(on.own.cells[axis]); };
  const unsigned all = size(0) * size(1) * size(2);
  for (unsigned n = first_of_thread(); n < all; n += threads_of_grid()) {
    const unsigned row = n / size(0), z = row / size(1);
    const std::int64_t cell[]{n - row * size(0), row - z * size(1), z};
    act(cell, on.origin + cell[0] + cell[1] * on.lattice.step.y + cell[2] * on.lattice.step.z);
  }
}

// What a cell and its images have gathered.
template <class Number, class Value>
__device__ Value gathered(const OnGpu<Number>& on, const Value* array, const std::int64_t (&cell)[3],
                          std::int64_t at) {
  Value sum{};
  each_image(on.own, cell, flow_ghosts, [&](std::int64_t distance) { sum = sum + array[at + distance]; });
  return sum;
}

template <class Number>
__device__ void let_light_out(const OnGpu<Number>& on) {
  const std::int64_t last = on.own.cells[0] - 1;
  for (std::int64_t row = first_of_thread(); row < on.own.cells[1] * on.own.cells[2];
       row += threads_of_grid()) {
    const std::int64_t y = row % on.own.cells[1], z = row / on.own.cells[1];
    const std::int64_t begin = on.origin + y * on.lattice.step.y + z * on.lattice.step.z, end = begin + last;
    if (on.wall_below)
      let_out({begin, begin, begin - 1, -1}, on.e, on.b, gathered(on, on.medium.flow, {0, y, z}, begin),
              on.lattice);
    if (on.wall_above)
      let_out({end, end - 1, end, 1}, on.e, on.b, gathered(on, on.medium.flow, {last, y, z}, end),
              on.lattice);
  }
}

// Of own cells and their images.
template <class Number>
__device__ void advance_e_and_emit(const OnGpu<Number>& on, unsigned long long step) {
  each_own_cell(on, [&](const std::int64_t(&cell)[3], std::int64_t at) {
    Vec<double> e = on.e[at];
    advance_e(e, on.b + at, gathered(on, on.medium.flow, cell, at), on.lattice);
    if (cell[0] == on.antenna.x)
      e.z += on.antenna.emitted[step] * on.antenna.profile[cell[1] + cell[2] * on.own.cells[1]];
    each_image(on.own, cell, field_ghosts, [&](std::int64_t distance) { on.e[at + distance] = e; });
  });
}

// Those who were late take places in the queues that have been sent.
template <class Number>
__device__ void queue_late(const OnGpu<Number>& on) {
  constexpr unsigned none = ~0U;
  for (unsigned n = first_of_thread(); n < *on.lates; n += threads_of_grid()) {
    const unsigned i = on.late[n];
    if (i != none && queue(on, i, on.ways[on.medium.directions[on.rows.cell[i]]])) on.late[n] = none;
  }
}

// By one warp.
template <class Number>
__device__ void set_lengths(const OnGpu<Number>& on, const QueueEnds& ends) {
  const int k = static_cast<int>(threadIdx.x);
  unsigned leaving = 0;
  if (k < on.neighbours) {
    leaving = on.leaving[k];
    on.leaving[k] = 0;
    ends.to[k].set(leaving < on.room ? leaving : on.room);
  }
  const bool has_more = __any_sync(~0U, leaving > on.room) != 0;
  if (k != 0) return;
  if (ends.unfinished != nullptr)
    *ends.unfinished = has_more ? 1 : 0;
  else if (has_more)
    *on.failed = 1;
  if (!has_more) *on.lates = 0;
}

// Appends what has come. Some blocks take a neighbour's queue together.
inline constexpr unsigned parts_of_queue = 8;
template <class Number>
__device__ void take_in(const OnGpu<Number>& on, const QueueEnds& ends) {
  constexpr unsigned parts = parts_of_queue;
  const auto neighbours = static_cast<unsigned>(on.neighbours);
  for (unsigned part = blockIdx.x; part < neighbours * parts; part += gridDim.x) {
    const unsigned k = part % neighbours, count = ends.from[k].count();
    const Traveller* const queue = on.in + static_cast<std::size_t>(k) * on.room;
    for (unsigned n = part / neighbours * blockDim.x + threadIdx.x; n < count; n += parts * blockDim.x) {
      const unsigned i = atomicAdd(on.used, 1U);
      if (i >= on.capacity) {
        *on.failed = 1;
        continue;
      }
      const Traveller one = queue[n];
      const Rows& rows = on.rows;
      rows.cell[i] = static_cast<std::int32_t>(one.cell);
      rows.at[0][i] = one.at.x;
      rows.at[1][i] = one.at.y;
      rows.at[2][i] = one.at.z;
      rows.p[0][i] = one.p.x;
      rows.p[1][i] = one.p.y;
      rows.p[2][i] = one.p.z;
      rows.charge[i] = one.charge;
    }
  }
}

}  // namespace tca::pic
