// The steps of a chain that the host starts and waits for.
#include <algorithm>

#include "core/chain/chain_state.hpp"

namespace tca::core {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

}  // namespace

template <class Call>
void ChainState::traced(const char* what, const Call& call) {
  const auto now_us = [&] { return world_->control().now().count() * 1e6; };
  const double begin = now_us();
  call();
  world_->trace()->span(fmt::format("{} {}", what, name_), fmt::format("step {}", step_), begin, now_us());
}

void ChainState::start() {
  require_startable("start");
  if (world_->trace() == nullptr) {
    begin_step();
  } else {
    traced("start", [this] { begin_step(); });
  }
}

void ChainState::begin_step() {
  ++step_;
  running_ = true;
  on_stream_ = awaited_ = false;
  if (counted_ != nullptr) take_lengths();
  if (world_->deferred_steps().must_defer()) {
    world_->deferred_steps().defer(*this);
    deferred_ = true;
    return;
  }
  start_programs();
}

void ChainState::begin_deferred() {
  deferred_ = false;
  world_->deferred_steps().remove(*this);
  start_programs();
}

// If a path has failed, nothing of the step is sent over any.
void ChainState::start_programs() {
  cut_ = find_lost() != nullptr;
  if (cut_) return;
  for (const auto& program : programs_) program->start();
  for (Detour& detour : detours()) detour.start();
}

// The fabrics read these lengths while the step is under way, when the program may already set the next
// ones.
void ChainState::take_lengths() {
  for (const auto& put : counted_->puts)
    put->length = put->by_kernels ? fabric::Length::by_kernels : put->next;
}

bool ChainState::advance() {
  if (!running_) return true;
  if (deferred_) {
    if (world_->deferred_steps().must_defer()) return false;
    begin_deferred();
  }
  bool finished = !cut_;
  if (!cut_)
    for (const auto& program : programs_) finished &= program->test();
  for (Detour& detour : detours()) {
    detour.drive();
    finished &= detour.finished();
  }
  running_ = !finished;
  if (!finished) fail_on_lost_path();
  return finished;
}

bool ChainState::test() {
  require_waitable("test");
  return look();
}

bool ChainState::look() {
  if (advance()) return true;
  world_->progress_while_waiting();
  if (test_loop_.go_round(step_)) check_partners(test_loop_.so_far());
  return false;
}

void ChainState::wait() {
  require_waitable("wait");
  if (world_->trace() == nullptr) {
    finish_step();
  } else {
    traced("wait", [this] { finish_step(); });
  }
  awaited_ = true;
}

void ChainState::finish_step() {
  if (!advance()) wait_patiently(forever);
}

bool ChainState::wait_for(std::chrono::nanoseconds duration) {
  require_waitable("wait_for");
  bool finished = false;
  const auto wait = [&] { finished = duration > 0ns ? advance() || wait_patiently(duration) : look(); };
  if (world_->trace() == nullptr) {
    wait();
  } else {
    traced("wait", wait);
  }
  awaited_ |= finished;
  return finished;
}

// Tells the control plane what a step under way is waiting for.
class ChainState::StepWait final : public control::Wait {
 public:
  explicit StepWait(const ChainState& chain) : chain_(chain) {}
  std::string what() const override {
    return fmt::format("step {} of chain '{}'", chain_.step_, chain_.name_);
  }
  ErrorFields about() const override {
    ErrorFields about = chain_.about();
    about.missing = chain_.missing();
    return about;
  }

 private:
  const ChainState& chain_;
};

// Returns whether the step has finished, false after `at_most`.
bool ChainState::wait_patiently(std::chrono::nanoseconds at_most) {
  control::Control& control = world_->control();
  const bool limited = at_most < forever;
  // Without a limit nobody needs it, and reading the clock takes a good part of a signal's time.
  const std::chrono::duration<double> begin = limited ? control.now() : std::chrono::duration<double>(0);
  const auto waited = [&] { return control.now() - begin; };
  const auto is_over = [&] { return limited && waited() >= at_most; };
  const std::chrono::nanoseconds before = limited ? test_loop_.so_far(step_) : 0ns;
  for (const StepWait wait(*this); control.wait_turn(wait, at_most);) {
    if (advance()) return true;
    if (is_over()) return end_wait(waited(), at_most);
  }
  // Other chains of this rank may owe something to the very rank that this wait is for. An occasional call
  // is enough while the signal is probably under way.
  constexpr unsigned polls_between_progress = 16;
  base::Poll poll(control.cores());
  for (unsigned polls = 1; !advance(); ++polls) {
    base::Poll::Look look{.moves = world_->needs_polling()};
    for (const auto& program : programs_) look.yielded |= program->yields();
    const bool waited_long = poll.pause(look);
    if (poll.has_yielded() || polls % polls_between_progress == 0) {
      world_->progress_while_waiting();
      if (is_over()) return end_wait(waited(), at_most);
    }
    if (waited_long) check_partners(before + poll.waited());
  }
  return true;
}

// One of many short waits is never a long one itself, so it counts as one look of a loop.
bool ChainState::end_wait(std::chrono::duration<double> waited, std::chrono::nanoseconds at_most) {
  // Time in which the process was stopped hardly counts.
  const auto counted =
      std::min<std::chrono::duration<double>>(waited, std::chrono::duration<double>(at_most) + 1ms);
  if (test_loop_.add(step_, std::chrono::duration_cast<std::chrono::nanoseconds>(counted)))
    check_partners(test_loop_.so_far());
  return advance();
}

}  // namespace tca::core
