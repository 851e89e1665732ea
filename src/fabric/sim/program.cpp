#include "fabric/sim/program.hpp"

#include <algorithm>
#include <set>

namespace tca::sim {

namespace {

// Returns whether the receiver's start tells the sender, or its own MPI library, that it is ready.
bool is_announced(const Flow& flow, bool guarded) {
  if (flow.is_signal() || flow.is_inside()) return false;
  return guarded || (flow.protocol().has_receives() && !flow.is_rerouted());
}

// The messages that travel over one protocol at once.
struct Together {
  Protocol* protocol;
  std::vector<Message*> messages;
};

void join(std::vector<Together>& all, Flow& flow, std::uint64_t step) {
  const auto found = std::ranges::find(all, &flow.protocol(), &Together::protocol);
  if (found == all.end()) {
    all.push_back({&flow.protocol(), {&flow.message(step)}});
  } else {
    found->messages.push_back(&flow.message(step));
  }
}

// Returns the time until the program notices an arrival. A copy by a kernel of the rank needs no look at a
// flag, since the program itself started it and waited for it.
des::Time notice(const Flow& flow) { return flow.is_copied() ? 0 : flow.protocol().notice(); }

}  // namespace

des::Time known_at(const Flow& flow) { return flow.landed_at() + notice(flow); }

SimProgram::SimProgram(std::shared_ptr<Model> model, control::Control& control, bool guarded,
                       std::uint32_t number, Flows outgoing, Flows incoming)
    : model_(std::move(model)),
      control_(control),
      rank_(control.rank()),
      shared_(std::make_shared<Shared>(
          Shared{*model_, guarded, number, std::move(outgoing), std::move(incoming)})) {
  for (const auto& flow : shared_->outgoing) flow->sender = this;
  for (const auto& flow : shared_->incoming) flow->receiver = this;
}

SimProgram::~SimProgram() {
  for (const auto& flow : shared_->outgoing) flow->sender = nullptr;
  for (const auto& flow : shared_->incoming) flow->receiver = nullptr;
  for (const Flows* flows : {&shared_->outgoing, &shared_->incoming})
    for (const auto& flow : *flows) flow->close();
}

// Returns the time in which the processor announces itself to its senders or its library, one store after
// another.
des::Time SimProgram::announce_costs(const Shared& shared) {
  des::Time time = 0;
  for (const auto& flow : shared.incoming)
    if (is_announced(*flow, shared.guarded)) time += flow->protocol().post();
  return time;
}

void SimProgram::start() {
  ++step_;
  running_ = true;
  check_ways(true);
  Scheduler& scheduler = model_->scheduler();
  const des::Time begin = scheduler.clock(rank_);
  for (const auto& flow : shared_->outgoing) flow->depart(begin);
  scheduler.spend(rank_, announce_costs(*shared_));
  if (!shared_->outgoing.empty()) scheduler.spend(rank_, shared_->outgoing.front()->protocol().post());
  std::vector<std::size_t> ways;
  for (const auto& flow : shared_->outgoing) ways.push_back(flow->way());
  model_->simulator().spawn(run(shared_, step_, begin, std::move(ways)), {"the start of rank", rank_});
}

// Throws if this rank knows that it would wait in vain. A step that has already arrived by then is over.
void SimProgram::check_ways(bool starts) const {
  if (model_->faults() == nullptr) return;
  const auto check = [&](const Flow& flow, std::uint64_t done) {
    if (!starts && done >= step_) return;
    const std::optional<Error> trouble = flow.trouble(rank_, step_);
    if (!trouble) return;
    control_.trouble = {trouble->what()};
    throw Error(*trouble);
  };
  for (const auto& flow : shared_->incoming) check(*flow, flow->landed());
  for (const auto& flow : shared_->outgoing) check(*flow, flow->left());
}

des::Task SimProgram::run(std::shared_ptr<Shared> shared, std::uint64_t step, des::Time begin,
                          std::vector<std::size_t> ways) {
  des::Simulator& simulator = shared->model.simulator();
  co_await simulator.sleep_until(begin);
  for (const auto& flow : shared->incoming) {
    if (!is_announced(*flow, shared->guarded)) continue;
    co_await simulator.sleep(flow->protocol().post());
    if (flow->needs_permission())
      flow->permit();
    else if (flow->is_counted())
      simulator.spawn(receive_departed(flow, step), {"a counted message for rank", flow->to()});
    else
      flow->protocol().receive(flow->message(step));
  }
  std::vector<Together> together;
  std::uint32_t turn = shared->number;
  for (std::size_t i = 0; i < shared->outgoing.size(); ++i) {
    const std::shared_ptr<Flow>& flow = shared->outgoing[i];
    if (!flow->is_sent_by(ways[i])) continue;
    if (flow->is_signal() || flow->is_copied()) {
      flow->move(step);
    } else if (shared->guarded && flow->needs_permission()) {
      simulator.spawn(send_permitted(shared, flow, step, turn++, ways[i]), {"puts of rank", flow->from()});
    } else {
      flow->expect_on_next_way(step);
      join(together, *flow, step);
    }
  }
  for (const Together& group : together) {
    des::Task sent = group.protocol->send(group.messages, turn);
    co_await sent;
  }
}

// The model of a receive needs its size at once. A real one waits for the sender before it does anything
// that depends on it, so nothing is later because of that.
des::Task SimProgram::receive_departed(std::shared_ptr<Flow> flow, std::uint64_t step) {
  co_await flow->departed(step);
  flow->protocol().receive(flow->message(step));
}

des::Task SimProgram::send_permitted(std::shared_ptr<Shared> shared, std::shared_ptr<Flow> flow,
                                     std::uint64_t step, std::uint32_t turn, std::size_t way) {
  co_await flow->permitted(step);
  co_await shared->model.simulator().sleep(flow->protocol().notice());
  if (!flow->is_sent_by(way)) co_return;
  flow->expect_on_next_way(step);
  std::vector<Message*> messages(1, &flow->message(step));
  des::Task sent = flow->protocol().send(std::move(messages), turn);
  co_await sent;
}

bool SimProgram::finished() const {
  return std::ranges::all_of(shared_->outgoing, [&](const auto& flow) { return flow->left() >= step_; }) &&
         std::ranges::all_of(shared_->incoming, [&](const auto& flow) { return flow->landed() >= step_; });
}

bool SimProgram::test() {
  if (running_ && finished()) {
    running_ = false;
    for (const auto& flow : shared_->incoming) flow->take_lengths();
    des::Time known = 0;
    for (const auto& flow : shared_->outgoing) known = std::max(known, flow->left_at() + notice(*flow));
    for (const auto& flow : shared_->incoming) known = std::max(known, known_at(*flow));
    model_->scheduler().be_at_least(rank_, known);
  }
  if (running_) check_ways(false);
  return !running_;
}

std::optional<fabric::Guard> SimProgram::guard() const {
  const auto guards = [&](const auto& flow) { return shared_->guarded && flow->needs_permission(); };
  std::set<int> awaited, told;
  for (const auto& flow : shared_->outgoing)
    if (guards(flow)) awaited.insert(flow->to());
  for (const auto& flow : shared_->incoming)
    if (guards(flow)) told.insert(flow->from());
  return fabric::Guard{{awaited.begin(), awaited.end()},
                       {told.begin(), told.end()},
                       "MPI delivers only into receives that have been started"};
}

std::vector<int> SimProgram::missing() const {
  std::vector<int> ranks;
  for (const auto& flow : shared_->outgoing)
    if (flow->left() < step_) ranks.push_back(flow->to());
  for (const auto& flow : shared_->incoming)
    if (flow->landed() < step_) ranks.push_back(flow->from());
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void SimProgram::look_again() { model_->scheduler().wake(rank_); }

void SimProgram::on_progress() {
  if (running_ && finished()) model_->scheduler().wake(rank_);
}

}  // namespace tca::sim
