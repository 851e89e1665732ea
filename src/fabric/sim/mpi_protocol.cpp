// The protocols of the machine's MPI library, between nodes: "mpi" with its sends and receives, "rma"
// one-sided with its windows. The library moves contiguous data; kernels pack and unpack data in runs.
#include "fabric/sim/protocol.hpp"
#include "model/mpi/mpi_agent.hpp"

namespace tca::sim {

namespace {

class MpiProtocol final : public Protocol {
 public:
  MpiProtocol(const Site& site, std::shared_ptr<net::Mpi> mpi, bool one_sided)
      : Protocol(site), mpi_(std::move(mpi)), one_sided_(one_sided) {}

  std::string_view name() const override { return one_sided_ ? "rma" : "mpi"; }

  // Publications say that windows win, but not by how much. That is no basis for a choice.
  bool competes() const override { return !one_sided_; }

  // Like the library's own mpi/rma. The target's part of a step would need the size before it has arrived.
  bool carries_counted() const override { return !one_sided_; }

  bool reaches(int from, int to) const override {
    return site().place(from).memory.node != site().place(to).memory.node;
  }

  std::uint32_t distance(int from, int to) const override {
    return site().network.distance(site().place(from).host.node, site().place(to).host.node, rail(from));
  }

  des::Task send(std::vector<Message*> messages, std::uint32_t) override {
    for (Message* message : messages) {
      des::Task packed = pack(*message);
      co_await packed;
      site().simulator().spawn(leave(*message), {"an MPI message of rank", message->from});
    }
  }

  bool has_receives() const override { return true; }
  void receive(Message& message) override {
    site().simulator().spawn(take(message), {"an MPI message for rank", message.to});
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    site().network.send({.from = site().place(from).host,
                         .to = site().place(to).host,
                         .interconnect = rail(from),
                         .bytes = bytes + static_cast<std::uint32_t>(mpi_->library().control_bytes),
                         .arrived = &arrived});
  }

  // The library's model counts these times itself.
  des::Time notice() const override { return 0; }
  des::Time post() const override { return 0; }

 private:
  std::uint32_t rail(int rank) const {
    const std::vector<std::uint32_t>& rails = mpi_->library().rails;
    return rails[site().place(rank).local % rails.size()];
  }

  des::Task leave(Message& message) {
    const std::uint32_t from = index(message.from), to = index(message.to);
    des::Task sent = one_sided_ ? mpi_->put(from, to, message.bytes(), message.tag)
                                : mpi_->send(from, to, message.bytes(), message.tag);
    co_await sent;
    message.sent->add();
  }

  des::Task take(Message& message) {
    const std::uint32_t from = index(message.from), to = index(message.to);
    des::Task received = one_sided_ ? mpi_->expose(from, to, message.bytes(), message.tag)
                                    : mpi_->receive(from, to, message.bytes(), message.tag);
    co_await received;
    des::Task unpacked = pack(message);
    co_await unpacked;
    message.arrived->add();
  }

  static std::uint32_t index(int rank) { return static_cast<std::uint32_t>(rank); }

  std::shared_ptr<net::Mpi> mpi_;
  bool one_sided_;
};

}  // namespace

std::array<std::unique_ptr<Protocol>, 2> make_mpi(const Site& site) {
  std::vector<net::Mpi::Rank> ranks;
  for (const Place& place : site.places) ranks.push_back({place.memory, place.host, place.local});
  const auto mpi =
      std::make_shared<net::Mpi>(site.network, site.machine.host, net::find_mpi(site.machine, ""), ranks);
  return {std::make_unique<MpiProtocol>(site, mpi, false), std::make_unique<MpiProtocol>(site, mpi, true)};
}

}  // namespace tca::sim
