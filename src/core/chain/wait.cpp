#include "core/chain/wait.hpp"

#include "base/fail.hpp"
#include "base/poll.hpp"

namespace tca::core {

// What the rank sent before it was lost may still have arrived.
void check_missing(WorldState& world, const control::Wait& wait, const std::function<bool()>& is_done) {
  const ErrorFields about = wait.about();
  for (const int rank : about.missing) {
    const std::optional<control::Loss> loss = world.control().lost(rank);
    if (!loss) continue;
    if (is_done()) return;
    world.control().fail_lost(rank, *loss, fmt::format("waiting for it in {}", wait.what()), about);
  }
}

bool wait_until(WorldState& world, const control::Wait& wait, Patience patience, std::string_view what_to_do,
                const std::function<bool()>& is_done) {
  if (is_done()) return true;
  control::Control& control = world.control();
  base::Poll poll(control.cores());
  bool done = false;
  const auto look = [&] { return done = done || is_done(); };
  const auto check = [&] {
    check_missing(world, wait, look);
    const std::chrono::nanoseconds waited = patience.already + poll.waited();
    if (waited >= control.time_limit && !look())
      control.fail_late(waited, wait.what(), wait.about(), what_to_do);
  };

  const bool limited = patience.at_most < no_limit;
  // Reading the clock takes a good part of a signal's time.
  const std::chrono::duration<double> begin = limited ? control.now() : std::chrono::duration<double>(0);
  const auto is_over = [&] { return limited && patience.at_most <= control.now() - begin; };
  const auto end = [&] {
    // One of many short waits is never a long one itself.
    if (patience.already > std::chrono::nanoseconds(0) && !look()) check();
    return look();
  };
  while (control.wait_turn(wait, patience.at_most)) {
    if (look()) return true;
    if (is_over()) return end();
  }
  // Chains of this rank may owe something to the very rank that it is waiting for. An occasional call is
  // enough while what it waits for is probably under way.
  constexpr unsigned polls_between_progress = 16;
  for (unsigned polls = 1; !look(); ++polls) {
    const bool waited_long = poll.pause({.moves = world.needs_polling()});
    if (poll.has_yielded() || polls % polls_between_progress == 0) {
      world.progress_while_waiting();
      if (is_over()) return end();
    }
    if (waited_long) check();
  }
  return true;
}

}  // namespace tca::core
