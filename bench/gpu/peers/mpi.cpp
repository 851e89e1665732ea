// MPI with data on GPUs. MPI gets the GPU's addresses where it takes them, and otherwise the addresses of
// copies in pinned host memory.
#include <algorithm>

#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_MPI
#include <mpi.h>

#include "fabric/mpi/accelerator_memory.hpp"
#include "gpu/call.hpp"
#include "gpu/kernels/face_kernels.hpp"
#include "shared/mpi_session.hpp"

namespace tca::bench::gpu {

namespace {

// The memory that MPI sends from and receives into.
class Staging {
 public:
  explicit Staging(std::size_t bytes)
      : direct_(mpi::claims_accelerator_memory()),
        sent_(bytes, Buffer<std::byte>::host),
        received_(bytes, Buffer<std::byte>::host) {}

  std::string name() const { return direct_ ? "CUDA-aware" : "staged through pinned memory"; }

  // Returns the bytes to send, after everything on the stream is done.
  const std::byte* to_send(const void* from, std::size_t bytes, cudaStream_t stream, std::size_t at = 0) {
    if (!direct_) copy(sent_ + at, from, bytes, stream);
    finish(stream);
    return direct_ ? static_cast<const std::byte*>(from) : sent_ + at;
  }
  std::byte* place(void* to, std::size_t at = 0) {
    return direct_ ? static_cast<std::byte*>(to) : received_ + at;
  }
  void arrived(void* to, std::size_t bytes, cudaStream_t stream, std::size_t at = 0) {
    if (!direct_) copy(to, received_ + at, bytes, stream);
  }

 private:
  static void copy(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
    cuda_ok(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "staging");
  }

  bool direct_;
  Buffer<std::byte> sent_, received_;
};

template <class Kind>
class ByMpi : public Kind {
 public:
  template <class... Args>
  explicit ByMpi(std::size_t staged, Args&&... args) : Kind(std::forward<Args>(args)...), staging(staged) {
    this->fabric = this->peer = "mpi";
    this->start = "host";
    this->lead = 1;
  }
  void run(int steps, Stream stream) final {
    this->steps_done += static_cast<std::uint32_t>(steps);
    for (int i = 0; i < steps; ++i) step(stream);
  }

 protected:
  virtual void step(cudaStream_t stream) = 0;
  Staging staging;
};

class MpiMessages final : public ByMpi<Messages> {
 public:
  MpiMessages(int rank, const Rows& layout, bool is_answered)
      : ByMpi(layout.bytes(), layout, is_answered), rank_(rank), data_(2 * layout.padded()) {
    protocol = "send/recv, " + staging.name();
    in = data_;
    out = in + layout.padded();
  }

 private:
  void step(cudaStream_t stream) override {
    if (rank_ > 1) return;
    if (rank_ == 0) {
      write(stream);
      send(stream);
      if (answered) receive(stream);
      read(stream);
    } else {
      receive(stream);
      read(stream);
      if (!answered) return;
      write(stream);
      send(stream);
    }
  }
  void send(cudaStream_t stream) {
    const std::byte* bytes = staging.to_send(out, rows.bytes(), stream);
    MPI_Send(bytes, static_cast<int>(rows.bytes()), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD);
  }
  void receive(cudaStream_t stream) {
    if (!answered) finish(stream);  // MPI stores where the copy of the previous step reads
    MPI_Recv(staging.place(in), static_cast<int>(rows.bytes()), MPI_BYTE, 1 - rank_, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    staging.arrived(in, rows.bytes(), stream);
  }

  int rank_;
  Buffer<std::byte> data_;
};

class MpiFaces final : public ByMpi<Faces> {
 public:
  MpiFaces(const World& world, const Face& which)
      : ByMpi(2 * which.bytes(), world, which), data_(which.cube()), packed_(4 * which.elements()) {
    protocol = std::string(face.rows == 1 ? "" : "pack, ") + "isend/irecv, " + staging.name();
    cube = data_;
  }

 private:
  void step(cudaStream_t stream) override {
    const std::size_t bytes = face.bytes(), elements = face.elements();
    const FaceRuns runs{static_cast<unsigned>(face.rows), static_cast<unsigned>(face.run), face.pitch};
    const bool packs = face.rows > 1;
    double *low = cube + face.low_edge(), *high = cube + face.high_edge();
    double *low_ghost = cube + face.low_ghost(), *high_ghost = cube + face.high_ghost();
    double *sent = packed_, *received = sent + 2 * elements;
    write(stream);
    if (packs) pack_faces(low, high, runs, sent, stream);
    const std::byte* out[] = {staging.to_send(packs ? sent : low, bytes, stream),
                              staging.to_send(packs ? sent + elements : high, bytes, stream, bytes)};
    double* to[] = {packs ? received : low_ghost, packs ? received + elements : high_ghost};
    transfer(out, {staging.place(to[0]), staging.place(to[1], bytes)});
    staging.arrived(to[0], bytes, stream);
    staging.arrived(to[1], bytes, stream, bytes);
    if (packs) unpack_faces(low_ghost, high_ghost, runs, received, stream);
    read(stream);
  }

  struct Ghosts {
    std::byte *low, *high;
  };
  void transfer(const std::byte* const (&edges)[2], Ghosts ghosts) const {
    const int bytes = static_cast<int>(face.bytes());
    MPI_Request requests[4];
    MPI_Irecv(ghosts.high, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(ghosts.low, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(edges[0], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(edges[1], bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  }

  Buffer<double> data_, packed_;
};

class MpiSums final : public ByMpi<Sums> {
 public:
  explicit MpiSums(std::size_t values) : ByMpi(values * sizeof(double), values), values_(values) {
    protocol = "allreduce, " + staging.name();
  }
  double* result(int) override { return values_; }

 private:
  void step(cudaStream_t stream) override {
    const std::size_t bytes = count * sizeof(double);
    const void* mine = staging.to_send(values_, bytes, stream);
    std::byte* sums = staging.place(values_);
    MPI_Allreduce(mine == sums ? MPI_IN_PLACE : mine, sums, static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    staging.arrived(values_, bytes, stream);
  }

  Buffer<double> values_;
};

// The collectives that only move bytes: barrier, broadcast, allgather, all-to-all.
class MpiBlocks final : public ByMpi<Blocks> {
 public:
  MpiBlocks(const World& world, const CollTask& task)
      : ByMpi(2 * task.bytes * static_cast<std::size_t>(world.size()), world, task),
        rank_(world.rank()),
        last_(world.size() - 1),
        bytes_(task.bytes),
        from_(std::max(values.in(), std::size_t{1})),
        to_(std::max(values.out(), std::size_t{1})) {
    protocol = what + ", " + staging.name();
    in = from_;
    out = to_;
  }

 private:
  void step(cudaStream_t stream) override {
    write(stream);
    move(stream);
    read(stream);
  }

  void move(cudaStream_t stream) {
    const int count = static_cast<int>(bytes_);
    const std::size_t all = bytes_ * static_cast<std::size_t>(last_ + 1);
    finish(stream);  // MPI stores where the copy of the previous step reads
    if (what == "barrier") {
      MPI_Barrier(MPI_COMM_WORLD);
    } else if (what == "bcast") {
      broadcast(from_, 0, 0, stream);
      broadcast(to_, last_, bytes_, stream);
    } else if (what == "allgather") {
      MPI_Allgather(staging.to_send(from_, bytes_, stream), count, MPI_BYTE, staging.place(to_), count,
                    MPI_BYTE, MPI_COMM_WORLD);
      staging.arrived(to_, all, stream);
    } else {
      MPI_Alltoall(staging.to_send(from_, all, stream), count, MPI_BYTE, staging.place(to_), count, MPI_BYTE,
                   MPI_COMM_WORLD);
      staging.arrived(to_, all, stream);
    }
  }

  void broadcast(std::byte* buffer, int root, std::size_t at, cudaStream_t stream) {
    const int count = static_cast<int>(bytes_);
    if (rank_ == root) {
      auto* sent = const_cast<std::byte*>(staging.to_send(buffer, bytes_, stream, at));
      MPI_Bcast(sent, count, MPI_BYTE, root, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(staging.place(buffer, at), count, MPI_BYTE, root, MPI_COMM_WORLD);
      staging.arrived(buffer, bytes_, stream, at);
    }
  }

  int rank_, last_;
  std::size_t bytes_;
  Buffer<std::byte> from_, to_;
};

class Mpi final : public Peer {
 public:
  explicit Mpi(World& world) : world_(world) {
    name = "mpi";
    version = apps::mpi_version();
  }
  Contenders ping_pong(const Rows& rows) override {
    return one(std::make_unique<MpiMessages>(world_.rank(), rows, true));
  }
  Contenders put(const Rows& rows) override {
    if (rows.rows > 1) return {};
    return one(std::make_unique<MpiMessages>(world_.rank(), rows, false));
  }
  Contenders faces(const Face& face) override { return one(std::make_unique<MpiFaces>(world_, face)); }
  Contenders sums(std::size_t count) override { return one(std::make_unique<MpiSums>(count)); }
  Contenders blocks(const CollTask& task) override {
    if (task.what == "reduce_scatter") return {};
    return one(std::make_unique<MpiBlocks>(world_, task));
  }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Peer> open_mpi(World& world) { return std::make_unique<Mpi>(world); }

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
std::unique_ptr<Peer> open_mpi(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
