// The site's MPI library, between nodes. It sends what is contiguous; what lies in runs is packed and unpacked by kernels.
#include "fabric/sim/channel.hpp"
#include "net/mpi_agent.hpp"

namespace tca::sim {

namespace {

class MpiChannel final : public Channel {
 public:
  explicit MpiChannel(const Site& site)
      : Channel(site),
        library_(net::find_mpi(site.machine, "")),
        mpi_(site.network, site.machine.host, library_, ranks(site)) {}

  std::string_view name() const override { return "mpi"; }

  bool reaches(int from, int to) const override {
    return site().place(from).memory.node != site().place(to).memory.node;
  }

  std::uint32_t distance(int from, int to) const override {
    return site().network.distance(site().place(from).host.node, site().place(to).host.node, rail(from));
  }

  des::Task send(std::vector<Load*> loads, std::uint32_t) override {
    for (Load* load : loads) {
      des::Task packed = pack(*load);
      co_await packed;
      site().simulator().spawn(leave(*load), {"an MPI message of rank", load->from});
    }
  }

  bool has_receives() const override { return true; }
  void receive(Load& load) override {
    site().simulator().spawn(take(load), {"an MPI message for rank", load.to});
  }

  void store(int from, int to, std::uint32_t bytes, des::Counter& arrived) override {
    site().network.send({.from = site().place(from).host,
                         .to = site().place(to).host,
                         .interconnect = rail(from),
                         .bytes = bytes + static_cast<std::uint32_t>(library_.control_bytes),
                         .arrived = &arrived});
  }

  des::Time notice() const override { return 0; }  // counted by the library, as is what it takes to send
  des::Time post() const override { return 0; }

 private:
  static std::vector<net::Mpi::Rank> ranks(const Site& site) {
    std::vector<net::Mpi::Rank> all;
    for (const Place& place : site.places) all.push_back({place.memory, place.host, place.local});
    return all;
  }

  std::uint32_t rail(int rank) const {
    return library_.rails[site().place(rank).local % library_.rails.size()];
  }

  des::Task leave(Load& load) {
    des::Task sent = mpi_.send(index(load.from), index(load.to), load.bytes(), load.tag);
    co_await sent;
    load.sent->add();
  }

  des::Task take(Load& load) {
    des::Task received = mpi_.receive(index(load.from), index(load.to), load.bytes(), load.tag);
    co_await received;
    des::Task unpacked = pack(load);
    co_await unpacked;
    load.arrived->add();
  }

  static std::uint32_t index(int rank) { return static_cast<std::uint32_t>(rank); }

  const net::MpiLibrary& library_;
  net::Mpi mpi_;
};

}  // namespace

std::unique_ptr<Channel> make_mpi(const Site& site) { return std::make_unique<MpiChannel>(site); }

}  // namespace tca::sim
