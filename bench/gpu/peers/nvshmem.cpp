// NVSHMEM as a peer, used as its documentation recommends for these patterns: puts with a signal. One kernel
// does all steps of a run; it puts, and waits for the partner's signal.
#include "gpu/peers/peers.hpp"

#ifdef OPENTCA_HAVE_NVSHMEM
#include <cstdlib>
#include <exception>

#include "gpu/in_kernel.hpp"
#include "gpu/peers/nvshmem_calls.hpp"

namespace tca::bench::gpu {

namespace {

// Freeing memory and leaving NVSHMEM wait for all ranks, and after an error some may never come.
bool others_come() { return std::uncaught_exceptions() == 0; }

template <class T>
class Symmetric {
 public:
  explicit Symmetric(std::size_t count) : data_(static_cast<T*>(nvshmem::allocate(count * sizeof(T)))) {
    if (data_ == nullptr)
      throw Error(Errc::out_of_memory,
                  "NVSHMEM's symmetric heap is full; NVSHMEM_SYMMETRIC_SIZE gives it more");
  }
  Symmetric(const Symmetric&) = delete;
  ~Symmetric() {
    if (others_come()) nvshmem::release(data_);
  }
  operator T*() const { return data_; }  // NOLINT: stands for the pointer

 private:
  T* data_;
};

constexpr const char* peer_name = "nvshmem";

class ByP final : public InKernel<Messages> {
 public:
  explicit ByP(int rank)
      : InKernel(peer_name, Rows::block(sizeof(std::uint64_t)), true), rank_(rank), flag_(1) {
    protocol = "p, wait_until";
  }
  // The step's number is the message, and no step ends without it, so there are no values to check.
  std::uint64_t wrong(World& world, Stream stream, unsigned) override {
    run(granule, stream);
    finish(stream);
    world.barrier();
    return 0;
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    if (rank_ < 2) nvshmem::ping_pong_by_p(flag_, rank_, first, steps, stream);
  }

  int rank_;
  Symmetric<std::uint64_t> flag_;
};

class ByPutSignal final : public InKernel<Messages> {
 public:
  ByPutSignal(int rank, const Rows& layout)
      : InKernel(peer_name, layout, true),
        rank_(rank),
        parts_(parts_for(layout.bytes(), 16384)),
        data_(2 * layout.padded()),
        signals_(parts_) {
    protocol = "put_signal, signal_wait";
    in = data_;
    out = in + layout.padded();
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    const unsigned threads = rows.bytes() >= 16384 ? 1024 : 256;
    const nvshmem::Message message{in, out, rows.bytes(), signals_, parts_, threads, touched};
    if (rank_ < 2) nvshmem::ping_pong(message, rank_, first, steps, stream);
  }

  int rank_;
  unsigned parts_;
  Symmetric<std::byte> data_;
  Symmetric<std::uint64_t> signals_;
};

class NvshmemFaces final : public InKernel<Faces> {
 public:
  NvshmemFaces(const World& world, const Face& which, bool packs)
      : InKernel(peer_name, world, which),
        packs_(packs),
        data_(which.cube()),
        packed_(packs ? 8 * which.elements() : 1),
        parts_(parts_for(which.bytes(), 4096)),
        signals_(2 * parts_) {
    protocol = packs ? "pack, put_signal, unpack" : face.rows == 1 ? "put_signal" : "put a row, signal";
    guarded = packs;
    scope = "parts";
    cube = data_;
  }

 private:
  void run_from(std::uint64_t first, int steps, cudaStream_t stream) override {
    const nvshmem::Exchange exchange{
        cube,
        {face.low_edge(), face.high_edge()},
        {face.low_ghost(), face.high_ghost()},
        {static_cast<unsigned>(face.rows), static_cast<unsigned>(face.run), face.pitch},
        packs_ ? static_cast<double*>(packed_) : nullptr,
        signals_,
        {left, right},
        parts_,
        256,
        touched};
    nvshmem::exchanges(exchange, first, steps, stream);
  }

  bool packs_;
  Symmetric<double> data_, packed_;
  unsigned parts_;
  Symmetric<std::uint64_t> signals_;
};

class NvshmemSums final : public InKernel<Sums> {
 public:
  explicit NvshmemSums(std::size_t values) : InKernel(peer_name, values), a_(values), b_(values) {
    protocol = "sum_reduce";
  }
  double* result(int steps_run) override { return steps_run % 2 == 0 ? a_ : b_; }

 private:
  void run_from(std::uint64_t, int steps, cudaStream_t stream) override {
    nvshmem::sums({a_, b_}, count, steps, stream);
  }

  Symmetric<double> a_, b_;
};

class Nvshmem final : public Peer {
 public:
  explicit Nvshmem(World& world) : world_(world) {
    name = peer_name;
    // All ranks are on this host. Multicast in the switch (NVLS) stays off whatever the environment says, as
    // it is in OpenTCA.
    setenv("NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME", "lo", 0);
    setenv("NVSHMEM_REMOTE_TRANSPORT", "none", 0);
    setenv("NVSHMEM_DISABLE_NVLS", "1", 1);
    nvshmem::Id id{};
    if (world.rank() == 0) id = nvshmem::make_id();
    if (!nvshmem::join(world.rank(), world.size(), world.all_gather(id)[0]))
      throw Error(Errc::device_failed, "NVSHMEM does not come up; NVSHMEM_DEBUG=INFO says more");
    version = nvshmem::version();
  }
  ~Nvshmem() override {
    if (others_come()) nvshmem::leave();
  }

  Contenders ping_pong(const Rows& rows) override {
    Contenders all = one(std::make_unique<ByPutSignal>(world_.rank(), rows));
    if (rows.bytes() == sizeof(std::uint64_t)) all.push_back(std::make_unique<ByP>(world_.rank()));
    return all;
  }
  Contenders faces(const Face& face) override {
    Contenders all;
    if (face.rows > 1) all.push_back(std::make_unique<NvshmemFaces>(world_, face, true));
    if (face.run > 1) all.push_back(std::make_unique<NvshmemFaces>(world_, face, false));
    return all;
  }
  Contenders sums(std::size_t count) override { return one(std::make_unique<NvshmemSums>(count)); }

 private:
  World& world_;
};

}  // namespace

bool has_nvshmem() { return true; }
std::unique_ptr<Peer> open_nvshmem(World& world) { return std::make_unique<Nvshmem>(world); }

}  // namespace tca::bench::gpu

#else

namespace tca::bench::gpu {
bool has_nvshmem() { return false; }
std::unique_ptr<Peer> open_nvshmem(World&) { return nullptr; }
}  // namespace tca::bench::gpu

#endif
