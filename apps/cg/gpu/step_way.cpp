// An iteration as in the solver on hosts, kernel by kernel.
#include <chrono>
#include <cmath>
#include <utility>

#include "cg/gpu/kernels.hpp"
#include "cg/gpu/way.hpp"
#include "shared/gpu_stream_times.hpp"

namespace tca::cg {

using namespace apps;

namespace {

// Times what another exchange sends.
class TimedExchange : public GpuExchange {
 public:
  explicit TimedExchange(GpuExchange& exchange) : exchange_(exchange) {}

  void gather(Stream stream) override {
    time(Message::gather, stream, [&] { exchange_.gather(stream); });
  }
  const double* exchange_sums(std::size_t which, Stream stream) override {
    const double* received = nullptr;
    time(Message::spmv, stream, [&] { received = exchange_.exchange_sums(which, stream); });
    return received;
  }
  void transpose(Stream stream) override {
    time(Message::transpose, stream, [&] { exchange_.transpose(stream); });
  }
  void sum(double* values, int count, Stream stream) override {
    time(Message::dot, stream, [&] { exchange_.sum(values, count, stream); });
  }
  std::string explain(Message message) const override { return exchange_.explain(message); }

  MessageTimes times() const {
    MessageTimes all;
    for (std::size_t message = 0; message < all.size(); ++message) all[message] = times_.us(message);
    return all;
  }

 private:
  void time(Message message, Stream stream, const std::function<void()>& send) {
    times_.time(static_cast<std::size_t>(message), stream, send);
  }

  GpuExchange& exchange_;
  StreamTimes times_{messages.size()};
};

class StepWay : public Way {
 public:
  StepWay(World& world, const GpuMatrix& matrix, const Vectors& vectors, GpuExchange& exchange, Order order,
          Start start)
      : world_(world),
        matrix_(matrix),
        vectors_(vectors),
        exchange_(&exchange),
        order_(order),
        n_(static_cast<std::size_t>(matrix.share().own.size)),
        rows_(static_cast<Word>(matrix.share().rows.size)),
        x_(n_),
        z_(n_),
        r_(n_),
        products_(static_cast<std::size_t>(rows_) * matrix.arrays().tiling.column_parts),
        partial_(std::size_t{most_sums} * blocks_for(static_cast<Word>(n_))),
        found_(static_cast<std::size_t>(matrix.problem().steps)) {
    v_ = {.x = x_.data(),
          .z = z_.data(),
          .r = r_.data(),
          .p = vectors.own_operand(matrix.share()),
          .q = vectors.result.data(),
          .n = static_cast<Word>(n_),
          .scalars = scalars_.data(),
          .partial = partial_.data(),
          .count = count_.data()};
    cuda_ok(prepare_multiply(matrix.shared_bytes()), "preparing to multiply");
    if (start == Start::graph) graph_.emplace(world, stream_.get(), [this] { enqueue_step(); });
  }

  Step run(int steps, std::vector<double>& step_us, const Tick& tick) override {
    begin();
    const auto began = std::chrono::steady_clock::now();
    for (int step = 0; step < steps; ++step) {
      if (step % steps_between_checks == 0) world_.check();
      if (graph_) {
        graph_->launch();
      } else {
        enqueue_step();
      }
    }
    stream_.synchronize("running the benchmark");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - began;
    world_.check();
    step_us.push_back(took.count() / steps);
    if (tick) tick(steps);
    const Found last = found_.read(stream_)[static_cast<std::size_t>(steps - 1)];
    return {.zeta = matrix_.problem().shift + 1 / last.xz, .residual = std::sqrt(last.squares)};
  }

  MessageTimes time_messages(int steps) override {
    TimedExchange timed(*exchange_);
    GpuExchange* const own = std::exchange(exchange_, &timed);
    begin();
    for (int step = 0; step < steps; ++step) enqueue_step();
    exchange_ = own;
    stream_.synchronize("timing messages");
    world_.check();
    return timed.times();
  }

  std::string explain(Message message) const override { return exchange_->explain(message); }

 private:
  // The host puts as many on the stream between two checks that the other ranks are still there.
  static constexpr int steps_between_checks = 8;

  void begin() {
    x_.write(std::vector<double>(n_, 1.0), stream_);
    steps_.write({0}, stream_);
  }

  void enqueue_step() {
    ok(launch_begin(v_, stream()));
    if (order_ == Order::npb) sum(&v_.scalars->rho, 1);
    for (int i = 0; i < inner_iterations; ++i) {
      multiply();
      order_ == Order::npb ? finish_as_npb() : finish_merged();
    }
    ok(launch_end(v_, stream()));
    sum(v_.scalars->ends, 2);
    multiply();
    ok(launch_scale(v_, stream()));
    sum(&v_.scalars->left, 1);
    ok(launch_keep(v_, found_.data(), steps_.data(), stream()));
  }

  void finish_as_npb() {
    ok(launch_dots(v_, false, stream()));
    sum(v_.scalars->dots, 1);
    ok(launch_advance(v_, stream()));
    sum(&v_.scalars->squares, 1);
    ok(launch_turn(v_, stream()));
  }
  void finish_merged() {
    ok(launch_dots(v_, true, stream()));
    sum(v_.scalars->dots, most_sums);
    ok(launch_advance_and_turn(v_, stream()));
  }

  // q = A p
  void multiply() {
    exchange_->gather(stream());
    const Word parts = matrix_.arrays().tiling.column_parts;
    double* const product = vectors_.product.data();
    double* const products = parts == 1 ? product : products_.data();
    ok(launch_multiply(matrix_.arrays(), matrix_.most().columns, vectors_.operand.data(), products, rows_,
                       stream()));
    if (parts > 1) ok(launch_combine(products, parts, product, rows_, stream()));
    const Share& share = matrix_.share();
    for (std::size_t which = 0; which < share.reductions.size(); ++which) {
      const double* const received = exchange_->exchange_sums(which, stream());
      const Range& target = share.reductions[which].received;
      ok(launch_accumulate(product + target.begin, received, static_cast<Word>(target.size), stream()));
    }
    exchange_->transpose(stream());
  }

  void sum(double* values, int count) { exchange_->sum(values, count, stream()); }
  static void ok(cudaError_t result) { cuda_ok(result, "starting a step"); }
  cudaStream_t stream() const { return stream_.get(); }

  World& world_;
  const GpuMatrix& matrix_;
  Vectors vectors_;
  GpuExchange* exchange_;
  Order order_;
  std::size_t n_;
  Word rows_;
  DeviceArray<double> x_, z_, r_, products_, partial_;
  DeviceArray<Scalars> scalars_{1};
  DeviceArray<Word> count_{1}, steps_{1};
  DeviceArray<Found> found_;
  OwnVectors v_{};
  // Destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream_;
  std::optional<Graph> graph_;
};

}  // namespace

std::unique_ptr<Way> step_way(World& world, const GpuMatrix& matrix, const Vectors& vectors,
                              GpuExchange& exchange, Order order, Start start) {
  return std::make_unique<StepWay>(world, matrix, vectors, exchange, order, start);
}

}  // namespace tca::cg
