// The channel between GPUs of one node, which have resident engines.
#include "fabric/sim/channel.hpp"
#include "model/nic/engine.hpp"

namespace tca::sim {

namespace {

class NvlinkChannel final : public Channel {
 public:
  explicit NvlinkChannel(const Site& site) : Channel(site), engines_(site.network, site.place(0).host.unit) {}

  std::string_view name() const override { return "nvlink"; }

  bool reaches(int from, int to) const override {
    return site().place(from).memory.node == site().place(to).memory.node;
  }
  std::uint32_t distance(int, int) const override { return 1; }

  des::Task send(std::vector<Load*> loads, std::uint32_t) override {
    co_await site().simulator().sleep(post());
    const net::Endpoint memory = site().place(loads.front()->from).memory;
    std::vector<net::EnginePut> puts;
    for (const Load* load : loads)
      puts.push_back({.from = memory,
                      .to = site().place(load->to).memory,
                      .rows = load->puts,
                      .arrived = load->arrived,
                      .sent = load->sent});
    engines_.start(memory, std::move(puts));
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    engines_.store(site().place(from).memory, site().place(to).memory, bytes, arrived);
  }

 private:
  net::Engines engines_;
};

}  // namespace

std::unique_ptr<Channel> make_nvlink(const Site& site) { return std::make_unique<NvlinkChannel>(site); }

}  // namespace tca::sim
