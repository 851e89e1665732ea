// Tests posts and notices that streams and graphs order, mixed with those of the host.
#include <chrono>
#include <optional>
#include <vector>

#include "cuda_ok.hpp"
#include "messages.hpp"
#include "replay.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

using Value = std::int64_t;

struct OwnStream {
  OwnStream() { ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
  OwnStream(const OwnStream&) = delete;
  ~OwnStream() { cudaStreamDestroy(stream); }
  operator cudaStream_t() const { return stream; }  // NOLINT: stands for the stream
  void finish() const { ok(cudaStreamSynchronize(stream)); }
  cudaStream_t stream = nullptr;
};

// In a ring of ranks each posts from a window to the next one, which waits and answers by a bare notice that there is
// room again.
class PostRing {
 public:
  PostRing(World& world, std::int64_t count)
      : world_(world),
        count_(count),
        right_((world.rank() + 1) % world.size()),
        left_((world.rank() + world.size() - 1) % world.size()),
        source_(world.window<Value>(count)),
        region_(world, count * static_cast<std::int64_t>(sizeof(Value))),
        data_(world, "data"),
        room_(world, "room"),
        notices_(world) {
    const std::vector<RegionToken> tokens = world.all_gather(region_.token());
    data_.put(tokens[static_cast<std::size_t>(right_)], 0, source_.elements(), block(count))
        .notify(right_, 3, 7);
    room_.notify(left_, 200, 8);
    ok(cudaMallocHost(&pinned_, static_cast<std::size_t>(count) * sizeof(Value)));
    ok(cudaMallocHost(&come_, static_cast<std::size_t>(count) * sizeof(Value)));
    // No graph can be made while another rank waits on the same GPU, nor run.
    if (!threads_share_a_gpu(world)) graph_.emplace(world, stream_, 1, [this](int) { order(stream_); });
    world.barrier();
  }
  PostRing(const PostRing&) = delete;
  ~PostRing() {
    cudaFreeHost(pinned_);
    cudaFreeHost(come_);
  }

  // One step. What comes is left in `come_`.
  void order(cudaStream_t stream) {
    const std::size_t bytes = static_cast<std::size_t>(count_) * sizeof(Value);
    ok(cudaMemcpyAsync(source_.data(), pinned_, bytes, cudaMemcpyHostToDevice, stream));
    data_.start(stream);
    notices_.wait({left_, 3, 7}, stream);
    ok(cudaMemcpyAsync(come_, region_.data(), bytes, cudaMemcpyDeviceToHost, stream));
    room_.start(stream);
    notices_.wait({right_, 200, 8}, stream);
  }
  void by_stream(Value step) {
    set(step);
    order(stream_);
    check_come(step);
  }
  void by_graph(Value step) {
    set(step);
    graph_ ? graph_->launch() : order(stream_);
    check_come(step);
  }
  void by_host(Value step) {
    std::vector<Value> values(static_cast<std::size_t>(count_));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(world_.rank(), step, i);
    source_.write(0, values);
    data_.run();
    notices_.wait({left_, 3, 7});
    region_.read(0, std::as_writable_bytes(std::span(come_, static_cast<std::size_t>(count_))));
    room_.run();
    notices_.wait({right_, 200, 8});
    check_come(step);
  }

 private:
  static Value value(int rank, Value step, std::size_t i) {
    return 1'000'000 * step + 1000 * rank + static_cast<Value>(i);
  }
  void set(Value step) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i)
      pinned_[i] = value(world_.rank(), step, i);
  }
  void check_come(Value step) {
    stream_.finish();
    world_.check();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i)
      require(come_[i] == value(left_, step, i), "element {} is {} in step {}", i, come_[i], step);
  }

  World& world_;
  std::int64_t count_;
  int right_, left_;
  Window<Value> source_;
  Region region_;
  Post data_, room_;
  Notices notices_;
  OwnStream stream_;
  Value *pinned_ = nullptr, *come_ = nullptr;
  std::optional<Replay> graph_;
};

// Small posts are one kernel, and large ones three.
TEST_P(FabricTest, PostsOnStreamsInGraphsAndByTheHost) {
  const int rounds = steps(200);
  for (const std::int64_t count : {1, 100, 100'000}) {
    run(2, [&](World& world) {
      PostRing ring(world, count);
      Value step = 0;
      for (int round = 0; round < rounds; ++round) {
        ring.by_stream(++step);
        if (round % 3 == 0) ring.by_graph(++step);
        if (round % 5 == 0) ring.by_host(++step);
      }
      world.barrier();
    });
  }
}

// Strided puts into several regions, from memory of the GPU of each kind and from the host's.
TEST_P(FabricTest, PostsOfLayoutsOnAStream) {
  run(2, [](World& world) {
    constexpr std::size_t count = 1000;
    const int other = 1 - world.rank();
    const auto on = static_cast<std::size_t>(other);
    const OwnStream stream;
    const Window<Value> window = world.window<Value>(count);
    const Window<Value> on_host = world.host_window<Value>(count);
    const Region plain(world, count * sizeof(Value)), of_window(world, window.data(), count * sizeof(Value));
    const Region host = Region::on_host(world, count * sizeof(Value));
    const Region of_host_window(world, on_host.data(), count * sizeof(Value));
    const auto plain_there = world.all_gather(plain.token()),
               window_there = world.all_gather(of_window.token());
    const auto host_there = world.all_gather(host.token()),
               host_window_there = world.all_gather(of_host_window.token());
    Value* device = nullptr;
    ok(cudaMalloc(&device, count * sizeof(Value)));
    Value* pinned = nullptr;
    ok(cudaMallocHost(&pinned, count * sizeof(Value)));
    for (std::size_t i = 0; i < count; ++i) pinned[i] = 10'000 * world.rank() + static_cast<Value>(i);
    ok(cudaMemcpyAsync(device, pinned, count * sizeof(Value), cudaMemcpyHostToDevice, stream));
    Post post(world, "layouts");
    post.put(plain_there[on], 1, stride(20, 3), std::span(device, count), block(20));
    post.put(window_there[on], 0, block_stride(10, 4, 9), std::span(pinned, count), block(40));
    post.put(host_there[on], 5, block(300), std::span(device, count), stride(300, 2));
    post.put(host_window_there[on], 0, subarray({10, 10, 10}, {1, 2, 3}, {4, 5, 6}), std::span(pinned, count),
             subarray({10, 10, 10}, {0, 1, 2}, {4, 5, 6}));
    for (std::uint32_t tag = 0; tag < 8; ++tag) post.notify(other, 0, tag);  // more than fit into parameters
    Notices notices(world);
    world.barrier();
    post.start(stream);
    for (std::uint32_t tag = 0; tag < 8; ++tag) notices.wait({other, 0, tag}, stream);
    stream.finish();
    world.check();
    const Value begin = 10'000 * other;
    const auto value = [](const Region& region, std::size_t at) {
      Value v;
      region.read(at * sizeof(Value), std::as_writable_bytes(std::span(&v, 1)));
      return v;
    };
    for (const std::size_t i : {0, 7, 19}) {
      require(value(plain, 1 + 3 * i) == begin + static_cast<Value>(i), "stride {}", i);
      require(value(plain, 2 + 3 * i) == 0, "behind stride {}", i);
    }
    for (const std::size_t i : {0, 3, 17, 39})
      require(value(of_window, i / 4 * 9 + i % 4) == begin + static_cast<Value>(i), "rows {}", i);
    for (const std::size_t i : {0, 299})
      require(value(host, 5 + i) == begin + static_cast<Value>(2 * i), "block {}", i);
    require(on_host[123] == begin + 12 && on_host[123 + 345] == begin + 12 + 345 && on_host[122] == 0,
            "sub-array");
    world.barrier();
    ok(cudaFree(device));
    ok(cudaFreeHost(pinned));
  });
}

// Posts with a notice and with two, of two streams at once. A stream and the host wait for them.
TEST_P(FabricTest, PostsOnSeveralStreamsShareASlot) {
  const int each = steps(200);
  run(2, [&](World& world) {
    const int other = 1 - world.rank();
    const Region region(world, sizeof(Value));
    const auto tokens = world.all_gather(region.token());
    const Window<Value> source = world.window<Value>(1);
    source.write(0, std::vector<Value>{7});
    Post alone(world, "alone"), both(world, "both");
    alone.put(tokens[static_cast<std::size_t>(other)], 0, source.elements(), block(1)).notify(other, 6, 1);
    both.notify(other, 6, 2).notify(other, 6, 1);
    const OwnStream first, second, waiting;
    Notices notices(world);
    world.barrier();
    for (int i = 0; i < each; ++i) {
      alone.start(first);
      both.start(second);
    }
    for (int i = 0; i < 2 * each; ++i) notices.wait({other, 6, 1}, waiting);
    waiting.finish();
    for (int i = 0; i < each; ++i) notices.wait({other, 6, 2});
    world.check();
    require(!notices.test_any(other, 6), "more notices have come than were raised");
    Value come = 0;
    region.read(0, std::as_writable_bytes(std::span(&come, 1)));
    require(come == 7, "it has {}", come);
    first.finish();
    second.finish();
    world.barrier();
  });
}

TEST_P(FabricTest, PostsOnAStreamThatAreRefused) {
  run(2, [](World& world) {
    const int other = 1 - world.rank();
    const OwnStream stream;
    std::optional<Region> region(std::in_place, world, 64);
    const auto tokens = world.all_gather(region->token());
    const Window<Value> source = world.window<Value>(8);
    Post post(world, "late");
    post.put(tokens[static_cast<std::size_t>(other)], 0, source.elements(), block(8)).notify(other, 1, 1);
    post.start(stream);
    Notices notices(world);
    notices.wait({other, 1, 1}, stream);
    stream.finish();
    world.check();
    world.barrier();
    region.reset();
    world.barrier();
    post.start(stream);
    stream.finish();
    const auto gone =
        refuses(Errc::invalid_argument, {"rank", "is gone", "new token"}, [&] { world.check(); });
    require(static_cast<bool>(gone), "a region that is gone: {}", gone.message());
    require(!notices.test({other, 1, 1}), "a notice was raised");

    Post full(world, "full");
    for (std::uint32_t tag = 0; tag < notice_tags; ++tag) full.notify(other, 2, tag);
    full.start(stream);
    Post more(world, "one more");
    more.notify(other, 2, 99);
    more.start(stream);
    stream.finish();
    const auto refused =
        refuses(Errc::refused, {"one more", "slot 2", "8 other tags"}, [&] { more.flush(); });
    require(static_cast<bool>(refused), "a full slot: {}", refused.message());
    world.barrier();  // until then none of the slot's notices is taken
    for (std::uint32_t tag = 0; tag < notice_tags; ++tag) notices.wait({other, 2, tag}, stream);
    stream.finish();
    world.barrier();
    more.start(stream);
    notices.wait({other, 2, 99}, stream);
    stream.finish();
    world.check();

    std::vector<Value> ordinary(8);
    Post of_host(world, "ordinary");
    const Region next(world, 64);
    const auto next_there = world.all_gather(next.token());
    of_host.put(next_there[static_cast<std::size_t>(other)], 0, ordinary, block(8));
    const auto unreached =
        refuses(Errc::invalid_argument, {"start of post 'ordinary'", "ordinary host memory"},
                [&] { of_host.start(stream); });
    require(static_cast<bool>(unreached), "ordinary memory: {}", unreached.message());
    const auto no_region =
        refuses(Errc::invalid_argument, {"a region of rank", "ordinary host memory", "on_host"},
                [&] { Region(world, ordinary.data(), 64); });
    require(static_cast<bool>(no_region), "a region of ordinary memory: {}", no_region.message());
    world.barrier();
  });
}

TEST_P(FabricTest, NoticesOnAStreamThatDoNotCome) {
  const auto body = [](World& world) {
    world.barrier();
    if (world.rank() == 1) return;
    const OwnStream stream;
    Notices notices(world);
    notices.wait({1, 4, 12}, stream);
    stream.finish();
    const Caught error = caught([&] { world.check(); });
    require((error.code == Errc::rank_lost || error.code == Errc::timed_out) &&
                says(error.message, {"stream", "slot 4", "tag 12", "rank 1"}) &&
                error.fields.missing == std::vector<int>{1},
            "{}", error.message);
    Post post(world, "after that");
    post.notify(0, 0, 0);
    require(caught([&] { post.run(); }).code == error.code, "a post after a wait in vain");
  };
  EXPECT_EQ(GetParam().make()->run(2, body, {.time_limit = std::chrono::seconds(8)}), "");
}

}  // namespace
}  // namespace tca::test
