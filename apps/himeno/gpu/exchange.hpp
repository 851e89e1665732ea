// The interface through which an iteration on GPUs gets what it needs from the other ranks, ordered on a
// stream. OpenTCA and NCCL implement it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "himeno/exchange.hpp"
#include "tca/stream.hpp"

namespace tca::himeno {

struct Partners;

class GpuExchange {
 public:
  virtual ~GpuExchange() = default;

  // Sends the outer cells of array `which` (0 or 1) to the neighbours' ghosts, with their values at that
  // point of the stream.
  virtual void start(int which, Stream stream) = 0;
  // Work that follows on the stream finds this rank's ghosts of that array filled, and may overwrite its
  // outer cells.
  virtual void wait(int which, Stream stream) = 0;
  // Does both, with no work in between.
  virtual void exchange(int which, Stream stream) = 0;
  // Replaces a value in device memory by its sum over all ranks.
  virtual void sum(double* value, Stream stream) = 0;

  // Returns what a kernel needs to do all of this by itself, or null where kernels do not reach every rank or
  // only the host can start an exchange.
  virtual const Partners* partners() const { return nullptr; }

  virtual std::int64_t bytes() const = 0;
  virtual std::string explain() const = 0;
};

// Makes the exchange of direct_exchange() for a world of GPUs. A channel may be forced for the halos; the sum has
// kernels of its own.
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Grid& grid, const Share& share,
                                                 const Pressure& pressure, bool guarded,
                                                 const apps::Channels& channels = {});

// Collective; to be called before the first iteration. Makes an exchange that sends the same messages by
// NCCL: one kernel packs them, one group sends them, and one kernel unpacks them, all of it in `start`, so
// that `wait` does nothing. Returns null when this was built without NCCL. Throws Error{invalid_argument}
// when ranks share a GPU, which NCCL does not support.
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Grid& grid, const Share& share,
                                           const Pressure& pressure);

}  // namespace tca::himeno
