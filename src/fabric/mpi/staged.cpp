#include "fabric/mpi/staged.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/counter.hpp"
#include "fabric/mpi/rma.hpp"

namespace tca::mpi {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// While steps follow one another, the next one may begin at any moment. After a pause a step may be noticed
// a little late.
constexpr std::chrono::microseconds attentive = 2ms, nap = 20us;

constexpr auto between_looks = 1ms;  // at what is still owed, when a world ends

}  // namespace

std::unique_lock<std::mutex> ProxyThread::hold() {
  // Relaxed: it only keeps the thread from taking the mutex again at once.
  wanted_.fetch_add(1, std::memory_order_relaxed);
  std::unique_lock lock(mutex_);
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  return lock;
}

void ProxyThread::run(const std::stop_token& stop) {
  InMpi::leave_uncounted();
  try {
    stager_.bind_thread();
    Clock::time_point idle_since = Clock::now();
    while (!stop.stop_requested()) {
      if (carry()) {
        idle_since = Clock::now();
      } else if (Clock::now() - idle_since > attentive) {
        std::this_thread::sleep_for(nap);
      }
      do {
        if (cores_ == base::Cores::crowded) std::this_thread::yield();
      } while (wanted_.load(std::memory_order_relaxed) > 0);
    }
  } catch (...) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_release);  // pairs with the acquire in `check`
  }
}

bool ProxyThread::carry() {
  const std::lock_guard lock(mutex_);
  runner_.progress_while_waiting();
  bool busy = false;
  for (StagedProgram* program : programs_) busy |= program->carry();
  return busy;
}

bool ProxyThread::is_owed(const control::Control& control) {
  const auto held = hold();
  for (const StagedProgram* program : programs_)
    for (const int rank : program->creditors())
      if (!control.is_gone(rank)) return true;
  return false;
}

void ProxyThread::finish(const control::Control& control, std::chrono::milliseconds limit) {
  const auto until = Clock::now() + limit;
  while (thread_.is_running() && !failed_.load(std::memory_order_acquire) && Clock::now() < until &&
         is_owed(control))
    std::this_thread::sleep_for(between_looks);
  stop();
}

StagedProgram::StagedProgram(ProxyThread& proxy, Runner& runner, std::vector<fabric::StagedMessage> messages,
                             std::unique_ptr<fabric::Stage> stage, Operations operations)
    : proxy_(proxy), messages_(std::move(messages)), stage_(std::move(stage)) {
  if (is_empty()) return;
  const auto held = proxy_.hold();
  program_.emplace(runner, std::move(operations), nullptr, stage_.get());
  proxy_.programs_.push_back(this);
}

StagedProgram::~StagedProgram() {
  end();
  if (!is_own_process()) return;
  const auto held = proxy_.hold();
  program_.reset();
}

bool StagedProgram::end() {
  if (is_empty() || !is_own_process()) return true;
  const auto held = proxy_.hold();
  std::erase(proxy_.programs_, this);
  return program_->end();
}

// Earlier steps are complete, whether the host or a stream began them: their kernels have said so.
void StagedProgram::start() {
  if (is_empty()) return;
  step_ = stage_->begun() + 1;
  scattering_ = false;
  stage_->gather();
}

bool StagedProgram::test() {
  if (is_empty()) return true;
  if (!scattering_) {
    if (!stage_->all_sent(step_)) {
      proxy_.check();
      return false;
    }
    scattering_ = true;
    stage_->scatter();
  }
  return stage_->scattered();
}

std::vector<int> StagedProgram::missing() const {
  std::vector<int> senders, targets;
  if (is_empty() || stage_->all_sent(step_)) return senders;
  for (std::size_t m = 0; m < messages_.size(); ++m) {
    if (messages_[m].outgoing)
      targets.push_back(messages_[m].partner);
    else if (!stage_->all_received(m, step_))
      senders.push_back(messages_[m].partner);
  }
  return senders.empty() ? targets : senders;
}

bool StagedProgram::has_begun() const { return base::reached(stage_->begun(), program_->step() + 1); }

bool StagedProgram::carry() {
  if (!carrying_) {
    if (!has_begun()) return false;
    carrying_ = true;
    program_->start();
  }
  if (program_->test()) {
    carrying_ = false;
    stage_->mark_sent(program_->step());
  }
  return true;
}

std::vector<int> StagedProgram::creditors() const {
  std::vector<int> ranks;
  if (!carrying_ && !has_begun()) return ranks;
  for (const fabric::StagedMessage& message : messages_)
    if (message.outgoing && (!carrying_ || program_->has_unsent())) ranks.push_back(message.partner);
  return ranks;
}

}  // namespace tca::mpi
