#include "fabric/sim/program.hpp"

#include <algorithm>
#include <set>

namespace tca::sim {

namespace {

// Returns whether the receiver's start tells the sender, or its own MPI library, that it is ready.
bool is_announced(const Part& part, bool guarded) {
  if (part.is_signal() || part.is_inside()) return false;
  return guarded || part.channel().has_receives();
}

// The loads that go over one channel at once.
struct Together {
  Channel* channel;
  std::vector<Load*> loads;
};

void join(std::vector<Together>& all, Part& part) {
  const auto found = std::ranges::find(all, &part.channel(), &Together::channel);
  if (found == all.end()) {
    all.push_back({&part.channel(), {&part.load()}});
  } else {
    found->loads.push_back(&part.load());
  }
}

// Returns the time until the program notices an arrival. A copy within the rank needs no look at a flag,
// since the program itself started it and waited for it.
des::Time notice(const Part& part) { return part.is_inside() ? 0 : part.channel().notice(); }

}  // namespace

SimProgram::SimProgram(std::shared_ptr<Model> model, int rank, bool guarded, std::uint32_t number,
                       Parts outgoing, Parts incoming)
    : model_(std::move(model)),
      rank_(rank),
      crew_(
          std::make_shared<Crew>(Crew{*model_, guarded, number, std::move(outgoing), std::move(incoming)})) {
  for (const auto& part : crew_->outgoing) part->sender = this;
  for (const auto& part : crew_->incoming) part->receiver = this;
}

SimProgram::~SimProgram() {
  for (const auto& part : crew_->outgoing) part->sender = nullptr;
  for (const auto& part : crew_->incoming) part->receiver = nullptr;
  for (const Parts* parts : {&crew_->outgoing, &crew_->incoming})
    for (const auto& part : *parts) part->close();
}

// Returns the time in which the processor announces itself to its senders or its library, one store after the
// other.
des::Time SimProgram::announce_costs(const Crew& crew) {
  des::Time time = 0;
  for (const auto& part : crew.incoming)
    if (is_announced(*part, crew.guarded)) time += part->channel().post();
  return time;
}

void SimProgram::start() {
  ++step_;
  running_ = true;
  Turns& turns = model_->turns();
  const des::Time begin = turns.clock(rank_);
  for (const auto& part : crew_->outgoing) part->depart();
  turns.spend(rank_, announce_costs(*crew_));
  if (!crew_->outgoing.empty()) turns.spend(rank_, crew_->outgoing.front()->channel().post());
  model_->simulator().spawn(run(crew_, step_, begin), {"the start of rank", rank_});
}

des::Task SimProgram::run(std::shared_ptr<Crew> crew, std::uint64_t step, des::Time begin) {
  des::Simulator& simulator = crew->model.simulator();
  co_await simulator.sleep_until(begin);
  for (const auto& part : crew->incoming) {
    if (!is_announced(*part, crew->guarded)) continue;
    co_await simulator.sleep(part->channel().post());
    part->channel().has_receives() ? part->channel().receive(part->load()) : part->permit();
  }
  std::vector<Together> together;
  std::uint32_t turn = crew->number;
  for (const auto& part : crew->outgoing) {
    if (part->is_signal() || part->is_inside()) {
      part->move();
    } else if (crew->guarded && part->needs_permission()) {
      simulator.spawn(send_permitted(crew, part, step, turn++), {"puts of rank", part->from()});
    } else {
      join(together, *part);
    }
  }
  for (const Together& group : together) {
    des::Task sent = group.channel->send(group.loads, turn);
    co_await sent;
  }
}

des::Task SimProgram::send_permitted(std::shared_ptr<Crew> crew, std::shared_ptr<Part> part,
                                     std::uint64_t step, std::uint32_t turn) {
  co_await part->permitted(step);
  co_await crew->model.simulator().sleep(part->channel().notice());
  std::vector<Load*> loads(1, &part->load());
  des::Task sent = part->channel().send(std::move(loads), turn);
  co_await sent;
}

bool SimProgram::finished() const {
  return std::ranges::all_of(crew_->outgoing, [&](const auto& part) { return part->left() >= step_; }) &&
         std::ranges::all_of(crew_->incoming, [&](const auto& part) { return part->landed() >= step_; });
}

bool SimProgram::test() {
  if (running_ && finished()) {
    running_ = false;
    des::Time known = 0;
    for (const auto& part : crew_->outgoing) known = std::max(known, part->left_at() + notice(*part));
    for (const auto& part : crew_->incoming) known = std::max(known, part->landed_at() + notice(*part));
    model_->turns().be_at_least(rank_, known);
  }
  return !running_;
}

std::optional<fabric::Guard> SimProgram::guard() const {
  const auto guards = [&](const auto& part) { return crew_->guarded && part->needs_permission(); };
  std::set<int> awaited, told;
  for (const auto& part : crew_->outgoing)
    if (guards(part)) awaited.insert(part->to());
  for (const auto& part : crew_->incoming)
    if (guards(part)) told.insert(part->from());
  return fabric::Guard{{awaited.begin(), awaited.end()},
                       {told.begin(), told.end()},
                       "MPI delivers only into receives that have been started"};
}

std::vector<int> SimProgram::missing() const {
  std::vector<int> ranks;
  for (const auto& part : crew_->outgoing)
    if (part->left() < step_) ranks.push_back(part->to());
  for (const auto& part : crew_->incoming)
    if (part->landed() < step_) ranks.push_back(part->from());
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

void SimProgram::look() {
  if (running_ && finished()) model_->turns().wake(rank_);
}

}  // namespace tca::sim
