// MPI as lattice programs use it; the only file here that knows it.
#include "qcd/peer.hpp"

#ifdef OPENTCA_HAVE_MPI

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <vector>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

class Requests : public Peer::Exchange {
 public:
  explicit Requests(std::span<const Message> messages) {
    for (const Message& one : messages) {
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
  explicit MpiPeer(const World& world) {
    int running = 0;
    MPI_Initialized(&running);
    if (!running) MPI_Init(nullptr, nullptr);
    owned_ = !running;
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == world.rank() && size == world.size()) return;
    throw Error(
        Errc::invalid_argument,
        fmt::format("MPI counts this process as rank {} of {}, OpenTCA as rank {} of {}: to compare the two, "
                    "start the ranks under mpirun",
                    rank, size, world.rank(), world.size()));
  }
  MpiPeer(const MpiPeer&) = delete;
  MpiPeer& operator=(const MpiPeer&) = delete;
  ~MpiPeer() override {
    if (owned_) MPI_Finalize();
  }

  std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const override {
    return std::make_unique<Requests>(messages);
  }
  void sum(std::span<double> numbers, Stream) const override {
    MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }
  std::string explain() const override { return "mpi: persistent requests, packed halves, MPI_Allreduce\n"; }

 private:
  bool owned_ = false;
};

}  // namespace

std::unique_ptr<Peer> mpi_peer(World& world) { return std::make_unique<MpiPeer>(world); }

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace tca::qcd

#else

namespace tca::qcd {

std::unique_ptr<Peer> mpi_peer(World&) { return nullptr; }
std::string mpi_version() { return {}; }

}  // namespace tca::qcd

#endif
