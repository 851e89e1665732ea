#include "fabric/sim/scheduler.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/text/ranks.hpp"

namespace tca::sim {

Scheduler::Scheduler(des::Simulator& simulator, int ranks, base::Fibers* fibers)
    : simulator_(simulator), seats_(static_cast<std::size_t>(ranks)), here_(ranks), fibers_(fibers) {
  for (int rank = 1; rank < ranks; ++rank) ready_.push_back(rank);
}

void Scheduler::join(int rank) {
  await_turn(rank);
  seat(rank).state = State::running;
}

void Scheduler::leave(int rank, const std::optional<control::Trouble>& trouble) {
  Seat& own = seat(rank);
  if (own.state != State::running) return;
  own.state = trouble ? State::failed : State::left;
  if (trouble) own.trouble = *trouble;
  --here_;
  hand_over(next());
}

std::optional<control::Loss> Scheduler::lost(int rank) const {
  const Seat& theirs = seat(rank);
  if (theirs.state == State::left) return control::Loss{};
  if (theirs.state == State::failed) return control::Loss{control::Loss::How::failed, theirs.trouble};
  return std::nullopt;
}

void Scheduler::wait(int rank, const control::Wait& wait) {
  Seat& own = seat(rank);
  own.state = State::waiting;
  own.wait = &wait;
  const std::optional<int> successor = next();
  if (successor != rank) {
    hand_over(successor);
    await_turn(rank);
  }
  own.state = State::running;
  own.wait = nullptr;
  if (own.error) throw *std::exchange(own.error, std::nullopt);
}

void Scheduler::wait_until(int rank, des::Time time) {
  class Pause final : public control::Wait {
    std::string what() const override { return "a pause"; }
    ErrorFields about() const override { return {}; }
  };
  wait_until(rank, time, Pause());
}

void Scheduler::wait_until(int rank, des::Time time, const control::Wait& what) {
  simulator_.spawn(sleep(rank, time), {"a pause of rank", rank});
  wait(rank, what);
}

des::Task Scheduler::sleep(int rank, des::Time until) {
  co_await simulator_.sleep_until(until);
  wake(rank);
}

void Scheduler::wake(int rank) {
  if (seat(rank).state != State::waiting) return;
  seat(rank).state = State::ready;
  ready_.push_back(rank);
}

des::Time Scheduler::clock(int rank) const { return std::max(seat(rank).clock, simulator_.now()); }

void Scheduler::be_at_least(int rank, des::Time time) { seat(rank).clock = std::max(seat(rank).clock, time); }

// Returns the rank that runs next; nothing once all have gone.
std::optional<int> Scheduler::next() {
  while (ready_.empty()) {
    if (here_ == 0) return std::nullopt;
    if (!step()) judge();
  }
  const int rank = ready_.front();
  ready_.pop_front();
  return rank;
}

// Processes one event. An error in the model ends every waiting rank.
bool Scheduler::step() {
  try {
    return simulator_.step();
  } catch (const Error& error) {
    for (int rank = 0; rank < ranks(); ++rank)
      if (seat(rank).state == State::waiting) condemn(rank, error);
    return true;
  }
}

// Called when nothing is left to happen. Ranks that wait for a rank that has gone are told so; this may be
// why others wait. If there are none, all wait for each other: every waiting rank is told of the deadlock.
void Scheduler::judge() {
  std::vector<int> waiting;
  bool found = false;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (seat(rank).state != State::waiting) continue;
    waiting.push_back(rank);
    ErrorFields about = seat(rank).wait->about();
    about.rank = rank;
    for (const int partner : about.missing) {
      const std::optional<control::Loss> loss = lost(partner);
      if (!loss) continue;
      about.missing = {partner};
      condemn(rank, Error(Errc::rank_lost,
                          fmt::format("rank {} {} while rank {} was waiting for it in {}", partner,
                                      loss->in_words(), rank, seat(rank).wait->what()),
                          about));
      found = true;
      break;
    }
  }
  if (found) return;
  const std::string text = describe_deadlock();
  for (const int rank : waiting) {
    ErrorFields about = seat(rank).wait->about();
    about.rank = rank;
    condemn(rank, Error(Errc::timed_out, text, about));
  }
}

void Scheduler::stop(int rank, Error error) {
  if (seat(rank).state == State::waiting) condemn(rank, std::move(error));
}

void Scheduler::condemn(int rank, Error error) {
  seat(rank).error = std::move(error);
  wake(rank);
}

std::string Scheduler::describe_deadlock() const {
  constexpr int shown = 8;
  std::string waits;
  int count = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (seat(rank).state != State::waiting) continue;
    if (++count > shown) continue;
    waits += fmt::format("\n  rank {} waits in {} for rank {}", rank, seat(rank).wait->what(),
                         base::list_ranks(seat(rank).wait->about().missing));
  }
  if (count > shown) waits += fmt::format("\n  and {} more", count - shown);
  return fmt::format(
      "deadlock: after {:.3f} us of virtual time nothing is under way any more, and no rank can go on; has "
      "every partner started this step?{}{}",
      des::to_us(simulator_.now()), waits, remark_());
}

void Scheduler::hand_over(std::optional<int> to) {
  if (!to) return;
  if (fibers_ != nullptr) return fibers_->name_next(static_cast<std::size_t>(*to));
  const std::lock_guard lock(mutex_);
  turn_ = *to;
  seat(*to).turn.notify_one();
}

void Scheduler::await_turn(int rank) {
  if (fibers_ != nullptr) return fibers_->yield();
  std::unique_lock lock(mutex_);
  seat(rank).turn.wait(lock, [&] { return turn_ == rank; });
}

}  // namespace tca::sim
