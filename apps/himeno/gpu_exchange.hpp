// What an iteration on GPUs needs from the other ranks, ordered on a stream: OpenTCA's side and NCCL's behind one interface.
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

  // Sends the outer cells of array `which` (0 or 1), as they are then, to the neighbours' ghosts.
  virtual void start(int which, Stream stream) = 0;
  // Work behind it finds this rank's ghosts of that array filled, and may overwrite its outer cells.
  virtual void wait(int which, Stream stream) = 0;
  // Both, with nothing to be done in between.
  virtual void exchange(int which, Stream stream) = 0;
  // Replaces a value in device memory by the sum over all ranks.
  virtual void sum(double* value, Stream stream) = 0;

  // What a kernel needs to do all of it by itself; null where it does not reach every rank, or only the host can.
  virtual const Partners* partners() const { return nullptr; }

  virtual std::int64_t bytes() const = 0;
  virtual std::string explain() const = 0;
};

// As `direct_exchange`, for a world of GPUs.
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Grid& grid, const Share& share,
                                                 const Pressure& pressure, bool guarded);

// The same messages by NCCL: packed by one kernel, sent in one group, unpacked by one kernel, on a stream beside. Collective;
// to be made before the first iteration.
// Nothing when NCCL was not there to compile against. Throws Error{invalid_argument} when ranks share a GPU, which NCCL
// does not do.
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Grid& grid, const Share& share,
                                           const Pressure& pressure);

}  // namespace tca::himeno
