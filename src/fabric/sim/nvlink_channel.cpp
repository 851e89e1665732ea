// GPUs that share a box: a resident engine on each takes the host's word, stores the data into the other's memory, and a
// flag behind it, which the engine there passes on to its host.
#include "fabric/sim/channel.hpp"

namespace tca::sim {

namespace {

constexpr std::uint32_t word_bytes = 8;  // of a doorbell and of a flag

class NvlinkChannel final : public Channel {
 public:
  NvlinkChannel(const Site& site, std::uint32_t link)
      : Channel(site), link_(site.machine.network.links[link]) {}

  std::string_view name() const override { return "nvlink"; }

  bool reaches(int from, int to) const override {
    return site().place(from).memory.node == site().place(to).memory.node;
  }
  std::uint32_t distance(int, int) const override { return 1; }

  des::Task send(std::vector<Load*> loads, std::uint32_t) override {
    co_await site().simulator().sleep(post());
    site().simulator().spawn(carry(std::move(loads)), {"the engine of rank", loads.front()->from});
  }

  // By way of both engines.
  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    site().simulator().spawn(relay(from, to, bytes, arrived), {"the engine of rank", from});
  }

 private:
  des::Task carry(std::vector<Load*> loads) {
    const Place& source = site().place(loads.front()->from);
    des::Counter rung(site().simulator(), {"the doorbell of rank", loads.front()->from});
    word(source.host, source.memory, word_bytes, rung);
    co_await rung.reached(1);
    des::Group group(site().simulator(), {"stores of an engine"});
    for (Load* load : loads) group.spawn(store_all(load), {"stores of rank", load->from});
    co_await group.done();
  }

  des::Task store_all(const Load* load) {
    const Place &source = site().place(load->from), &target = site().place(load->to);
    for (const net::Rows& rows : load->puts) {
      des::Task stored = site().network.transfer({.from = source.memory,
                                                  .to = target.memory,
                                                  .interconnect = net::Transfer::inside,
                                                  .rows = rows,
                                                  .packet_bytes = link_.payload_bytes,
                                                  .window = link_.credits});
      co_await stored;
    }
    word(source.memory, source.host, word_bytes, *load->sent);
    des::Counter flag(site().simulator(), {"the flag of the engine of rank", load->to});
    word(source.memory, target.memory, word_bytes, flag);
    co_await flag.reached(1);
    word(target.memory, target.host, word_bytes, *load->arrived);
  }

  des::Task relay(int from, int to, std::uint32_t bytes, des::Counter& arrived) {
    const Place &source = site().place(from), &target = site().place(to);
    des::Counter here(site().simulator(), {"the doorbell of rank", from});
    word(source.host, source.memory, bytes, here);
    co_await here.reached(1);
    word(source.memory, target.memory, bytes, here);
    co_await here.reached(2);
    word(target.memory, target.host, word_bytes, arrived);
  }

  void word(net::Endpoint from, net::Endpoint to, std::uint32_t bytes, des::Counter& arrived) {
    site().network.send(
        {.from = from, .to = to, .interconnect = net::Transfer::inside, .bytes = bytes, .arrived = &arrived});
  }

  const net::LinkKind& link_;
};

}  // namespace

std::unique_ptr<Channel> make_nvlink(const Site& site, std::uint32_t link) {
  return std::make_unique<NvlinkChannel>(site, link);
}

}  // namespace tca::sim
