#include "fabric/sim/timed_program.hpp"

#include <algorithm>
#include <map>

namespace tca::sim {

void TimedProgram::start() {
  ++step_;
  running_ = true;
  started_ = scheduler_.clock(program_->rank());
  looked_.reset();
  program_->start();
}

bool TimedProgram::test() {
  if (!looked_) looked_ = scheduler_.clock(program_->rank());
  const bool is_over = program_->test();
  if (is_over && running_) {
    running_ = false;
    tell_of_step();
  }
  return is_over;
}

void TimedProgram::tell_of_step() {
  struct Message {
    des::Time begun = 0, known = 0;
  };
  std::map<int, Message> messages;  // by sender, which may use several protocols
  for (const auto& flow : program_->incoming()) {
    Message& message = messages[flow->from()];
    message.begun = flow->begun_at();
    message.known = std::max(message.known, known_at(*flow));
  }
  const auto ns = [](des::Time time) { return time / des::nanosecond; };
  for (const auto& [from, message] : messages)
    arrivals_.add({.from = from,
                   .step = step_,
                   .sender_started = ns(message.begun),
                   .started = ns(started_),
                   .looked = ns(*looked_),
                   .seen = ns(message.known),
                   .there_at_once = message.known <= *looked_});
}

}  // namespace tca::sim
