// OpenTCA as a contender, through its public interface.
#include <optional>

#include "channels.hpp"
#include "contender.hpp"
#include "tca/tca.hpp"

namespace tca::bench {

namespace {

// Sets what is reported about the contender. The protocols are those of this rank's puts; the report is rank
// 0's.
void describe(Contender& contender, const Way& way, const Chain& chain) {
  contender.fabric = way.fabric;
  contender.protocol = protocols_in(chain.explain());
  contender.guarded = way.guarded;
}

class ChainPingPong final : public PingPong {
 public:
  ChainPingPong(World& world, std::size_t bytes, const Way& way)
      : bytes_(bytes),
        rank_(world.rank()),
        data_(world.window<std::byte>(2 * padded(bytes))),
        ping_(world.chain("ping", {.guarded = way.guarded, .channel = way.channel})),
        pong_(world.chain("pong", {.guarded = way.guarded, .channel = way.channel})) {
    if (rank_ < 2) {
      add_put(rank_ == 0 ? ping_ : pong_, way);
      expect(rank_ == 0 ? pong_ : ping_, way);
    }
    ping_.commit();
    pong_.commit();
    describe(*this, way, ping_);
    if (way.counted) peer = "counted";
  }

  std::span<std::byte> sent() override { return {data_.data() + padded(bytes_), bytes_}; }
  std::span<const std::byte> arrived() const override { return {data_.data(), arrived_bytes_}; }

  // Rank 0's start of the answer's chain only gives permission, and rank 1's of the message's does.
  void send() override {
    if (counted_) counted_->set(bytes_);
    if (rank_ == 0) {
      pong_.start();
      ping_.start();
    } else {
      pong_.start();
      pong_.wait();
    }
  }
  void receive() override {
    if (rank_ == 0) {
      pong_.wait();
      ping_.wait();
    } else {
      ping_.start();
      ping_.wait();
    }
    if (come_) arrived_bytes_ = static_cast<std::size_t>(come_->count());
  }

 private:
  void add_put(Chain& chain, const Way& way) {
    const Remote<std::byte> to = data_.on(1 - rank_);
    const Local<std::byte> from = data_.at(padded(bytes_));
    if (way.counted)
      counted_ = chain.put_counted(to, from, block(bytes_));
    else
      chain.put(to, from, block(bytes_));
  }
  void expect(Chain& chain, const Way& way) {
    if (way.counted)
      come_ = chain.expect_counted(1 - rank_);
    else
      chain.expect(1 - rank_);
  }

  static std::size_t padded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

  std::size_t bytes_, arrived_bytes_ = bytes_;
  int rank_;
  Window<std::byte> data_;
  Chain ping_, pong_;
  std::optional<CountedPut> counted_;
  std::optional<CountedArrival> come_;
};

class ChainFaces final : public FaceExchange {
 public:
  ChainFaces(World& world, const Face& face, const Way& way)
      : cube_(world.window<double>(face.cube())),
        chain_(world.chain(face.layout, {.guarded = way.guarded, .channel = way.channel})) {
    const int left = (world.rank() + world.size() - 1) % world.size(),
              right = (world.rank() + 1) % world.size();
    const Layout layout = layout_of(face);
    chain_.put(cube_.on(left).at(face.high_ghost()), cube_.at(face.low_edge()), layout);
    chain_.put(cube_.on(right).at(face.low_ghost()), cube_.at(face.high_edge()), layout);
    chain_.expect(left).expect(right);
    chain_.commit();
    describe(*this, way, chain_);
  }

  double* cube() override { return cube_.data(); }

  void exchange() override {
    chain_.start();
    chain_.wait();
  }

 private:
  Window<double> cube_;
  Chain chain_;
};

class NoExchange final : public FaceExchange {
 public:
  NoExchange(World& world, const Face& face) : cube_(world.window<double>(face.cube())) {}
  double* cube() override { return cube_.data(); }
  void exchange() override {}

 private:
  Window<double> cube_;
};

class ChainOverlap final : public Overlap {
 public:
  ChainOverlap(World& world, const OverlapTask& task, const Way& way)
      : world_(world),
        sent_(world.window<std::byte>(task.bytes)),
        arrived_(world.window<std::byte>(task.bytes)),
        chain_(world.chain("overlap", {.guarded = way.guarded, .channel = way.channel})) {
    const int left = (world.rank() + world.size() - 1) % world.size(),
              right = (world.rank() + 1) % world.size();
    chain_.put(arrived_.on(right), sent_.at(0), block(task.bytes));
    chain_.expect(left);
    chain_.commit();
    describe(*this, way, chain_);
    progress = task.progress;
    bytes = task.bytes;
  }

  void start() override { chain_.start(); }
  void point() override { world_.progress(); }
  void wait() override { chain_.wait(); }
  std::byte* sent() override { return sent_.data(); }
  const std::byte* arrived() const override { return arrived_.data(); }

 private:
  World& world_;
  Window<std::byte> sent_, arrived_;
  Chain chain_;
};

}  // namespace

Face Face::make(const std::string& layout, std::size_t n) {
  const std::size_t plane = n * n;
  if (layout == "block") return {layout, n, 1, plane, plane, plane};
  if (layout == "block-stride") return {layout, n, n, n, plane, n};
  if (layout == "stride") return {layout, n, plane, 1, n, 1};
  throw Error(Errc::invalid_argument, "layout '" + layout + "' is not one of block, block-stride, stride");
}

Layout layout_of(const Face& face) {
  if (face.rows == 1) return block(face.run);
  if (face.run == 1) return stride(face.rows, face.pitch);
  return block_stride(face.rows, face.run, face.pitch);
}

std::unique_ptr<PingPong> chain_ping_pong(World& world, std::size_t bytes, const Way& way) {
  return std::make_unique<ChainPingPong>(world, bytes, way);
}

std::unique_ptr<FaceExchange> chain_faces(World& world, const Face& face, const Way& way) {
  return std::make_unique<ChainFaces>(world, face, way);
}

std::unique_ptr<FaceExchange> no_exchange(World& world, const Face& face) {
  return std::make_unique<NoExchange>(world, face);
}

std::unique_ptr<Overlap> chain_overlap(World& world, const OverlapTask& task, const Way& way) {
  return std::make_unique<ChainOverlap>(world, task, way);
}

}  // namespace tca::bench
