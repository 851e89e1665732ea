#include "fabric/shm/timed_program.hpp"

#include <algorithm>
#include <chrono>

namespace tca::shm {

namespace {

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TimedProgram::~TimedProgram() {
  const std::span<const Link> links = program_->links();
  for (std::size_t i = 0; i < links.size(); ++i)
    if (ends_[i].in != nullptr) inbox_.release(links[i].partner, ends_[i].in, sizeof(Stamps));
}

void TimedProgram::start() {
  started_ = now();
  ++step_;
  looks_ = 0;
  to_come_.clear();
  for (const Ends& ends : ends_) {
    if (ends.out != nullptr) ends.out->started[step_ % 2].store(started_, std::memory_order_relaxed);
    to_come_.push_back(ends.in != nullptr);
  }
  program_->start();
}

bool TimedProgram::test() {
  if (looks_++ == 0) looked_ = now();
  const bool is_over = program_->test();
  tell_of_step();
  return is_over;
}

void TimedProgram::tell_of_step() {
  const std::span<const Link> links = program_->links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (!to_come_[i] || !links[i].received) continue;
    to_come_[i] = false;
    arrivals_.add({.from = links[i].partner,
                   .step = step_,
                   .sender_started = ends_[i].in->started[step_ % 2].load(std::memory_order_relaxed),
                   .started = started_,
                   .looked = looked_,
                   .seen = now(),
                   .there_at_once = looks_ == 1});
  }
}

}  // namespace tca::shm
