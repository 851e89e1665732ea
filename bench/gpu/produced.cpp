// Messages and faces that a kernel produces, beside faces that it packs for a chain: what a kernel can do whose message is made
// from more than lies in a window. Both are OpenTCA's; they take part as a peer does.
#include <optional>

#include "gpu/kernels/produced_kernels.hpp"
#include "gpu/peers/peers.hpp"
#include "gpu/started.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

Way by_kernel(bool is_guarded) {
  return {.start = "kernel", .scope = "parts", .channel = {}, .guarded = is_guarded, .grid = {}};
}

[[noreturn]] void refuse_streams() { throw Error(Errc::invalid_argument, "only a kernel produces"); }

class ByKernel : public Started<Faces> {
 public:
  ByKernel(World& world, const Face& which, bool is_guarded)
      : Started(by_kernel(is_guarded), world, which),
        chain(world.chain(which.layout, {.guarded = is_guarded})),
        cube_(world.window<double>(which.cube())) {
    cube = cube_.data();
  }

 protected:
  std::int64_t words() const { return static_cast<std::int64_t>(face.bytes() / 4); }
  Chain chain;

 private:
  void on_stream(cudaStream_t) final { refuse_streams(); }

  Window<double> cube_;
};

class ProducedPingPong final : public Started<Messages> {
 public:
  ProducedPingPong(World& world, const Rows& layout, bool is_guarded)
      : Started(by_kernel(is_guarded), layout, true),
        rank_(world.rank()),
        data_(2 * layout.padded()),
        chain_(world.chain("both ways", {.guarded = is_guarded})) {
    const auto elements = static_cast<std::int64_t>((layout.bytes() / 4 + 2) / 3);
    std::optional<ProducedPut<Words>> put;
    std::optional<ProducedArrival<Words>> arrival;
    if (!idle()) {
      put = chain_.put_produced<Words>(1 - rank_, elements);
      arrival = chain_.expect_produced<Words>(1 - rank_, elements);
    }
    chain_.commit();
    if (!idle()) {
      sent_ = put->device();
      arrived_ = arrival->device();
    }
    in = data_;
    out = in + layout.padded();
    protocol = "produced";
    grid = grid_for(device::lots_of(static_cast<unsigned>(elements)), 0);
  }

 private:
  bool idle() const override { return rank_ > 1; }
  void on_stream(cudaStream_t) override { refuse_streams(); }
  void in_kernel(std::uint32_t first, int steps, cudaStream_t stream) override {
    cuda_ok(run_produced_ping_pong(chain_.device_produced(), sent_, arrived_, touched, rank_ == 0, first,
                                   steps, grid, stream),
            "launching a ping-pong");
  }

  int rank_;
  Buffer<std::byte> data_;
  Chain chain_;
  DeviceProducedPut<Words> sent_;
  DeviceProducedArrival<Words> arrived_;
};

// Needs no guard: a thread writes an element to a neighbour again once it has read the same one from there.
class ProducedFaces final : public ByKernel {
 public:
  ProducedFaces(World& world, const Face& which, bool is_guarded) : ByKernel(world, which, is_guarded) {
    const std::int64_t elements = (words() + 2) / 3;
    const auto to_left = chain.put_produced<Words>(left, elements);
    const auto to_right = chain.put_produced<Words>(right, elements);
    const auto from_right = chain.expect_produced<Words>(right, elements);
    const auto from_left = chain.expect_produced<Words>(left, elements);
    chain.commit();
    sides_ = {{to_left.device(), to_right.device()}, {from_left.device(), from_right.device()}};
    protocol = "produced";
    grid = grid_for(2 * device::lots_of(static_cast<unsigned>(elements)), 0);
  }

 private:
  void in_kernel(std::uint32_t first, int steps, cudaStream_t stream) override {
    cuda_ok(run_produced(chain.device_produced(), sides_, touched, first, steps, grid, stream),
            "launching an exchange");
  }

  ProducedSides sides_;
};

class PackedFaces final : public ByKernel {
 public:
  PackedFaces(World& world, const Face& which)
      : ByKernel(world, which, true),
        out_(world.window<std::uint32_t>(2 * words())),
        in_(world.window<std::uint32_t>(2 * words())) {
    const Layout side = block(words());
    chain.put(in_.on(left).at(words()), out_.at(0), side).expect(left);
    chain.put(in_.on(right).at(0), out_.at(words()), side).expect(right);
    chain.commit();
    protocol = "packed";
    scope = "grid";
    const DeviceChain& device = chain.device();
    grid = grid_for(std::max(device.chunks_out, device.chunks_in),
                    std::max(device.segments_out, device.segments_in));
  }

 private:
  void in_kernel(std::uint32_t first, int steps, cudaStream_t stream) override {
    cuda_ok(run_packed(chain.device(), out_.data(), in_.data(), touched, first, steps, grid, stream),
            "launching an exchange");
  }

  Window<std::uint32_t> out_, in_;
};

class Producer final : public Peer {
 public:
  explicit Producer(World& world) : world_(world) {}
  Contenders ping_pong(const Rows& rows) override {
    Contenders all;
    if (rows.bytes() % sizeof(std::uint32_t) != 0) return all;
    for (const bool guarded : {true, false})
      all.push_back(std::make_unique<ProducedPingPong>(world_, rows, guarded));
    return all;
  }
  Contenders faces(const Face& face) override {
    Contenders all;
    for (const bool guarded : {true, false})
      all.push_back(std::make_unique<ProducedFaces>(world_, face, guarded));
    all.push_back(std::make_unique<PackedFaces>(world_, face));
    return all;
  }

 private:
  World& world_;
};

}  // namespace

std::unique_ptr<Peer> open_producer(World& world) { return std::make_unique<Producer>(world); }

}  // namespace tca::bench::gpu
