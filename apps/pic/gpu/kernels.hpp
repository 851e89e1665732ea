// The kernels of a step on a GPU, in the order in which they are launched.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "pic/particles.hpp"
#include "pic/push_one.hpp"
#include "tca/device/counted.hpp"

namespace tca::pic {

inline constexpr int most_neighbours = 26;

// What a rank has on its GPU.
template <class Number>
struct OnGpu {
  Medium<Number> medium;
  Vec<double>*e, *b;  // those of the medium
  std::int64_t elements, origin, cells[3];
  double side;
  int dims;

  Rows rows, spare;   // particles, and as much memory for sorting
  unsigned* used;     // how many entries of the rows are in use; those in cell -1 are gaps
  unsigned capacity;  // of the rows
  unsigned* begin;    // by cell, for sorting; one more than there are elements
  unsigned* failed;   // in pinned memory: set where particles did not fit

  Way ways[27];
  Traveller* out;       // a queue of `room` to each neighbour
  const Traveller* in;  // and from each
  unsigned* leaving;    // by neighbour
  unsigned room;
  int neighbours;
};

struct QueueEnds {
  DeviceCountedPut to[most_neighbours];
  DeviceCountedArrival from[most_neighbours];
};

template <class Number>
cudaError_t launch_advance_b(const OnGpu<Number>& on, cudaStream_t stream);
// Particles that leave for another rank are queued, and are gaps from then on.
template <class Number>
cudaError_t launch_push(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_advance_e(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_set_lengths(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream);
// Appends what has come.
template <class Number>
cudaError_t launch_unpack(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream);
// Puts particles into the order of their cells, without gaps.
template <class Number>
cudaError_t launch_sort(const OnGpu<Number>& on, cudaStream_t stream);

}  // namespace tca::pic
