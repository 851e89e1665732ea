// OpenTCA as a contender, through its public interface, with each of its ways to start.
#include <bit>
#include <optional>
#include <string>
#include <utility>

#include "channels.hpp"
#include "gpu/call.hpp"
#include "gpu/kernels/chain_kernels.hpp"
#include "gpu/started.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

// Returns "signal" for a chain without puts.
std::string chosen_protocols(const Chain& chain) {
  const std::string protocols = protocols_in(chain.explain());
  return protocols.empty() ? "signal" : protocols;
}

unsigned larger(unsigned a, unsigned b) { return a > b ? a : b; }

// Returns the size of a kernel that runs the chain. Other ways do not ask for the chain's device view,
// because that makes the engine look for a kernel's steps.
Grid grid_of(const Chain& chain, const Way& way) {
  if (way.start != "kernel") return {};
  const DeviceChain& device = chain.device();
  return grid_for(larger(device.chunks_out, device.chunks_in),
                  larger(device.segments_out, device.segments_in), way.grid);
}

class ChainPingPong final : public Started<Messages> {
 public:
  ChainPingPong(World& world, const Rows& layout, const Way& way)
      : Started(way, layout, true),
        rank_(world.rank()),
        data_(world.window<std::byte>(2 * layout.padded())),
        ping_(world.chain("ping", {.guarded = way.guarded, .channel = way.channel})),
        pong_(world.chain("pong", {.guarded = way.guarded, .channel = way.channel})) {
    const std::size_t sent = layout.padded();
    if (rank_ < 2) {
      add(rank_ == 0 ? ping_ : pong_, rank_ == 0 ? pong_ : ping_, block(layout.bytes()), way.counted);
      if (way.counted) peer = "counted";
    }
    ping_.commit();
    pong_.commit();
    if (sent_) sent_->set(layout.bytes());
    if (sent_ && way.start == "kernel") counted_ = {sent_->device(), come_->device()};
    in = data_.data();
    out = in + sent;
    protocol = chosen_protocols(ping_);
    grid = grid_of(ping_, way);
    scope.clear();
  }

 private:
  bool idle() const override { return rank_ > 1; }
  void add(Chain& out_by, Chain& in_by, const Layout& bytes, bool counted) {
    const raw::Remote to = data_.on(1 - rank_).untyped();
    const raw::Local from = data_.at(rows.padded()).untyped();
    if (counted) {
      sent_ = out_by.put_counted(to, from, bytes);
      come_ = in_by.expect_counted(1 - rank_);
    } else {
      out_by.put(to, from, bytes);
      in_by.expect(1 - rank_);
    }
  }
  void in_kernel(std::uint32_t first, int steps, cudaStream_t stream) override {
    cuda_ok(run_ping_pong(ping_.device(), pong_.device(), counted_, touched, rank_ == 0, first, steps, grid,
                          stream),
            "launching a ping-pong");
  }
  void on_stream(cudaStream_t stream) override {
    if (rank_ == 0) write(stream);
    ping_.run(stream);
    if (rank_ == 1) answer(stream);
    pong_.run(stream);
    if (rank_ == 0) read(stream);
  }
  void by_engine(cudaStream_t stream) override {
    if (rank_ == 0) {
      write(stream);
      finish(stream);
    }
    ping_.start();
    if (rank_ == 0) pong_.start();
    ping_.wait();
    if (rank_ == 1) {
      answer(stream);
      finish(stream);
      pong_.start();
    }
    pong_.wait();
    if (rank_ == 0) read(stream);
  }
  void answer(cudaStream_t stream) {
    read(stream);
    write(stream);
  }

  int rank_;
  Window<std::byte> data_;
  Chain ping_, pong_;
  std::optional<CountedPut> sent_;
  std::optional<CountedArrival> come_;
  CountedEnds counted_;  // of a kernel
};

// A contender whose step is one step of a chain.
template <class Kind>
class OneChain : public Started<Kind> {
 public:
  template <class... Args>
  OneChain(World& world, const std::string& name, const Way& way, Args&&... args)
      : Started<Kind>(way, std::forward<Args>(args)...),
        chain_(world.chain(name, {.guarded = way.guarded, .channel = way.channel})) {}

 protected:
  Chain chain_;

 private:
  void in_kernel(std::uint32_t first, int steps, cudaStream_t stream) final {
    cuda_ok(run_exchanges(chain_.device(), this->touched, this->scope == "grid", first, steps, this->grid,
                          stream),
            "launching an exchange");
  }
  void on_stream(cudaStream_t stream) final {
    this->write(stream);
    chain_.run(stream);
    this->read(stream);
  }
  void by_engine(cudaStream_t stream) final {
    this->write(stream);
    finish(stream);
    chain_.start();
    chain_.wait();
    this->read(stream);
  }
};

class ChainPut final : public OneChain<Messages> {
 public:
  ChainPut(World& world, const Rows& layout, const Way& way)
      : OneChain(world, "put", way, layout, false),
        rank_(world.rank()),
        data_(world.window<std::byte>(layout.padded())) {
    const Layout bytes =
        layout.rows == 1 ? block(layout.row) : block_stride(layout.rows, layout.row, layout.pitch);
    if (rank_ == 0) chain_.put(data_.on(1).at(0), data_.at(0), bytes);
    if (rank_ == 1) chain_.expect(0);
    chain_.commit();
    in = out = data_.data();
    protocol = chosen_protocols(chain_);
    grid = grid_of(chain_, way);
  }

 private:
  bool idle() const override { return rank_ > 1; }

  int rank_;
  Window<std::byte> data_;
};

class ChainFaces final : public OneChain<Faces> {
 public:
  ChainFaces(World& world, const Face& which, const Way& way)
      : OneChain(world, which.layout, way, world, which), cube_(world.window<double>(which.cube())) {
    const Layout layout = layout_of(face);
    chain_.put(cube_.on(left).at(face.high_ghost()), cube_.at(face.low_edge()), layout);
    chain_.put(cube_.on(right).at(face.low_ghost()), cube_.at(face.high_edge()), layout);
    chain_.expect(left).expect(right);
    chain_.commit();
    cube = cube_.data();
    protocol = chosen_protocols(chain_);
    grid = grid_of(chain_, way);
  }

 private:
  Window<double> cube_;
};

class TeamSums final : public Started<Sums> {
 public:
  TeamSums(World& world, std::size_t values, const Way& way)
      : Started(way, values), values_(values), team_(world.team("sums", values)) {
    protocol = "ll";
    scope.clear();
  }
  double* result(int) override { return values_; }

 private:
  void in_kernel(std::uint32_t, int steps, cudaStream_t stream) override {
    run_sums(team_.device(), values_, static_cast<unsigned>(count), steps, stream);
  }
  void on_stream(cudaStream_t stream) override { team_.allreduce_sum(values_, count, stream); }

  Buffer<double> values_;
  Team team_;
};

// Every block of a grid brings a share, and gets the sums.
class GridSums final : public Started<Sums> {
 public:
  GridSums(World& world, std::size_t values, const std::string& how, const Way& way)
      : Started(way, values),
        values_(values),
        partials_(values * blocks_of(way)),
        totals_(values),
        barrier_(1),
        team_(world.team("sums", values, blocks_of(way))) {
    protocol = "ll";
    scope = how;
    grid = {blocks_of(way), way.grid.threads > 0 ? way.grid.threads : 256};
  }
  double* result(int) override { return values_; }

 private:
  // A power of two.
  static unsigned blocks_of(const Way& way) {
    return way.grid.blocks > 0 ? std::bit_floor(way.grid.blocks) : 64;
  }

  void in_kernel(std::uint32_t, int steps, cudaStream_t stream) override {
    cuda_ok(run_grid_sums(team_.device(), values_, static_cast<unsigned>(count), scope == "grid",
                          {partials_, totals_, barrier_}, steps, grid, stream),
            "launching a kernel whose blocks all sum");
  }
  void on_stream(cudaStream_t) override {}  // only kernels do

  Buffer<double> values_, partials_, totals_;
  Buffer<std::uint64_t> barrier_;
  Team team_;
};

}  // namespace

std::unique_ptr<Contender> chain_ping_pong(World& world, const Rows& rows, const Way& way) {
  return std::make_unique<ChainPingPong>(world, rows, way);
}
std::unique_ptr<Contender> chain_put(World& world, const Rows& rows, const Way& way) {
  return std::make_unique<ChainPut>(world, rows, way);
}
std::unique_ptr<Contender> chain_faces(World& world, const Face& face, const Way& way) {
  return std::make_unique<ChainFaces>(world, face, way);
}
std::unique_ptr<Contender> team_sums(World& world, std::size_t count, const Way& way) {
  return std::make_unique<TeamSums>(world, count, way);
}
std::unique_ptr<Contender> grid_sums(World& world, std::size_t count, const std::string& how,
                                     const Way& way) {
  return std::make_unique<GridSums>(world, count, how, way);
}

}  // namespace tca::bench::gpu
