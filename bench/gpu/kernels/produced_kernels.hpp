// Kernels that exchange messages or the faces of a cube for a number of steps, with and without packing them.
#pragma once

#include <cuda_runtime.h>

#include "gpu/grid.hpp"
#include "gpu/kernels/touch.hpp"
#include "tca/device/produced.hpp"

namespace tca::bench::gpu {

// What fills a packet: three words of a face, in the order of its rows.
struct Words {
  std::uint32_t v[3];
};

// Both sides of a rank, the low one first.
struct ProducedSides {
  DeviceProducedPut<Words> sent[2];
  DeviceProducedArrival<Words> arrived[2];
};

// A step writes what it sends, into the cube and into the puts, and reads what arrives into the cube. Each block
// does so for its own elements, with no barrier of the grid.
cudaError_t run_produced(const DeviceProducedChain& chain, const ProducedSides& sides, const Touched& touched,
                         std::uint32_t first, int steps, Grid grid, cudaStream_t stream);

// The same of a message and its answer, to which both ends of a chain belong.
cudaError_t run_produced_ping_pong(const DeviceProducedChain& chain, const DeviceProducedPut<Words>& sent,
                                   const DeviceProducedArrival<Words>& arrived, const Touched& touched,
                                   bool serves, std::uint32_t first, int steps, Grid grid,
                                   cudaStream_t stream);

// A step writes what it sends into the cube and packs it, exchanges what is packed by a GridChain, and unpacks it
// into the cube. Both sides are in `out` and `in`, one behind the other.
cudaError_t run_packed(const DeviceChain& chain, std::uint32_t* out, std::uint32_t* in,
                       const Touched& touched, std::uint32_t first, int steps, Grid grid,
                       cudaStream_t stream);

}  // namespace tca::bench::gpu
