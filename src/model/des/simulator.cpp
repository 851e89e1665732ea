#include "model/des/simulator.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/fail.hpp"
#include "model/des/heap.hpp"
#include "model/des/large.hpp"
#include "model/des/wheel.hpp"

namespace tca::des {

namespace {

constexpr std::size_t most_handlers = 16;
// How many events ahead each stage of Handler::prepare runs. The stages are far enough apart for memory to
// answer from one to the next.
constexpr std::array<std::size_t, 4> places_ahead{12, 8, 4, 2};
constexpr std::size_t few_pending = 8192;  // the state of so few objects stays in the caches anyway
constexpr std::size_t most_named = 20;     // agents in one message
constexpr std::size_t frame_bytes = 256;   // the part of a coroutine's frame that most of its steps need

std::unique_ptr<Queue> make_queue(const Simulator::Options& options) {
  if (options.queue == QueueKind::heap) return std::make_unique<Heap>();
  return std::make_unique<Wheel>(options.bucket_bits, options.bucket_count_bits);
}

}  // namespace

std::string Label::to_string() const {
  if (index < 0) return text;
  if (part < 0) return fmt::format("{} {}", text, index);
  return fmt::format("{} {}.{}", text, index, part);
}

std::coroutine_handle<> Task::Finish::await_suspend(Handle ended) noexcept {
  promise_type& promise = ended.promise();
  if (promise.parent) {
    promise.simulator->agents_[promise.agent].innermost = promise.parent;
    return promise.parent;
  }
  promise.simulator->ended_ = true;
  return std::noop_coroutine();
}

Simulator::Simulator(const Options& options) : queue_(make_queue(options)) { add(agents_handler_); }

Simulator::~Simulator() {
  for (const Agent& agent : agents_) {
    if (agent.outermost) agent.outermost.destroy();
  }
}

std::uint32_t Simulator::add(Handler& handler) {
  if (handlers_.size() == most_handlers) {
    base::fail(Errc::invalid_argument, "a simulation has room for {} kinds of objects", most_handlers);
  }
  handlers_.push_back(&handler);
  return static_cast<std::uint32_t>(handlers_.size() - 1) << object_bits;
}

void Simulator::spawn(Task program, Label name, AgentKind kind) {
  std::uint32_t number = free_agent_;
  if (number == WaitList::nobody) {
    number = static_cast<std::uint32_t>(agents_.size());
    agents_.emplace_back();
    names_.emplace_back();
  } else {
    free_agent_ = agents_[number].next;
  }
  Agent& agent = agents_[number];
  agent.outermost = agent.innermost = std::exchange(program.handle_, {});
  agent.outermost.promise().simulator = this;
  agent.outermost.promise().agent = number;
  names_[number] = name;
  agent.kind = kind;
  if (kind == AgentKind::worker) ++workers_;
  wake_at(number, now_);
}

void Simulator::sleep_in(Task::Handle task, Time until) {
  const std::uint32_t agent = task.promise().agent;
  agents_[agent].innermost = task;
  wake_at(agent, until);
}

void Simulator::park(Task::Handle task, WaitList& list, Label what, std::uint64_t need) {
  const std::uint32_t number = task.promise().agent;
  agents_[number].innermost = task;
  wait_in(list, number, what, need);
}

void Simulator::wait_in(WaitList& list, std::uint32_t number, Label what, std::uint64_t need) {
  Agent& agent = agents_[number];
  agent.waits_for = what;
  agent.need = need;
  agent.since = now_;
  agent.parked = true;
  agent.next = WaitList::nobody;
  (list.first == WaitList::nobody ? list.first : agents_[list.last].next) = number;
  list.last = number;
}

void Simulator::unpark(std::uint32_t agent) {
  agents_[agent].parked = false;
  wake_at(agent, now_);
}

void Simulator::wake_first(WaitList& list) {
  const std::uint32_t agent = list.first;
  list.first = agents_[agent].next;
  unpark(agent);
}

void Simulator::move_first(WaitList& from, WaitList& to, Label what, std::uint64_t need) {
  const std::uint32_t agent = from.first;
  from.first = agents_[agent].next;
  wait_in(to, agent, what, need);
}

void Simulator::wake_up_to(WaitList& list, std::uint64_t value) {
  WaitList left;
  for (std::uint32_t agent = list.first; agent != WaitList::nobody;) {
    const std::uint32_t next = agents_[agent].next;
    if (agents_[agent].need <= value) {
      unpark(agent);
    } else {
      (left.first == WaitList::nobody ? left.first : agents_[left.last].next) = agent;
      left.last = agent;
      agents_[agent].next = WaitList::nobody;
    }
    agent = next;
  }
  list = left;
}

void Simulator::resume(std::uint32_t agent) {
  agents_[agent].innermost.resume();
  if (ended_) end(agent);
}

// Stage 0 prefetches the agent. Stage 1 prefetches the beginning of its innermost coroutine's frame, and
// stages 2 and 3 those of the tasks that await it.
void Simulator::prepare_agent(std::uint32_t number, unsigned stage) const {
  const Agent& agent = agents_[number];
  if (stage == 0) return prefetch(&agent, sizeof(Agent));
  Task::Handle task = agent.innermost;
  for (unsigned i = 1; i < stage && task; ++i) task = task.promise().parent;
  if (task) prefetch(task.address(), frame_bytes);
}

void Simulator::end(std::uint32_t number) {
  ended_ = false;
  Agent& agent = agents_[number];
  const Task::Handle program = std::exchange(agent.outermost, {});
  const std::exception_ptr error = program.promise().error;
  program.destroy();
  if (agent.kind == AgentKind::worker) --workers_;
  agents_[number].next = free_agent_;
  free_agent_ = number;
  if (error) std::rethrow_exception(error);
}

void Simulator::process(const Event& event) {
  constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;
  now_ = event.time;
  hash_ = (hash_ ^ static_cast<std::uint64_t>(event.time)) * odd;
  hash_ = std::rotl(hash_ ^ rank_of(event), 29) * odd;
  ++events_;
  handlers_[event.object >> object_bits]->handle(event);
}

// Inserts an event that is due before some of those already taken out of the queue.
void Simulator::insert(const Event& event) {
  if (soon_count_ == soon_.size()) queue_->push(soon(--soon_count_));
  std::size_t place = soon_count_++;
  for (; place > 0 && before(event, soon(place - 1)); --place) soon(place) = soon(place - 1);
  soon(place) = event;
  prepare(place, 0);
}

void Simulator::look_ahead() {
  for (Event event; soon_count_ <= places_ahead.front() && queue_->pop(never, event);)
    soon(soon_count_++) = event;
  for (unsigned stage = 0; stage < places_ahead.size(); ++stage)
    if (places_ahead[stage] < soon_count_) prepare(places_ahead[stage], stage);
}

bool Simulator::next(Time until, Event& event) {
  if (queue_->size() > few_pending) look_ahead();
  if (soon_count_ == 0) return queue_->pop(until, event);
  if (soon(0).time > until) return false;
  event = soon(0);
  soon_first_ = (soon_first_ + 1) % soon_.size();
  --soon_count_;
  return true;
}

bool Simulator::run_until(Time until) {
  for (Event event; next(until, event);) process(event);
  if (until != never) now_ = std::max(now_, until);
  return pending() > 0;
}

bool Simulator::step() {
  Event event;
  if (!next(never, event)) return false;
  process(event);
  return true;
}

void Simulator::run() {
  run_until(never);
  if (workers_ > 0) fail_deadlocked();
}

std::vector<Waiting> Simulator::waiting() const {
  std::vector<Waiting> all;
  for (std::size_t i = 0; i < agents_.size(); ++i) {
    const Agent& agent = agents_[i];
    if (agent.outermost && agent.parked && agent.kind == AgentKind::worker) {
      all.push_back({names_[i].to_string(), agent.waits_for.to_string(), agent.since});
    }
  }
  return all;
}

void Simulator::fail_deadlocked() const {
  const std::vector<Waiting> all = waiting();
  std::string text = fmt::format(
      "deadlock after {:.3f} us of simulated time: nothing is left to happen, but {} still {}:", to_us(now_),
      all.size(), all.size() == 1 ? "waits" : "wait");
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) {
    text +=
        fmt::format("\n  {} waits for {} since {:.3f} us", all[i].agent, all[i].what, to_us(all[i].since));
  }
  if (all.size() > most_named) text += fmt::format("\n  and {} more", all.size() - most_named);
  throw Error(Errc::timed_out, text);
}

}  // namespace tca::des
