// The interface through which half a sweep on GPUs gets what it needs from the other ranks, ordered on a stream. OpenTCA and
// NCCL implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "shared/channels.hpp"
#include "spin/exchange.hpp"
#include "spin/gpu/lattice.hpp"
#include "tca/stream.hpp"

namespace tca::spin {

class GpuExchange {
 public:
  virtual ~GpuExchange() = default;

  // Sends the outer cells of a colour to the neighbours' ghosts, as they are at that point of the stream.
  virtual void start(int colour, Stream stream) = 0;
  // What follows on the stream finds this rank's ghosts of that colour filled, and may overwrite its outer cells.
  virtual void wait(int colour, Stream stream) = 0;
  // Does both, with no work in between.
  virtual void exchange(int colour, Stream stream) = 0;
  // Replaces values in device memory, those of `sum_count` at most, by their sums over all ranks.
  virtual void add_up(double* values, int count, Stream stream) = 0;

  virtual std::int64_t bytes() const = 0;   // this rank's of one colour
  virtual std::string explain() const = 0;  // how they travel, one line each
};

// Makes the exchange of direct_exchange() for a world of GPUs. A channel may be forced for the halos; the sums have kernels of
// their own.
template <class Real>
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const GpuLattice<Real>& lattice,
                                                 const apps::Channels& channels = {});

// Collective; to be called before the first sweep. Makes an exchange that sends the same messages by NCCL: one kernel packs them,
// one group sends them, and one kernel unpacks them, all of it in `start`, so that `wait` does nothing. Returns null when this
// was built without NCCL. Throws Error{invalid_argument} where ranks share a GPU, which NCCL does not support.
template <class Real>
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const GpuLattice<Real>& lattice);

}  // namespace tca::spin
