// The interface through which a step's kernels get what they need from other ranks, ordered on a stream.
// OpenTCA and NCCL implement it with the same messages.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cg/exchange.hpp"
#include "tca/stream.hpp"

namespace tca::cg {

class GpuExchange {
 public:
  virtual ~GpuExchange() = default;

  // By rows: completes the operand, of which every rank has written its own part.
  virtual void gather(Stream) {}
  // Blocks: sends the sums of a reduction to its partner, and returns those that come from there, in device
  // memory.
  virtual const double* exchange_sums(std::size_t, Stream) { return nullptr; }
  // Blocks: makes a result of the product, across the diagonal.
  virtual void transpose(Stream) {}
  // Replaces values in device memory, 1 or up to 4 of them, by their sums over the vector's parts.
  virtual void sum(double* values, int count, Stream stream) = 0;

  virtual std::string explain(Message message) const = 0;  // how it travels, a line for each put
};

// Collective. Makes the exchange of direct_exchange() for a world of GPUs. Sums have kernels of their own, and no
// channel.
std::unique_ptr<GpuExchange> direct_gpu_exchange(World& world, const Share& share, const Vectors& vectors,
                                                 const apps::Channels& channels = {});

// Collective. Makes an exchange that sends the same by NCCL. Returns null when this was built without NCCL.
// Throws Error{invalid_argument} when ranks share a GPU, which NCCL does not support.
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Share& share, const Vectors& vectors);

}  // namespace tca::cg
