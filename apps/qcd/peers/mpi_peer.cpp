// Uses MPI as lattice programs do. Only this file of the library includes mpi.h.
#include "qcd/peers/peer.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <fmt/format.h>
#include <mpi.h>

#include <limits>
#include <vector>

#include "shared/mpi_session.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

class Requests : public Peer::Exchange {
 public:
  explicit Requests(std::span<const Message> messages) {
    for (const Message& one : messages) {
      if (one.bytes > std::numeric_limits<int>::max()) {
        throw Error(
            Errc::invalid_argument,
            fmt::format("a face of {} bytes is more than MPI counts (2 GiB); give it fewer right-hand "
                        "sides at a time, or the lattice more ranks",
                        one.bytes));
      }
      const int bytes = static_cast<int>(one.bytes);
      MPI_Recv_init(one.to, bytes, MPI_BYTE, one.neighbour, one.back_tag, MPI_COMM_WORLD,
                    &requests_.emplace_back());
      MPI_Send_init(one.from, bytes, MPI_BYTE, one.neighbour, one.tag, MPI_COMM_WORLD,
                    &requests_.emplace_back());
    }
  }
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void start(Stream) override { MPI_Startall(static_cast<int>(requests_.size()), requests_.data()); }
  void wait(Stream) override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;
};

class MpiPeer : public Peer {
 public:
  explicit MpiPeer(const World& world) : session_(world) {}

  std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const override {
    return std::make_unique<Requests>(messages);
  }
  void sum(std::span<double> numbers, Stream) const override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  std::string explain() const override { return "mpi: persistent requests, packed halves, MPI_Allreduce\n"; }

 private:
  apps::MpiSession session_;
};

}  // namespace

std::unique_ptr<Peer> mpi_peer(World& world) { return std::make_unique<MpiPeer>(world); }

}  // namespace tca::qcd

#else

namespace tca::qcd {

std::unique_ptr<Peer> mpi_peer(World&) { return nullptr; }

}  // namespace tca::qcd

#endif
