#include "gpu/overlap.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "channels.hpp"
#include "gpu/call.hpp"
#include "gpu/in_turn.hpp"
#include "gpu/kernels/compute_kernels.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

class ChainPassing final : public Passing {
 public:
  ChainPassing(World& world, std::size_t bytes, const Way& way)
      : Passing(bytes),
        data_(world.window<std::byte>(2 * bytes)),
        chain_(world.chain("passing", {.guarded = way.guarded, .channel = way.channel})) {
    const int ranks = world.size(), rank = world.rank();
    chain_.put(data_.on((rank + 1) % ranks).at(0), data_.at(bytes), block(bytes));
    chain_.expect((rank + ranks - 1) % ranks);
    chain_.commit();
    fabric = way.fabric;
    start = way.start;
    guarded = way.guarded;
    protocol = protocols_in(chain_.explain());
    in = data_.data();
    out = in + bytes;
  }
  void exchange(cudaStream_t stream) override { chain_.run(stream); }

 private:
  Window<std::byte> data_;
  Chain chain_;
};

// The work beside an exchange, long enough that caches hold little of what it touches.
class Work {
 public:
  Work(World& world, bool of_memory) : data_(bytes / sizeof(float4)) {
    int device = 0, multiprocessors = 0;
    cuda_ok(cudaGetDevice(&device), "looking at the GPU");
    cuda_ok(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "looking at the GPU");
    // Reading and writing takes longer a block.
    const unsigned blocks_at_once = 8, waves = of_memory ? 8 : 16;
    run_ = {of_memory ? Computation::memory : Computation::arithmetic, data_, bytes / sizeof(float4),
            static_cast<unsigned>(multiprocessors) * blocks_at_once * waves, 1};
    few_us_ = took_us(world, few);
    many_us_ = took_us(world, many);
  }

  void last(double us) {
    const double a_turn = std::max(1e-3, (many_us_ - few_us_) / (many - few));
    run_.turns = few + static_cast<unsigned>(std::max(0.0, std::ceil((us - few_us_) / a_turn)));
  }
  void run(cudaStream_t stream) const {
    compute(run_, stream);
    cuda_ok(cudaGetLastError(), "launching a computation");
  }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 30;
  static constexpr unsigned few = 1, many = 9;

  double took_us(World& world, unsigned turns) {
    run_.turns = turns;
    return step_us(world, [this](cudaStream_t stream) { run(stream); });
  }

  Buffer<float4> data_;
  Computation run_;
  double few_us_ = 0, many_us_ = 0;
};

// A stream whose blocks go before those of others, beside another one.
class Beside {
 public:
  Beside() {
    int least = 0, greatest = 0;
    cuda_ok(cudaDeviceGetStreamPriorityRange(&least, &greatest), "making a stream");
    cuda_ok(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "making a stream");
  }
  Beside(const Beside&) = delete;
  ~Beside() { cudaStreamDestroy(stream_); }

  cudaStream_t fork(cudaStream_t other) const {
    order(other, fork_, stream_);
    return stream_;
  }
  void join(cudaStream_t other) const { order(stream_, join_, other); }

 private:
  static void order(cudaStream_t first, const apps::OwnEvent& event, cudaStream_t second) {
    cuda_ok(cudaEventRecord(event.get(), first), "going on beside a computation");
    cuda_ok(cudaStreamWaitEvent(second, event.get()), "going on beside a computation");
  }

  apps::OwnEvent fork_, join_;
  cudaStream_t stream_ = nullptr;
};

class Part final : public Ring {
 public:
  enum class Does { exchange, compute, both };

  Part(World& world, std::shared_ptr<Passing> passing, std::shared_ptr<Work> work, Does does, int puts)
      : Ring(world, passing->bytes),
        passing_(std::move(passing)),
        work_(std::move(work)),
        does_(does),
        puts_(puts) {
    static_cast<bench::Contender&>(*this) = *passing_;
    start = passing_->start;
    in = passing_->in;
    out = passing_->out;
    if (start == "graph") granule = steps_a_graph;
    if (does == Does::compute) touches = 0;
  }

  // The first step is none of a graph: in it a peer may have to connect the ranks.
  void run(int steps, Stream stream) override {
    steps_done += static_cast<std::uint32_t>(steps);
    if (start != "graph") {
      for (int i = 0; i < steps; ++i) step(stream);
      return;
    }
    if (!graph_) {
      ++steps_done;
      step(stream);
      finish(stream);
      graph_.emplace([this](cudaStream_t capturing) { step(capturing); },
                     cudaGraphInstantiateFlagUseNodePriority);
    }
    graph_->run(steps, stream);
  }

  std::uint64_t wrong(World& world, Stream stream, unsigned round) override {
    return does_ == Does::compute ? 0 : Ring::wrong(world, stream, round);
  }

 private:
  void step(cudaStream_t stream) {
    if (does_ == Does::compute) return work_->run(stream);
    write(stream);
    const cudaStream_t side = beside_.fork(stream);
    for (int i = 0; i < puts_; ++i) passing_->exchange(side);
    if (does_ == Does::both) work_->run(stream);
    beside_.join(stream);
    read(stream);
  }

  std::shared_ptr<Passing> passing_;
  std::shared_ptr<Work> work_;
  Does does_;
  int puts_;
  Beside beside_;
  std::optional<Graph> graph_;
};

}  // namespace

std::unique_ptr<Passing> chain_passing(World& world, std::size_t bytes, const Way& way) {
  return std::make_unique<ChainPassing>(world, bytes, way);
}

OverlapParts overlap_parts(World& world, std::unique_ptr<Passing> passing, bool of_memory) {
  constexpr double least_us = 100;
  constexpr int most_puts = 50;
  const std::shared_ptr<Passing> shared = std::move(passing);
  const auto work = std::make_shared<Work>(world, of_memory);
  const auto make = [&](Part::Does does, int puts) {
    return std::make_unique<Part>(world, shared, work, does, puts);
  };
  const auto lone_us = [&](int puts) {
    const auto part = make(Part::Does::exchange, puts);
    part->prepare(world);
    return exchange_us(world, *part);
  };
  OverlapParts made;
  made.puts = std::clamp(static_cast<int>(std::ceil(least_us / std::max(1.0, lone_us(1)))), 1, most_puts);
  work->last(1.25 * lone_us(made.puts));
  for (const Part::Does does : {Part::Does::exchange, Part::Does::compute, Part::Does::both})
    made.parts.push_back(make(does, made.puts));
  return made;
}

}  // namespace tca::bench::gpu
