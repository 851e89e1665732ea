// Models the DMA controllers of PEACH2 and PEACH3. A doorbell starts a chain of descriptors, which one of a
// few DMA channels walks.
//
//   net::Peach peach(network, network.interconnect("tca"), network.endpoint(0, "host").unit);
//   net::DmaChain chain{.descriptors = {{.from = a, .to = b, .rows = {.bytes = 4096}, .arrived = &arrived}}};
//   peach.start(a.node, 0, chain);
//   co_await arrived.reached(1);
#pragma once

#include <memory>
#include <vector>

#include "model/nic/hub.hpp"

namespace tca::net {

class Peach final : public Hub {
 public:
  // Models the NICs of an interconnect. `host` is the unit of each node whose processor drives them. Throws
  // Error{invalid_argument} if those NICs have no such DMA controllers.
  Peach(Network& network, std::uint32_t interconnect, std::uint32_t host);

  void start(std::uint32_t node, std::uint32_t channel, const DmaChain& chain) override;
  void store(std::uint32_t node, Endpoint to, std::uint32_t bytes, des::Counter* arrived) override;

 private:
  struct Engine {
    Engine(des::Simulator& simulator, const DmaKind& kind, std::uint32_t node);
    std::vector<std::unique_ptr<des::Semaphore>> channels;
    des::Semaphore tags;
  };

  Engine& engine(std::uint32_t node);
  des::Task run(std::uint32_t node, std::uint32_t channel, const DmaChain& chain);
  des::Task flag(std::uint32_t node, Descriptor descriptor, Passage& data, View view);

  Network& network_;
  des::Simulator& simulator_;
  std::uint32_t interconnect_;
  std::uint32_t host_;
  const DmaKind& dma_;
  std::vector<std::unique_ptr<Engine>> engines_;  // by node; each is created for the node's first start
};

}  // namespace tca::net
