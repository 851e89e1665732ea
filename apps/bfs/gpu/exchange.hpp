// The message of a level on GPUs. OpenTCA and NCCL send the same, so that the two can be compared in one job.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "bfs/messages/exchange.hpp"
#include "tca/stream.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

class GpuExchange {
 public:
  virtual ~GpuExchange() = default;

  // Collective; ordered on a stream. Sends one of the sendings, by its position.
  virtual void send(std::size_t which, Stream stream) = 0;

  virtual std::string explain(Message message) const = 0;  // how it travels, a line for each put
};

// Both are collective. The former is for all sendings, the latter for those to all ranks whose blocks have their place.
using MakeExchange = std::unique_ptr<GpuExchange>(World& world, std::span<const Sending> sendings,
                                                  const apps::Channels& channels);
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, std::span<const Sending> sendings,
                                                 const apps::Channels& channels);
// Returns null when this was built without NCCL, which has no channels.
std::unique_ptr<GpuExchange> nccl_exchange(World& world, std::span<const Sending> sendings,
                                           const apps::Channels& channels);

}  // namespace tca::bfs
