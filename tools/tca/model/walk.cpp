#include "model/walk.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "coll/algorithms/algorithms.hpp"

namespace tca::tool {

namespace {

// Beyond so many a schedule takes gigabytes.
constexpr std::size_t most_puts = 8'000'000;

}  // namespace

std::uint64_t put_bytes(std::int64_t count, std::uint64_t element_bytes) {
  return std::max<std::uint64_t>(static_cast<std::uint64_t>(count) * element_bytes, 1);
}

Walk::Walk(Stage& stage, coll::Algorithm algorithm, coll::Problem problem, std::uint64_t element_bytes,
           const Carry& carry)
    : stage_(stage), steps_(stage), combines_(stage.ranks()) {
  for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank) {
    problem.rank = static_cast<int>(rank);
    const std::optional<coll::Schedule> schedule = algorithm(problem);
    if (!schedule)
      base::fail(Errc::invalid_argument, "{} ranks: the algorithm is not for so many", stage.ranks());
    lay_down(rank, *schedule, element_bytes, carry);
  }
}

// What goes to one rank in a round goes as one put.
void Walk::lay_down(std::uint32_t rank, const coll::Schedule& schedule, std::uint64_t element_bytes,
                    const Carry& carry) {
  rounds_ = schedule.rounds.size();
  for (std::size_t i = 0; i < rounds_; ++i) {
    const coll::Round& round = schedule.rounds[i];
    puts_ += round.puts.size() + 1;
    if (puts_ > most_puts)
      base::fail(Errc::invalid_argument,
                 "{} ranks: together they have more than {} puts and rounds; take "
                 "fewer ranks or another algorithm",
                 stage_.ranks(), most_puts);
    for (auto put = round.puts.begin(); put != round.puts.end();) {
      const auto to = static_cast<std::uint32_t>(put->to);
      std::int64_t count = 0;
      for (; put != round.puts.end() && static_cast<std::uint32_t>(put->to) == to; ++put) count += put->count;
      const std::uint64_t bytes = put_bytes(count, element_bytes);
      steps_.put({rank, i}, {to, i}, {.bytes = bytes}, carry(rank, to, bytes));
    }
    for (const auto* work : {&round.copies, &round.combines})
      for (const coll::Combine& combine : *work)
        combines_[rank].push_back(
            {i, static_cast<double>(combine.count) * static_cast<double>(element_bytes) *
                    static_cast<double>(combine.operands.size() + 1)});
  }
}

des::Task Walk::play(std::uint32_t rank, std::uint64_t time, bool adds) {
  auto combine = combines_[rank].begin();
  for (std::size_t i = 0; i < rounds_; ++i) {
    des::Task step = steps_.run({rank, i}, time);
    co_await step;
    for (; adds && combine != combines_[rank].end() && combine->round == i; ++combine) {
      des::Task kernel = stage_.kernel(rank, "combine", combine->bytes, 0);
      co_await kernel;
    }
  }
}

std::unique_ptr<Walk> sum_of_a_word(Stage& stage) {
  const coll::Problem sum{.kind = CollectiveKind::all_reduce,
                          .rank = 0,
                          .ranks = static_cast<int>(stage.ranks()),
                          .root = 0,
                          .count = 1,
                          .in_place = true,
                          .own_operation = false};
  const Carrier carrier = stage.has_mpi() ? Carrier::host_mpi : Carrier::store;
  return std::make_unique<Walk>(stage, coll::recursive_doubling, sum, sizeof(double),
                                [=](auto...) { return carrier; });
}

}  // namespace tca::tool
