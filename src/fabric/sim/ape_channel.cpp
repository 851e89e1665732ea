// The channel of APEnet+ cards, within a torus. The cards put contiguous data; kernels pack and unpack data
// that lies in runs.
#include "fabric/sim/channel.hpp"
#include "model/nic/ape.hpp"

namespace tca::sim {

namespace {

class ApeChannel final : public Channel {
 public:
  ApeChannel(const Site& site, std::uint32_t interconnect)
      : Channel(site),
        interconnect_(interconnect),
        ape_(site.network, interconnect, site.place(0).host.unit) {}

  std::string_view name() const override { return "ape"; }

  bool reaches(int from, int to) const override {
    return site().network.joined(site().place(from).memory.node, site().place(to).memory.node, interconnect_);
  }

  std::uint32_t distance(int from, int to) const override {
    return site().network.distance(site().place(from).memory.node, site().place(to).memory.node,
                                   interconnect_);
  }

  des::Task send(std::vector<Load*> loads, std::uint32_t) override {
    for (Load* load : loads) {
      des::Task packed = pack(*load);
      co_await packed;
      co_await site().simulator().sleep(post());
      site().simulator().spawn(put(load), {"a put of rank", load->from});
    }
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    site().network.send({.from = site().place(from).host,
                         .to = site().place(to).host,
                         .interconnect = interconnect_,
                         .bytes = bytes,
                         .arrived = &arrived});
  }

 private:
  des::Task put(const Load* load) {
    des::Counter sent(site().simulator(), {"puts of rank", load->from});
    des::Counter arrived(site().simulator(), {"puts to rank", load->to});
    for (const net::Rows& rows : load->puts) {
      ape_.put({.from = site().place(load->from).memory,
                .to = site().place(load->to).memory,
                .bytes = rows.total(),
                .arrived = &arrived,
                .sent = &sent});
    }
    co_await sent.reached(load->puts.size());
    load->sent->add();
    co_await arrived.reached(load->puts.size());
    des::Task unpacked = pack(*load);
    co_await unpacked;
    load->arrived->add();
  }

  std::uint32_t interconnect_;
  net::Ape ape_;
};

}  // namespace

std::unique_ptr<Channel> make_ape(const Site& site, std::uint32_t interconnect) {
  return std::make_unique<ApeChannel>(site, interconnect);
}

}  // namespace tca::sim
