#include "model/loop.hpp"

#include "base/fail.hpp"

namespace tca::tool {

namespace {

// Beyond so many messages the model takes gigabytes.
constexpr std::size_t most_puts = 4'000'000;

}  // namespace

Loop::Loop(Stage& stage, Scheme scheme)
    : stage_(stage), prices_(stage), carry_(carry_by(scheme, stage, prices_)), steps_(stage) {}

void Loop::kernel(std::string_view what, double bytes, double flops) {
  phases_.emplace_back(Kernel{what, bytes, flops});
}

void Loop::exchange(std::uint32_t steps, bool is_strided, const LayDown& lay_down) {
  Exchange exchange{steps_laid_, steps_laid_ + steps, std::vector<double>(stage_.ranks()),
                    std::vector<double>(stage_.ranks())};
  for (std::size_t number = exchange.first; number < exchange.end; ++number)
    for (std::uint32_t rank = 0; rank < stage_.ranks(); ++rank)
      lay_down(static_cast<std::uint32_t>(number - exchange.first), rank,
               [&](std::uint32_t to, std::uint64_t bytes) {
                 if (++puts_ > most_puts)
                   base::fail(
                       Errc::invalid_argument,
                       "{} ranks: together they have more than {} messages; take fewer ranks or another grid",
                       stage_.ranks(), most_puts);
                 const Carrier carrier = carry_(rank, to, bytes);
                 bytes_ += bytes;
                 // Those of a step between the same two ranks are all of one size, so they share a tag.
                 steps_.put({rank, number}, {to, number}, {.bytes = bytes}, carrier,
                            static_cast<std::uint32_t>(number));
                 if (!is_strided || carrier == Carrier::chain) return;
                 exchange.sent[rank] += static_cast<double>(bytes);
                 exchange.received[to] += static_cast<double>(bytes);
               });
  steps_laid_ = exchange.end;
  phases_.emplace_back(std::move(exchange));
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
  if (const auto* exchange = std::get_if<Exchange>(&phase)) return play(rank, pass, *exchange);
  return add_up(rank, pass * sums_ + std::get<Sum>(phase).number);
}

des::Task Loop::play(std::uint32_t rank, std::uint64_t pass, const Exchange& exchange) {
  des::Task packed = move(rank, "pack", exchange.sent[rank]);
  co_await packed;
  for (std::size_t number = exchange.first; number < exchange.end; ++number) {
    des::Task stepped = steps_.run({rank, number}, pass + 1);
    co_await stepped;
  }
  des::Task unpacked = move(rank, "unpack", exchange.received[rank]);
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
