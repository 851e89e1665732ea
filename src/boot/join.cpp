#include "boot/join.hpp"

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "base/system/limits.hpp"
#include "control/shm/segment.hpp"

namespace tca::boot {

namespace {

using base::fail;

shm::Expectation expectation(const LaunchInfo& launch) {
  return {launch.call, launch.rank_variable.empty() ? "key" : "launch", why_ranks_are_expected(launch)};
}

shm::Mapping await_rendezvous(const LaunchInfo& launch, std::chrono::milliseconds time_limit) {
  const shm::Place place{launch.path, launch.named};
  shm::Mapping mapping;
  const auto look = [&](bool is_last) {
    mapping = shm::find_rendezvous(place, launch.rank, is_last);
    return mapping.data() != nullptr;
  };
  const base::Awaited found = base::await([&] { return look(false); }, time_limit);
  if (!found && !look(true)) {
    fail(Errc::timed_out, {.rank = launch.rank, .missing = {0}},
         "rank {} waited {:.1f} s in start-up ({}) for rank 0 to set up the world in {}; was rank 0 started, "
         "and does it call {}?{}",
         launch.rank, found.seconds(), launch.call, launch.path, launch.call, why_ranks_are_expected(launch));
  }
  return mapping;
}

std::unique_ptr<shm::ShmControl> join_others(const LaunchInfo& launch, std::chrono::milliseconds time_limit) {
  shm::Mapping rendezvous = await_rendezvous(launch, time_limit);
  try {
    return std::make_unique<shm::ShmControl>(std::move(rendezvous), launch.rank, launch.size, time_limit,
                                             expectation(launch));
  } catch (...) {
    if (launch.named) shm::await_removal(launch.path);
    throw;
  }
}

}  // namespace

std::unique_ptr<shm::ShmControl> join(const LaunchInfo& launch, std::chrono::milliseconds time_limit,
                                      std::string_view fabric) {
  if (launch.spans_hosts()) {
    const std::string where = launch.hosts > 1
                                  ? fmt::format("the {} ranks on {} hosts", launch.size, launch.hosts)
                                  : fmt::format("{} of {} ranks on this host", launch.here, launch.size);
    fail(Errc::invalid_argument,
         "{} started {}; the {} fabric serves one host, so start all of them on one, or choose {}+mpi "
         "(option fabric or OPENTCA_FABRIC)",
         launch.launcher, where, fabric, fabric);
  }
  if (launch.size > shm::max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks is larger than the shm fabric can hold ({})",
         launch.size, shm::max_ranks);
  }
  if (launch.rank != 0) return join_others(launch, time_limit);
  // The destructor removes a name, as soon as all ranks have mapped the segment or if they do not arrive.
  shm::OwnSegment segment({launch.path, launch.named}, launch.size, time_limit);
  return std::make_unique<shm::ShmControl>(segment.take_mapping(), 0, launch.size, time_limit,
                                           expectation(launch));
}

shm::Mapping make_thread_rendezvous(int ranks) {
  if (ranks < 1 || ranks > shm::max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks: 1 to {} are possible in one process", ranks,
         shm::max_ranks);
  }
  shm::Token token;
  shm::Mapping mapping =
      shm::Space::of_threads()->allocate(shm::Rendezvous::bytes(ranks), shm::Backing::committed, token);
  if (mapping.data() == nullptr) {
    fail(Errc::out_of_memory, "there is no memory for what {} ranks meet in: {}", ranks,
         base::limit_met(token.error, token.bytes));
  }
  shm::Rendezvous(mapping.data()).format(ranks);
  return mapping;
}

}  // namespace tca::boot
