// The protocol between GPUs of one node, which have resident engines.
#include "fabric/sim/protocol.hpp"
#include "model/nic/engine.hpp"

namespace tca::sim {

namespace {

class NvlinkProtocol final : public Protocol {
 public:
  explicit NvlinkProtocol(const Site& site)
      : Protocol(site), engines_(site.network, site.place(0).host.unit) {}

  std::string_view name() const override { return "nvlink"; }

  bool reaches(int from, int to) const override {
    return site().place(from).memory.node == site().place(to).memory.node;
  }
  std::uint32_t distance(int, int) const override { return 1; }

  des::Task send(std::vector<Message*> messages, std::uint32_t) override {
    co_await site().simulator().sleep(post());
    const net::Endpoint memory = site().place(messages.front()->from).memory;
    std::vector<net::EnginePut> puts;
    for (const Message* message : messages)
      puts.push_back({.from = memory,
                      .to = site().place(message->to).memory,
                      .rows = message->puts,
                      .arrived = message->arrived,
                      .sent = message->sent});
    engines_.start(memory, std::move(puts));
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    engines_.store(site().place(from).memory, site().place(to).memory, bytes, arrived);
  }

 private:
  net::Engines engines_;
};

}  // namespace

std::unique_ptr<Protocol> make_nvlink(const Site& site) { return std::make_unique<NvlinkProtocol>(site); }

}  // namespace tca::sim
