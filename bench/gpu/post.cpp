// Posts as a contender, on streams and in graphs.
#include "gpu/call.hpp"
#include "gpu/started.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

class PostPingPong final : public Started<Messages> {
 public:
  PostPingPong(World& world, const Rows& layout, const Way& way)
      : Started(way, layout, true),
        rank_(world.rank()),
        sent_(world.window<std::byte>(layout.padded())),
        region_(world, static_cast<std::int64_t>(layout.padded())),
        post_(world, "message"),
        notices_(world) {
    peer = "post";
    protocol = "post";
    guarded = false;
    const std::vector<RegionToken> tokens = world.all_gather(region_.token());
    if (rank_ < 2) {
      const int other = 1 - rank_;
      post_.put(tokens[static_cast<std::size_t>(other)], 0, sent_.elements(), block(layout.bytes()))
          .notify(other, 0, 0);
    }
    in = region_.data();
    out = sent_.data();
    scope.clear();
  }

 private:
  bool idle() const override { return rank_ > 1; }
  void on_stream(cudaStream_t stream) override {
    const Notice answer{1 - rank_, 0, 0};
    if (rank_ == 0) {
      write(stream);
      post_.start(stream);
      notices_.wait(answer, stream);
      read(stream);
    } else {
      notices_.wait(answer, stream);
      read(stream);
      write(stream);
      post_.start(stream);
    }
  }

  int rank_;
  Window<std::byte> sent_;
  Region region_;
  Post post_;
  Notices notices_;
};

}  // namespace

std::unique_ptr<Contender> post_ping_pong(World& world, const Rows& rows, const Way& way) {
  return std::make_unique<PostPingPong>(world, rows, way);
}

}  // namespace tca::bench::gpu
