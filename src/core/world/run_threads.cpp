#include "core/world/run_threads.hpp"

#include <atomic>
#include <exception>
#include <future>
#include <optional>
#include <system_error>
#include <thread>

#include "base/fail.hpp"
#include "base/system/limits.hpp"

namespace tca::core {

namespace {

// Runs rank 0 on the caller's thread and the others on their own threads. No rank begins before all threads
// exist, since it would wait for ranks that may never arrive.
void run_side_by_side(std::size_t ranks, const std::function<void(std::size_t)>& run) {
  std::promise<bool> complete;
  const std::shared_future<bool> may_begin = complete.get_future().share();
  std::vector<std::thread> others;
  std::string problem;
  try {
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      others.emplace_back([&, rank] {
        if (may_begin.get()) run(rank);
      });
    }
  } catch (const std::system_error& error) {
    problem = base::thread_limit_met(error.code().value());
  }
  complete.set_value(problem.empty());
  if (problem.empty()) run(0);
  for (std::thread& thread : others) thread.join();
  if (problem.empty()) return;
  base::fail(Errc::out_of_memory,
             "{} ranks as threads: after {} of them the system gave no more: {}. Run fewer, where no limit "
             "can be raised",
             ranks, others.size() + 1, problem);
}

}  // namespace

// The states outlive all threads: a rank that fails early leaves behind memory into which the others are
// still writing.
void run_threads(int ranks, const std::function<boot::Connections(int rank)>& connect,
                 const std::function<void(World&)>& body, const WorldOptions& options, base::Fibers* fibers) {
  const auto size = static_cast<std::size_t>(ranks);
  std::vector<std::shared_ptr<WorldState>> states(size);
  std::vector<std::exception_ptr> errors(size);
  std::atomic<int> first_error{-1};
  const auto fail = [&](std::size_t rank, const control::Trouble& why) {
    errors[rank] = std::current_exception();
    int none = -1;
    first_error.compare_exchange_strong(none, static_cast<int>(rank));
    if (states[rank] == nullptr) return;
    states[rank]->control().leave(why);
    states[rank]->quiesce();
  };
  const auto run = [&](std::size_t rank) {
    // outlives the handlers, which say more about the error than its destructor would
    std::optional<World> world;
    try {
      states[rank] = std::make_shared<WorldState>(connect(static_cast<int>(rank)), options);
      world = WorldState::make_world(states[rank]);
      body(*world);
      states[rank]->control().leave({});
      states[rank]->quiesce();
    } catch (const std::exception& error) {
      const Error* ours = dynamic_cast<const Error*>(&error);
      const bool passed_on = ours != nullptr && ours->code() == Errc::rank_lost && states[rank] != nullptr;
      fail(rank, passed_on ? states[rank]->control().trouble : control::Trouble{error.what()});
    } catch (...) {
      fail(rank, {"it threw something that is no std::exception"});
    }
  };
  fibers != nullptr ? fibers->run(run) : run_side_by_side(size, run);
  if (first_error >= 0) std::rethrow_exception(errors[static_cast<std::size_t>(first_error.load())]);
}

}  // namespace tca::core
