// NCCL as a peer, used as its documentation recommends: its collectives, and for point-to-point patterns
// grouped sends and receives. Steps are captured in a graph. Bytes that are not contiguous are packed.
#ifdef OPENTCA_HAVE_NCCL
#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <optional>
#endif

#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_NCCL
#include "gpu/call.hpp"
#include "gpu/kernels/face_kernels.hpp"

namespace tca::bench::gpu {

namespace {

void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess)
    throw Error(Errc::device_failed, std::string(what) + ": NCCL says: " + ncclGetErrorString(result));
}

// Runs the steps as a graph, after a first step without one in which NCCL connects the ranks.
template <class Kind>
class InGraph : public Kind {
 public:
  template <class... Args>
  explicit InGraph(ncclComm_t comm, Args&&... args) : Kind(std::forward<Args>(args)...), comm_(comm) {
    this->fabric = this->peer = "nccl";
    this->start = "graph";
    this->granule = steps_a_graph;
  }

  void run(int steps, Stream stream) final {
    if (!graph_) {
      ++this->steps_done;
      step(stream);
      finish(stream);
      graph_.emplace([this](cudaStream_t capturing) { step(capturing); });
    }
    this->steps_done += static_cast<std::uint32_t>(steps);
    graph_->run(steps, stream);
  }

 protected:
  virtual void step(cudaStream_t stream) = 0;

  void send(const void* from, std::size_t bytes, int to, cudaStream_t stream) {
    check(ncclSend(from, bytes, ncclChar, to, comm_, stream), "sending");
  }
  void receive(void* to, std::size_t bytes, int from, cudaStream_t stream) {
    check(ncclRecv(to, bytes, ncclChar, from, comm_, stream), "receiving");
  }
  ncclComm_t comm() const { return comm_; }

 private:
  ncclComm_t comm_;
  std::optional<Graph> graph_;
};

class NcclMessages final : public InGraph<Messages> {
 public:
  NcclMessages(ncclComm_t comm, int rank, const Rows& layout, bool is_answered)
      : InGraph(comm, layout, is_answered), rank_(rank), data_(2 * layout.padded()) {
    protocol = "send/recv";
    in = data_;
    out = in + layout.padded();
  }

 private:
  void step(cudaStream_t stream) override {
    if (rank_ > 1) return;
    if (rank_ == 0) {
      write(stream);
      send(out, rows.bytes(), 1, stream);
      if (answered) receive(in, rows.bytes(), 1, stream);
      read(stream);
    } else {
      receive(in, rows.bytes(), 0, stream);
      read(stream);
      if (!answered) return;
      write(stream);
      send(out, rows.bytes(), 0, stream);
    }
  }

  int rank_;
  Buffer<std::byte> data_;
};

class NcclFaces final : public InGraph<Faces> {
 public:
  NcclFaces(ncclComm_t comm, const World& world, const Face& which)
      : InGraph(comm, world, which), data_(which.cube()), packed_(4 * which.elements()) {
    protocol = face.rows == 1 ? "grouped send/recv" : "pack, grouped send/recv, unpack";
    cube = data_;
  }

 private:
  void step(cudaStream_t stream) override {
    const std::size_t elements = face.elements();
    const FaceRuns runs{static_cast<unsigned>(face.rows), static_cast<unsigned>(face.run), face.pitch};
    double *low = cube + face.low_edge(), *high = cube + face.high_edge();
    double *low_ghost = cube + face.low_ghost(), *high_ghost = cube + face.high_ghost();
    write(stream);
    if (face.rows == 1) {
      exchange(low, high, low_ghost, high_ghost, stream);
      read(stream);
      return;
    }
    double *sent = packed_, *received = sent + 2 * elements;
    pack_faces(low, high, runs, sent, stream);
    exchange(sent, sent + elements, received, received + elements, stream);
    unpack_faces(low_ghost, high_ghost, runs, received, stream);
    read(stream);
  }

  // Between two ranks messages match in the order of the calls. This rank's low edge is a neighbour's high
  // ghost.
  void exchange(double* low, double* high, double* low_ghost, double* high_ghost, cudaStream_t stream) {
    check(ncclGroupStart(), "an exchange");
    send(low, face.bytes(), left, stream);
    receive(high_ghost, face.bytes(), right, stream);
    send(high, face.bytes(), right, stream);
    receive(low_ghost, face.bytes(), left, stream);
    check(ncclGroupEnd(), "an exchange");
  }

  Buffer<double> data_, packed_;
};

class NcclSums final : public InGraph<Sums> {
 public:
  NcclSums(ncclComm_t comm, std::size_t values) : InGraph(comm, values), values_(values) {
    protocol = "allreduce";
  }
  double* result(int) override { return values_; }

  std::uint64_t wrong(World& world, Stream stream, unsigned round) override {
    run(granule, stream);  // the first run has one step more
    finish(stream);
    return Sums::wrong(world, stream, round);
  }

 private:
  void step(cudaStream_t stream) override {
    check(ncclAllReduce(values_, values_, count, ncclDouble, ncclSum, comm(), stream), "an allreduce");
  }

  Buffer<double> values_;
};

// Each collective is its own call of NCCL, with two exceptions: a barrier is the smallest allreduce, as
// NCCL's users do it, and an all-to-all is grouped sends and receives.
class NcclBlocks final : public InGraph<Blocks> {
 public:
  NcclBlocks(ncclComm_t comm, World& world, const CollTask& task)
      : InGraph(comm, world, task),
        ranks_(world.size()),
        bytes_(task.bytes),
        from_(std::max(values.in() * values.element_bytes(), sizeof(double))),
        to_(std::max(values.out() * values.element_bytes(), sizeof(double))) {
    protocol = what;
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
    if (what == "barrier") {
      check(ncclAllReduce(from_, from_, 1, ncclChar, ncclSum, comm(), stream), "a barrier");
    } else if (what == "bcast") {
      check(ncclBroadcast(from_, from_, bytes_, ncclChar, 0, comm(), stream), "a broadcast");
      check(ncclBroadcast(to_, to_, bytes_, ncclChar, ranks_ - 1, comm(), stream), "a broadcast");
    } else if (what == "allgather") {
      check(ncclAllGather(from_, to_, bytes_, ncclChar, comm(), stream), "an allgather");
    } else if (what == "alltoall") {
      all_to_all(stream);
    } else {
      check(ncclReduceScatter(from_, to_, values.count(), ncclDouble, ncclSum, comm(), stream),
            "a reduce-scatter");
    }
  }

  void all_to_all(cudaStream_t stream) {
    check(ncclGroupStart(), "an all-to-all");
    for (int other = 0; other < ranks_; ++other) {
      const std::size_t at = static_cast<std::size_t>(other) * bytes_;
      send(from_ + at, bytes_, other, stream);
      receive(to_ + at, bytes_, other, stream);
    }
    check(ncclGroupEnd(), "an all-to-all");
  }

  int ranks_;
  std::size_t bytes_;
  Buffer<std::byte> from_, to_;
};

class Nccl final : public Peer {
 public:
  explicit Nccl(World& world) : world_(world) {
    name = "nccl";
    int number = 0;
    check(ncclGetVersion(&number), "looking up its version");
    version = std::to_string(number / 10000) + "." + std::to_string(number / 100 % 100) + "." +
              std::to_string(number % 100);
    // All ranks are on this host. Multicast in the switch (NVLS) stays off whatever the environment says, as
    // it is in OpenTCA.
    setenv("NCCL_SOCKET_IFNAME", "lo", 0);
    setenv("NCCL_NVLS_ENABLE", "0", 1);
    ncclUniqueId id{};
    if (world.rank() == 0) check(ncclGetUniqueId(&id), "coming up");
    check(ncclCommInitRank(&comm_, world.size(), world.all_gather(id)[0], world.rank()), "coming up");
  }
  // Aborts after an error, since the other ranks may not reach an orderly end.
  ~Nccl() override { std::uncaught_exceptions() == 0 ? ncclCommDestroy(comm_) : ncclCommAbort(comm_); }

  Contenders ping_pong(const Rows& rows) override {
    return one(std::make_unique<NcclMessages>(comm_, world_.rank(), rows, true));
  }
  Contenders put(const Rows& rows) override {
    if (rows.rows > 1) return {};
    return one(std::make_unique<NcclMessages>(comm_, world_.rank(), rows, false));
  }
  Contenders faces(const Face& face) override {
    return one(std::make_unique<NcclFaces>(comm_, world_, face));
  }
  Contenders sums(std::size_t count) override { return one(std::make_unique<NcclSums>(comm_, count)); }
  Contenders blocks(const CollTask& task) override {
    return one(std::make_unique<NcclBlocks>(comm_, world_, task));
  }

 private:
  World& world_;
  ncclComm_t comm_ = nullptr;
};

}  // namespace

bool has_nccl() { return true; }
std::unique_ptr<Peer> open_nccl(World& world) { return std::make_unique<Nccl>(world); }

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
bool has_nccl() { return false; }
std::unique_ptr<Peer> open_nccl(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
