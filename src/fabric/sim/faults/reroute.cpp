// What a flow does when its path fails: it reports this to both of its ends or, if its chain is rerouted,
// takes another path and sends again what has not landed.
//
// The end that learns of it first has the receiver tell the sender, on the new path, how many steps have
// landed and how many it permits. Nothing is sent before that has arrived, and whatever still arrives on
// the old path is dropped. So a step lands exactly once and whole, whatever was lost of it
// (verify/models/reroute.pml).
#include <algorithm>

#include "base/fail.hpp"
#include "fabric/sim/flow.hpp"
#include "fabric/sim/program.hpp"

namespace tca::sim {

namespace {

constexpr std::uint32_t handover_bytes = 24;  // which faults there are, and the receiver's two counts

}  // namespace

// A loss is reported for what the ends wait for, on the path in use now.
void Flow::watch() {
  faults_->watch(ways_.back().permissions, *this);
  faults_->watch(ways_.back().arrived, *this);
}

void Flow::lose(std::size_t fault) {
  if (!broken_) broken_ = fault;
  review();
}

// If an end sees that no path leads there any more, the flow is broken even if nothing has been lost yet.
void Flow::review() {
  if (is_copied()) return;
  for (const int end : {from_, to_}) {
    const net::View view = faults_->view(end);
    if (broken_ || protocol().leads(from_, to_, view)) continue;
    for (std::size_t fault = 0; !broken_; ++fault)
      if ((view >> fault & 1) != 0) broken_ = fault;
  }
  if (!broken_) return;
  if (reroute_) take_up();
  for (SimProgram* const end : {sender, receiver})
    if (end != nullptr) end->look_again();
}

// Begins to take another path, and does so again if the ends have learned more since.
void Flow::take_up() {
  const net::View view = faults_->view(from_) | faults_->view(to_);
  if (view == seen_) return;
  for (const int end : {to_, from_}) {
    Protocol* const next = next_protocol(end);
    if (faults_->view(end) == 0 || next == nullptr) continue;
    seen_ = view;
    telling_ = true;
    simulator_.spawn(hand_over(shared_from_this(), *next, ++attempts_, end, faults_->view(end)),
                     {"the new way of rank, to rank", from_, to_}, des::AgentKind::service);
    return;
  }
}

// Returns the protocol of a path that, as far as a rank knows, leads from one end to the other and back:
// the present one if it can reroute; null if there is none.
Protocol* Flow::next_protocol(int rank) const {
  const net::View view = faults_->view(rank);
  const auto leads = [&](const Protocol& protocol) {
    return (is_inside() || protocol.reaches(from_, to_)) && protocol.leads(from_, to_, view) &&
           protocol.leads(to_, from_, view) && (!is_counted() || protocol.carries_counted());
  };
  if (leads(protocol())) return &protocol();
  for (const auto& other : protocols_)
    if (other->competes() && leads(*other)) return other.get();
  return nullptr;
}

// Each learns from the other what has failed, since its own hub may not have heard of it yet.
des::Task Flow::hand_over(std::shared_ptr<Flow> flow, Protocol& next, std::uint64_t attempt, int begins,
                          net::View view) {
  const int from = flow->from_, to = flow->to_;
  des::Counter come(flow->simulator_, {"the new way of rank, to rank", from, to});
  if (begins == from) {
    next.store(from, to, handover_bytes, come);
    co_await come.reached(1);
    flow->faults_->teach(to, view);
  }
  next.store(to, from, handover_bytes, come);
  co_await come.reached(begins == from ? 2 : 1);
  flow->faults_->teach(from, view);
  if (attempt == flow->attempts_) flow->take(next);
}

void Flow::take(Protocol& next) {
  broken_.reset();
  telling_ = false;
  const Message whole = ways_.back().message;
  const Way& way = ways_.emplace_back(simulator_, next, whole, landed_);
  ways_.back().permissions.add(permits_);
  watch();
  auto flight = flights_.begin();
  for (std::uint64_t step = way.base + 1; step <= departed_; ++step, ++flight) {
    if (is_counted()) add_message(step, flight->lengths);
    if (step > left_)
      simulator_.spawn(await_sent(shared_from_this(), step, this->way()), {"what leaves rank", from_});
    simulator_.spawn(await_arrival(shared_from_this(), step, this->way()), {"what comes to rank", to_});
    simulator_.spawn(repeat(shared_from_this(), step, this->way()), {"what rank sends again", from_});
  }
}

des::Task Flow::repeat(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t way) {
  if (flow->guarded_ && flow->needs_permission()) co_await flow->permitted(step);
  if (!flow->is_sent_by(way)) co_return;
  if (flow->is_signal() || flow->is_copied()) {
    flow->move(step);
    co_return;
  }
  co_await flow->simulator_.sleep(flow->protocol().notice());
  if (!flow->is_sent_by(way)) co_return;
  flow->expect_on_next_way(step);
  std::vector<Message*> messages(1, &flow->message(step));
  des::Task sent = flow->protocol().send(std::move(messages), flow->message(step).tag);
  co_await sent;
}

std::optional<Error> Flow::trouble(int rank, std::uint64_t step) const {
  if (faults_ == nullptr) return std::nullopt;
  const int other = rank == from_ ? to_ : from_;
  ErrorFields about{
      .rank = rank, .chain = chain_, .step = static_cast<std::uint32_t>(step), .missing = {other}};
  const auto sentence = [&](std::string_view what, const std::string& why, std::string_view what_to_do) {
    return fmt::format("rank {}, step {} of chain '{}': {} rank {} {}: {}{}", rank, step, chain_,
                       rank == from_ ? "what it sends to" : "what comes from", other, what, why, what_to_do);
  };
  if (const std::optional<std::size_t> host = faults_->stopped(other, rank)) {
    return Error(Errc::rank_lost, sentence("ends with it", faults_->describe(*host), ""), about);
  }
  if (!broken_) return std::nullopt;
  const net::View view = faults_->view(rank);
  const bool is_known = faults_->knows(rank, *broken_) || !protocol().leads(from_, to_, view);
  if (!is_known) return std::nullopt;
  if (reroute_) {
    if (next_protocol(rank) != nullptr || seen_ == (faults_->view(from_) | faults_->view(to_)))
      return std::nullopt;
    return Error(Errc::path_lost,
                 sentence("is lost, and no other way leads there", faults_->describe(rank, view), ""), about);
  }
  if (!protocol().leads(from_, to_, view)) {
    return Error(
        Errc::path_lost,
        sentence(fmt::format("has no way over {} any more", protocol().name()), faults_->describe(rank, view),
                 "; a chain that is committed now takes another channel if there is one"),
        about);
  }
  return Error(
      Errc::path_lost,
      sentence("is lost", faults_->describe(*broken_),
               "; a chain that is committed now goes round it, and one with the option reroute does so by "
               "itself"),
      about);
}

}  // namespace tca::sim
