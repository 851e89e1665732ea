// MPI as a peer, used as its own documentation recommends for these patterns: blocking send and receive for a
// ping-pong, persistent requests with derived datatypes for a halo.
#include "contender.hpp"

#ifdef OPENTCA_HAVE_MPI
#include <mpi.h>

#include <vector>
#endif

namespace tca::bench {

#ifdef OPENTCA_HAVE_MPI

namespace {

class MpiPingPong final : public PingPong {
 public:
  MpiPingPong(int rank, std::size_t bytes)
      : count_(static_cast<int>(bytes)), other_(1 - rank), out_(bytes), in_(bytes) {
    fabric = "mpi";
    protocol = "send/recv";
    peer = "mpi";
  }

  std::span<std::byte> sent() override { return out_; }
  std::span<const std::byte> arrived() const override { return in_; }

  void send() override { MPI_Send(out_.data(), count_, MPI_BYTE, other_, 0, MPI_COMM_WORLD); }
  void receive() override {
    MPI_Recv(in_.data(), count_, MPI_BYTE, other_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }

 private:
  int count_, other_;
  std::vector<std::byte> out_, in_;
};

class MpiFaces final : public FaceExchange {
 public:
  MpiFaces(const World& world, const Face& face) : cube_(face.cube()) {
    fabric = "mpi";
    protocol = "persistent, derived datatypes";
    peer = "mpi";
    const int left = (world.rank() + world.size() - 1) % world.size(),
              right = (world.rank() + 1) % world.size();
    MPI_Type_vector(static_cast<int>(face.rows), static_cast<int>(face.run), static_cast<int>(face.pitch),
                    MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
    double* cube = cube_.data();
    MPI_Send_init(cube + face.low_edge(), 1, type_, left, 1, MPI_COMM_WORLD, &requests_[0]);
    MPI_Send_init(cube + face.high_edge(), 1, type_, right, 2, MPI_COMM_WORLD, &requests_[1]);
    MPI_Recv_init(cube + face.high_ghost(), 1, type_, right, 1, MPI_COMM_WORLD, &requests_[2]);
    MPI_Recv_init(cube + face.low_ghost(), 1, type_, left, 2, MPI_COMM_WORLD, &requests_[3]);
  }

  ~MpiFaces() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
    MPI_Type_free(&type_);
  }

  double* cube() override { return cube_.data(); }

  void exchange() override {
    MPI_Startall(4, requests_);
    MPI_Waitall(4, requests_, MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<double> cube_;
  MPI_Datatype type_;
  MPI_Request requests_[4];
};

}  // namespace

std::unique_ptr<PingPong> mpi_ping_pong(const World& world, std::size_t bytes) {
  return std::make_unique<MpiPingPong>(world.rank(), bytes);
}

std::unique_ptr<FaceExchange> mpi_faces(World& world, const Face& face) {
  return std::make_unique<MpiFaces>(world, face);
}

#else

std::unique_ptr<PingPong> mpi_ping_pong(const World&, std::size_t) { return nullptr; }
std::unique_ptr<FaceExchange> mpi_faces(World&, const Face&) { return nullptr; }

#endif

}  // namespace tca::bench
