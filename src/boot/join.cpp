#include "boot/join.hpp"

#include "base/fail.hpp"
#include "base/poll.hpp"
#include "base/system/limits.hpp"
#include "control/shm/segment.hpp"

namespace tca::boot {

namespace {

using base::fail;

shm::Mapping await_board(const Seating& seating, std::chrono::milliseconds time_limit) {
  base::Poll poll(base::Cores::crowded);
  for (;;) {
    const bool last_look = poll.waited() > time_limit;
    shm::Mapping mapping = shm::look_for_board({seating.path, seating.named}, seating.rank, last_look);
    if (mapping.data() != nullptr) return mapping;
    poll.pause();
    if (last_look) {
      fail(Errc::timed_out,
           "rank {} waited {:.1f} s in start-up (World::init) for rank 0 to set up the world in {}; was rank "
           "0 started, and does it call World::init?{}",
           seating.rank, std::chrono::duration<double>(poll.waited()).count(), seating.path,
           why_ranks_are_expected(seating));
    }
  }
}

std::unique_ptr<shm::ShmControl> join_others(const Seating& seating, std::chrono::milliseconds time_limit) {
  shm::Mapping board = await_board(seating, time_limit);
  try {
    return std::make_unique<shm::ShmControl>(std::move(board), seating.rank, seating.size, time_limit,
                                             why_ranks_are_expected(seating));
  } catch (...) {
    if (seating.named) shm::await_removal(seating.path);
    throw;
  }
}

}  // namespace

std::unique_ptr<shm::ShmControl> join(const Seating& seating, std::chrono::milliseconds time_limit) {
  if (seating.spans_hosts()) {
    const std::string where = seating.hosts > 1
                                  ? fmt::format("the {} ranks on {} hosts", seating.size, seating.hosts)
                                  : fmt::format("{} of {} ranks on this host", seating.here, seating.size);
    fail(Errc::invalid_argument,
         "{} started {}; the shm fabric serves one host, so start all of them on one, or choose shm+mpi "
         "(WorldOptions::fabric or OPENTCA_FABRIC)",
         seating.launcher, where);
  }
  if (seating.size > shm::max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks is larger than the shm fabric can hold ({})",
         seating.size, shm::max_ranks);
  }
  if (seating.rank != 0) return join_others(seating, time_limit);
  // The destructor removes a name, as soon as all ranks have mapped the segment or when they do not come.
  shm::OwnSegment segment({seating.path, seating.named}, seating.size, time_limit);
  return std::make_unique<shm::ShmControl>(segment.take_mapping(), 0, seating.size, time_limit,
                                           why_ranks_are_expected(seating));
}

shm::Mapping make_thread_board(int ranks) {
  if (ranks < 1 || ranks > shm::max_ranks) {
    fail(Errc::invalid_argument, "a world of {} ranks: 1 to {} are possible in one process", ranks,
         shm::max_ranks);
  }
  shm::Token token;
  shm::Mapping mapping =
      shm::Space::of_threads()->allocate(shm::Board::bytes(ranks), shm::Backing::committed, token);
  if (mapping.data() == nullptr) {
    fail(Errc::out_of_memory, "there is no memory for what {} ranks meet in: {}", ranks,
         base::limit_met(token.error, token.bytes));
  }
  shm::Board(mapping.data()).format(ranks);
  return mapping;
}

}  // namespace tca::boot
