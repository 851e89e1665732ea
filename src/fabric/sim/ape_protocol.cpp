// The protocol of APEnet+ cards, within a torus. The cards put contiguous data; kernels pack and unpack
// data in runs.
#include "fabric/sim/protocol.hpp"
#include "model/nic/ape.hpp"

namespace tca::sim {

namespace {

class ApeProtocol final : public CardProtocol {
 public:
  ApeProtocol(const Site& site, std::uint32_t interconnect)
      : CardProtocol(site, interconnect), ape_(site.network, interconnect, site.place(0).host.unit) {}

  std::string_view name() const override { return "ape"; }

  des::Task send(std::vector<Message*> messages, std::uint32_t) override {
    for (Message* message : messages) {
      des::Task packed = pack(*message);
      co_await packed;
      co_await site().simulator().sleep(post());
      site().simulator().spawn(put(message), {"a put of rank", message->from});
    }
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    site().network.send({.from = site().place(from).host,
                         .to = site().place(to).host,
                         .interconnect = interconnect(),
                         .bytes = bytes,
                         .arrived = &arrived});
  }

 private:
  des::Task put(const Message* message) {
    des::Counter sent(site().simulator(), {"puts of rank", message->from});
    des::Counter arrived(site().simulator(), {"puts to rank", message->to});
    for (const net::Rows& rows : message->puts) {
      ape_.put({.from = site().place(message->from).memory,
                .to = site().place(message->to).memory,
                .bytes = rows.total(),
                .arrived = &arrived,
                .sent = &sent,
                .concerns = message->arrived});
    }
    co_await sent.reached(message->puts.size());
    message->sent->add();
    co_await arrived.reached(message->puts.size());
    des::Task unpacked = pack(*message);
    co_await unpacked;
    message->arrived->add();
  }

  net::Ape ape_;
};

}  // namespace

std::unique_ptr<Protocol> make_ape(const Site& site, std::uint32_t interconnect) {
  return std::make_unique<ApeProtocol>(site, interconnect);
}

}  // namespace tca::sim
