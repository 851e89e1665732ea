#include "model/loop.hpp"

#include "base/fail.hpp"

namespace tca::tool {

namespace {

// Beyond so many messages in a step the model takes gigabytes.
constexpr std::size_t most_puts = 4'000'000;

}  // namespace

Loop::Loop(Stage& stage, Scheme scheme)
    : stage_(stage), prices_(stage), carry_(carry_by(scheme, stage, prices_)), steps_(stage) {}

void Loop::kernel(std::string_view what, double bytes, double flops) {
  phases_.emplace_back(Kernel{what, bytes, flops});
}

void Loop::step(bool is_strided, const std::function<void(std::uint32_t, const Put&)>& lay_down) {
  Step step{steps_laid_++, std::vector<double>(stage_.ranks()), std::vector<double>(stage_.ranks())};
  std::size_t puts = 0;
  for (std::uint32_t rank = 0; rank < stage_.ranks(); ++rank)
    lay_down(rank, [&](std::uint32_t to, std::uint64_t bytes) {
      if (++puts > most_puts)
        base::fail(Errc::invalid_argument,
                   "{} ranks: a step has more than {} messages; take fewer ranks or another grid",
                   stage_.ranks(), most_puts);
      const Carrier carrier = carry_(rank, to, bytes);
      bytes_ += bytes;
      // Those of a step between the same two ranks are all of one size, so they share a tag.
      steps_.put({rank, step.number}, {to, step.number}, {.bytes = bytes}, carrier,
                 static_cast<std::uint32_t>(step.number));
      if (!is_strided || carrier == Carrier::chain) return;
      step.sent[rank] += static_cast<double>(bytes);
      step.received[to] += static_cast<double>(bytes);
    });
  phases_.emplace_back(std::move(step));
}

void Loop::sum() {
  if (!sum_) sum_ = sum_of_a_word(stage_);
  phases_.emplace_back(Sum{++sums_});
}

void Loop::run(std::uint64_t passes) {
  for (std::uint32_t rank = 0; rank < stage_.ranks(); ++rank)
    stage_.simulator().spawn(play(rank, passes), {"rank", rank});
  stage_.simulator().run();
}

des::Task Loop::play(std::uint32_t rank, std::uint64_t passes) {
  for (std::uint64_t pass = 0; pass < passes; ++pass) {
    for (const Phase& phase : phases_) {
      des::Task performed = perform(rank, pass, phase);
      co_await performed;
    }
    stage_.end_iteration(pass);
  }
}

des::Task Loop::perform(std::uint32_t rank, std::uint64_t pass, const Phase& phase) {
  if (const auto* kernel = std::get_if<Kernel>(&phase))
    return stage_.kernel(rank, kernel->what, kernel->bytes, kernel->flops);
  if (const auto* step = std::get_if<Step>(&phase)) return exchange(rank, pass, *step);
  return add_up(rank, pass * sums_ + std::get<Sum>(phase).number);
}

des::Task Loop::exchange(std::uint32_t rank, std::uint64_t pass, const Step& step) {
  des::Task packed = move(rank, "pack", step.sent[rank]);
  co_await packed;
  des::Task exchanged = steps_.run({rank, step.number}, pass + 1);
  co_await exchanged;
  des::Task unpacked = move(rank, "unpack", step.received[rank]);
  co_await unpacked;
}

// A kernel that reads and writes so many bytes.
des::Task Loop::move(std::uint32_t rank, std::string_view what, double bytes) {
  if (bytes == 0) co_return;
  des::Task kernel = stage_.kernel(rank, what, 2 * bytes, 0);
  co_await kernel;
}

des::Task Loop::add_up(std::uint32_t rank, std::uint64_t time) {
  des::Task out = stage_.spend(rank, "copy", stage_.machine().host.copy_start);
  co_await out;
  des::Task summed = sum_->play(rank, time, false);
  co_await summed;
}

}  // namespace tca::tool
