// What a host asks of the hub in its node: a NIC that walks chains of descriptors by itself. There are two,
// the packet model's (peach.hpp) and one in RTL (model/rtl); make_hub (model/rtl/make_hub.hpp) chooses.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "base/layout/shape.hpp"
#include "model/net/network.hpp"
#include "tca/error.hpp"

namespace tca::net {

// Where the bytes of a descriptor are. Only RTL moves them; if there are none, it moves zeros.
struct Bytes {
  std::byte* to = nullptr;
  const std::byte* from = nullptr;
  const base::Shape* shape = nullptr;
  std::shared_ptr<const bool> closed =
      {};  // whether one end has given back its memory, which is then left alone

  explicit operator bool() const { return shape != nullptr; }
};

// One put. `arrived` grows by one when the flag that follows the data is in the memory of the target's host.
// `sent` grows by one when the flag that says that all data has left is in the memory of the sender's host.
struct Descriptor {
  Endpoint from, to;
  Rows rows;
  des::Counter* arrived = nullptr;
  des::Counter* sent = nullptr;
  Bytes bytes = {};
};

// A chain of descriptors in the NIC's own memory. It outlives its runs. A chain that is started again while
// it runs waits for its channel.
struct DmaChain {
  std::vector<Descriptor> descriptors;
  ErrorFields about = {};  // whose it is, for the message when it fails
};

class Hub {
 public:
  virtual ~Hub() = default;

  // The host rings the doorbell and continues. The DMA channels of a node work in parallel; each runs its
  // chains one after another.
  virtual void start(std::uint32_t node, std::uint32_t channel, const DmaChain& chain) = 0;

  // The host stores a few bytes into a memory anywhere, and continues.
  virtual void store(std::uint32_t node, Endpoint to, std::uint32_t bytes, des::Counter* arrived) = 0;
};

}  // namespace tca::net
