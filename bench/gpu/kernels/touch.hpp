// What a program does around a message on a GPU: it computes what it sends anew, and reads all that has
// arrived. The kernels here do so before and after an exchange that is ordered on a stream; a kernel that
// exchanges by itself does so itself (touch.cuh).
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "gpu/grid.hpp"

namespace tca::bench::gpu {

// Bytes that a step writes or reads. The seed, the same where they are sent and where they arrive, tells them
// from those of other ranks and sides.
struct Piece {
  std::byte* at = nullptr;
  std::uint32_t seed = 0;
};

// All that a rank writes and reads in a step.
struct Touched {
  static constexpr int most = 2;
  Rows rows;  // of each piece
  Piece sent[most], arrived[most];
  int sends = 0, receives = 0;

  void send(std::byte* at, std::uint32_t seed) { sent[sends++] = {at, seed}; }
  void receive(std::byte* at, std::uint32_t seed) { arrived[receives++] = {at, seed}; }
};

// Writes values that belong to the step `*step`, the place and the seed.
void write_sent(const Touched& touched, const std::uint32_t* step, cudaStream_t stream);

// Reads what has arrived, and increments the number of the step.
void read_arrived(const Touched& touched, std::uint32_t* step, cudaStream_t stream);

// Adds to `*wrong` the number of bytes that have arrived and are not those of the step `step`.
void check_arrived(const Touched& touched, std::uint32_t step, unsigned long long* wrong,
                   cudaStream_t stream);

// A buffer of a collective, of which every element gets the same value: what CollValues fills it with at its fill number
// `*step` + 1, modulo `turns`. Elements of one byte are bytes, those of four floats and those of eight doubles.
struct Filled {
  std::byte* at = nullptr;
  std::size_t bytes = 0;
  unsigned element_bytes = 1;
  unsigned rank = 0;
  std::uint64_t turns = 1;
};
void write_buffer(const Filled& buffer, const std::uint32_t* step, cudaStream_t stream);

}  // namespace tca::bench::gpu
