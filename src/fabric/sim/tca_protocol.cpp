// The protocol of the DMA controllers of PEACH2 and PEACH3, within a sub-cluster.
#include "fabric/sim/protocol.hpp"
#include "model/rtl/make_hub.hpp"

namespace tca::sim {

namespace {

class TcaProtocol final : public CardProtocol {
 public:
  TcaProtocol(const Site& site, std::uint32_t interconnect)
      : CardProtocol(site, interconnect),
        dma_channels_(dma().channels),
        hub_(net::make_hub(site.network, interconnect, site.place(0).host.unit)) {}

  std::string_view name() const override { return "tca"; }

  bool loops_back() const override { return true; }
  bool moves_bytes() const override { return site().network.fidelity() == net::Fidelity::rtl; }

  des::Task send(std::vector<Message*> messages, std::uint32_t turn) override {
    co_await site().simulator().sleep(post());
    const int from = messages.front()->from;
    auto run = std::make_unique<Run>(site().simulator(), from);
    run->chain.about = {
        .rank = from, .chain = std::string(messages.front()->chain), .step = messages.front()->step};
    for (Message* message : messages) {
      const net::Endpoint source = site().place(from).memory, target = site().place(message->to).memory;
      for (const net::Rows& rows : message->puts) run->chain.descriptors.push_back({source, target, rows});
      add_bytes(run->chain, *message);
      // A message's data stays in order, so the flags of its last descriptor cover the others.
      run->chain.descriptors.back().arrived = message->arrived;
      run->chain.descriptors.back().sent = &run->sent;
    }
    hub_->start(site().place(from).host.node, turn % dma_channels_, run->chain);
    site().simulator().spawn(await_sent(std::move(run), std::move(messages)), {"the flags of rank", from});
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    hub_->store(site().place(from).host.node, site().place(to).host, bytes, &arrived);
  }

 private:
  struct Run {
    Run(des::Simulator& simulator, int rank) : sent(simulator, {"the own flags of rank", rank}) {}
    net::DmaChain chain;
    des::Counter sent;
  };

  const net::DmaKind& dma() const {
    const net::Description& network = site().machine.network;
    return *network.node.units[network.interconnects[interconnect()].nic].dma;
  }

  // Says where the bytes of the chain's last descriptors are, if hubs move them.
  static void add_bytes(net::DmaChain& chain, const Message& message) {
    const std::span<net::Descriptor> last =
        std::span(chain.descriptors).last(message.puts.size()).first(message.bytes_of_puts.size());
    for (std::size_t i = 0; i < last.size(); ++i) last[i].bytes = message.bytes_of_puts[i];
  }

  // Keeps the chain alive while the controller walks it.
  static des::Task await_sent(std::unique_ptr<Run> run, std::vector<Message*> messages) {
    std::uint64_t count = 0;
    for (Message* message : messages) {
      co_await run->sent.reached(++count);
      message->sent->add();
    }
  }

  std::uint32_t dma_channels_;
  std::unique_ptr<net::Hub> hub_;
};

}  // namespace

std::unique_ptr<Protocol> make_tca(const Site& site, std::uint32_t interconnect) {
  return std::make_unique<TcaProtocol>(site, interconnect);
}

}  // namespace tca::sim
