// NCCL as a peer, used as its documentation recommends: its collectives, and for point-to-point patterns
// grouped sends and receives. Steps are captured in a graph. Bytes that are not contiguous are packed.
#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_NCCL
#include "gpu/kernels/face_kernels.hpp"
#include "gpu/peers/nccl_in_graph.hpp"
#include "gpu/peers/nccl_passing.hpp"

namespace tca::bench::gpu {

namespace nccl {

namespace {

// What a contender sends from and receives into. It outlives the graph whose steps it is captured in.
struct Buffers {
  Memory first, second;
};

// A contender with such memory, of these sizes.
template <class Kind>
class ByCalls : private Buffers, public InGraph<Kind> {
 public:
  template <class... Args>
  ByCalls(const Way& way, const std::string& called, std::size_t bytes, std::size_t more, Args&&... args)
      : Buffers{{way.comm, bytes, way.memory}, {way.comm, more, way.memory}},
        InGraph<Kind>(std::forward<Args>(args)...),
        comm_(way.comm) {
    this->protocol = called + way.words;
  }

 protected:
  void send(const void* from, std::size_t bytes, int to, cudaStream_t stream) {
    check(ncclSend(from, bytes, ncclChar, to, comm_, stream), "sending");
  }
  void receive(void* to, std::size_t bytes, int from, cudaStream_t stream) {
    check(ncclRecv(to, bytes, ncclChar, from, comm_, stream), "receiving");
  }
  ncclComm_t comm() const { return comm_; }
  const Memory& one() const { return first; }
  const Memory& other() const { return second; }

 private:
  ncclComm_t comm_;
};

class NcclMessages final : public ByCalls<Messages> {
 public:
  NcclMessages(const Way& way, int rank, const Rows& layout, bool is_answered)
      : ByCalls(way, "send/recv", layout.padded(), layout.padded(), layout, is_answered), rank_(rank) {
    in = one().as();
    out = other().as();
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
};

class NcclFaces final : public ByCalls<Faces> {
 public:
  NcclFaces(const Way& way, const World& world, const Face& which)
      : ByCalls(way, which.rows == 1 ? "grouped send/recv" : "pack, grouped send/recv, unpack",
                which.cube() * sizeof(double), 4 * which.elements() * sizeof(double), world, which) {
    cube = one().as<double>();
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
    double *sent = other().as<double>(), *received = sent + 2 * elements;
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
};

// The kernels on symmetric windows sum no doubles, so there floats take part too.
template <class T>
class NcclSums final : public ByCalls<SumsOf<T>> {
 public:
  NcclSums(const Way& way, std::size_t values)
      : ByCalls<SumsOf<T>>(way, "allreduce", values * sizeof(T), 0, values) {
    if (sizeof(T) == sizeof(float)) this->element = "float";
  }
  T* result(int) override { return this->one().template as<T>(); }

  std::uint64_t wrong(World& world, Stream stream, unsigned round) override {
    this->run(this->granule, stream);  // the first run has one step more
    finish(stream);
    return SumsOf<T>::wrong(world, stream, round);
  }

 private:
  void step(cudaStream_t stream) override {
    constexpr ncclDataType_t type = sizeof(T) == sizeof(float) ? ncclFloat : ncclDouble;
    check(ncclAllReduce(result(0), result(0), this->count, type, ncclSum, this->comm(), stream),
          "an allreduce");
  }
};

// Each collective is its own call of NCCL, with two exceptions: a barrier is the smallest allreduce, as
// NCCL's users do it, and before 2.28 an all-to-all is grouped sends and receives.
class NcclBlocks final : public ByCalls<Blocks> {
 public:
  NcclBlocks(const Way& way, World& world, const CollTask& task)
      : ByCalls(way, task.what, CollValues(world, task).in_bytes(), CollValues(world, task).out_bytes(),
                world, task),
        ranks_(world.size()),
        bytes_(task.bytes) {
    if (task.floats) element = "float";
    in = one().as();
    out = other().as();
  }

 private:
  void step(cudaStream_t stream) override {
    write(stream);
    move(stream);
    read(stream);
  }

  void move(cudaStream_t stream) {
    if (what == "barrier") {
      check(ncclAllReduce(in, in, 1, ncclFloat, ncclSum, comm(), stream), "a barrier");
    } else if (what == "bcast") {
      check(ncclBroadcast(in, in, bytes_, ncclChar, 0, comm(), stream), "a broadcast");
      check(ncclBroadcast(out, out, bytes_, ncclChar, ranks_ - 1, comm(), stream), "a broadcast");
    } else if (what == "allgather") {
      check(ncclAllGather(in, out, bytes_, ncclChar, comm(), stream), "an allgather");
    } else if (what == "alltoall") {
      all_to_all(stream);
    } else {
      const ncclDataType_t type = values.element_bytes() == sizeof(float) ? ncclFloat : ncclDouble;
      check(ncclReduceScatter(in, out, values.count(), type, ncclSum, comm(), stream), "a reduce-scatter");
    }
  }

#if NCCL_VERSION_CODE >= 22800
  void all_to_all(cudaStream_t stream) {
    check(ncclAlltoAll(in, out, bytes_, ncclChar, comm(), stream), "an all-to-all");
  }
#else
  void all_to_all(cudaStream_t stream) {
    check(ncclGroupStart(), "an all-to-all");
    for (int other = 0; other < ranks_; ++other) {
      const std::size_t at = static_cast<std::size_t>(other) * bytes_;
      send(in + at, bytes_, other, stream);
      receive(out + at, bytes_, other, stream);
    }
    check(ncclGroupEnd(), "an all-to-all");
  }
#endif

  int ranks_;
  std::size_t bytes_;
};

using Passings = std::vector<std::unique_ptr<Passing>>;

class Nccl : public Peer {
 public:
  explicit Nccl(World& world) : Nccl(world, Memory::plain, "") {}

  Contenders ping_pong(const Rows& rows) override {
    return one(std::make_unique<NcclMessages>(way_, world_.rank(), rows, true));
  }
  Contenders put(const Rows& rows) override {
    if (rows.rows > 1) return {};
    return one(std::make_unique<NcclMessages>(way_, world_.rank(), rows, false));
  }
  Contenders faces(const Face& face) override { return one(std::make_unique<NcclFaces>(way_, world_, face)); }
  Contenders sums(std::size_t count) override { return one(std::make_unique<NcclSums<double>>(way_, count)); }
  Contenders blocks(const CollTask& task) override {
    return one(std::make_unique<NcclBlocks>(way_, world_, task));
  }
  Passings passing(std::size_t bytes) override {
    Passings all;
    all.push_back(send_and_receive(way_, world_, bytes));
    return all;
  }

 protected:
  Passings gathering(std::size_t bytes) {
    Passings all;
    all.push_back(gather(way_, world_, bytes));
    return all;
  }

  Nccl(World& world, Memory::Kind memory, const char* words, bool by_copy_engine = false)
      : world_(world), comm_(world, by_copy_engine), way_{comm_, memory, words} {
    name = peer_name;
    version = nccl::version();
  }

  World& world_;
  Communicator comm_;
  Way way_;
};

// The same calls on symmetric windows.
class NcclWindows final : public Nccl {
 public:
  explicit NcclWindows(World& world) : Nccl(world, Memory::window, ", symmetric windows") {}

  Contenders sums(std::size_t count) override {
    Contenders all = Nccl::sums(count);
    all.push_back(std::make_unique<NcclSums<float>>(way_, count * sizeof(double) / sizeof(float)));
    return all;
  }
  Contenders blocks(const CollTask& task) override {
    Contenders all = Nccl::blocks(task);
    CollTask of_floats = task;
    of_floats.floats = true;
    if (task.what == "reduce_scatter") all.push_back(std::make_unique<NcclBlocks>(way_, world_, of_floats));
    return all;
  }
  Passings passing(std::size_t bytes) override {
    Passings all = Nccl::passing(bytes);
    for (auto& other : gathering(bytes)) all.push_back(std::move(other));
    return all;
  }
};

// The two collectives that copy engines do alone, on symmetric windows.
class NcclCopyEngine final : public Nccl {
 public:
  explicit NcclCopyEngine(World& world) : Nccl(world, Memory::window, ", copy engine", true) {}

  Contenders ping_pong(const Rows&) override { return {}; }
  Contenders put(const Rows&) override { return {}; }
  Contenders faces(const Face&) override { return {}; }
  Contenders sums(std::size_t) override { return {}; }
  Contenders blocks(const CollTask& task) override {
    if (task.what != "allgather" && task.what != "alltoall") return {};
    return Nccl::blocks(task);
  }
  Passings passing(std::size_t bytes) override { return gathering(bytes); }
};

}  // namespace

}  // namespace nccl

bool has_nccl() { return true; }
std::unique_ptr<Peer> open_nccl(World& world) { return std::make_unique<nccl::Nccl>(world); }
std::unique_ptr<Peer> open_nccl_windows(World& world) { return std::make_unique<nccl::NcclWindows>(world); }
std::unique_ptr<Peer> open_nccl_copy_engine(World& world) {
  return std::make_unique<nccl::NcclCopyEngine>(world);
}

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
bool has_nccl() { return false; }
std::unique_ptr<Peer> open_nccl(World&) { return nullptr; }
std::unique_ptr<Peer> open_nccl_windows(World&) { return nullptr; }
std::unique_ptr<Peer> open_nccl_copy_engine(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
