// Posts as a contender: a message and its notice each way.
#include "contender.hpp"
#include "tca/tca.hpp"

namespace tca::bench {

namespace {

class PostPingPong final : public PingPong {
 public:
  PostPingPong(World& world, std::size_t bytes, const Way& way)
      : rank_(world.rank()),
        sent_(bytes),
        region_(world, static_cast<std::int64_t>(bytes)),
        post_(world, "message"),
        notices_(world) {
    fabric = way.fabric;
    protocol = "post";
    peer = "post";
    guarded = false;
    const std::vector<RegionToken> tokens = world.all_gather(region_.token());
    if (rank_ > 1) return;
    const int other = 1 - rank_;
    post_.put(tokens[static_cast<std::size_t>(other)], 0, sent_, block(static_cast<std::int64_t>(bytes)))
        .notify(other, 0, 0);
  }

  std::span<std::byte> sent() override { return sent_; }
  std::span<const std::byte> arrived() const override { return {region_.data(), region_.size()}; }
  void send() override { post_.run(); }
  void receive() override { notices_.wait({1 - rank_, 0, 0}); }

 private:
  int rank_;
  std::vector<std::byte> sent_;
  Region region_;
  Post post_;
  Notices notices_;
};

}  // namespace

std::unique_ptr<PingPong> post_ping_pong(World& world, std::size_t bytes, const Way& way) {
  return std::make_unique<PostPingPong>(world, bytes, way);
}

}  // namespace tca::bench
