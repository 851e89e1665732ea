#include "fabric/sim/flow.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "fabric/sim/memory.hpp"
#include "fabric/sim/program.hpp"

namespace tca::sim {

namespace {

// Returns the runs of a shape. The loops around them do not matter, since a NIC takes each run separately.
net::Rows rows_of(const base::Shape& shape) { return {.bytes = shape.run, .count = shape.runs()}; }

constexpr std::uint32_t signal_bytes = 8;

}  // namespace

std::uint64_t Immediates::add(std::shared_ptr<Regions> window, int rank, std::uint64_t offset,
                              std::span<const std::byte> value) {
  flying_.push_back(
      {std::move(window), static_cast<std::size_t>(rank), offset, {value.begin(), value.end()}});
  return sent();
}

void Immediates::land(std::uint64_t count) {
  for (; landed_ < count; ++landed_) {
    const Value& value = flying_.front();
    if (!value.window->gone[value.rank])
      std::memcpy(value.window->parts[value.rank].data() + value.offset, value.bytes.data(),
                  value.bytes.size());
    flying_.pop_front();
  }
}

Flow::Way::Way(des::Simulator& simulator, Protocol& carrier, const Message& whole,
               std::uint64_t landed_before)
    : protocol(&carrier),
      base(landed_before),
      message(whole),
      permissions(simulator, {"the permission of rank, to rank", whole.to, whole.from}),
      sent(simulator, {"what rank sends to rank", whole.from, whole.to}),
      arrived(simulator, {"what arrives from rank, at rank", whole.from, whole.to}) {
  message.sent = &sent;
  message.arrived = &arrived;
}

Flow::Flow(des::Simulator& simulator, std::span<const std::unique_ptr<Protocol>> protocols,
           std::size_t protocol, Immediates& before, std::uint32_t chain, int from, int to,
           std::span<const fabric::Put* const> puts, const FlowTerms& terms, std::shared_ptr<Faults> faults)
    : simulator_(simulator),
      protocols_(protocols),
      before_(before),
      chain_(terms.chain),
      from_(from),
      to_(to),
      faults_(std::move(faults)),
      guarded_(terms.guarded),
      reroute_(terms.reroute) {
  Message message{.from = from, .to = to, .tag = chain, .chain = chain_};
  ways_.emplace_back(simulator, *protocols[protocol], message, 0);
  Message& whole = ways_.back().message;
  for (const fabric::Put* put : puts) {
    if (put->shape == nullptr || put->shape->bytes() == 0) continue;
    whole.puts.push_back(rows_of(*put->shape));
    copies_.push_back({tca::sim::address(put->to_memory, to, put->to_offset),
                       tca::sim::address(put->from_memory, from, put->from_offset), put->shape,
                       put->length ? put->length.element_bytes : 0});
    address(copies_.back(), *put->shape, whole);
    if (put->length && !departures_)
      departures_.emplace(simulator, des::Label("the departures of rank, to rank", from, to));
  }
  if (faults_ == nullptr) return;
  entry_ = faults_->enter(*this);
  watch();
}

Flow::~Flow() {
  if (faults_ == nullptr) return;
  faults_->leave(entry_);
  for (const Way& way : ways_)
    for (const des::Counter* counter : {&way.permissions, &way.arrived}) faults_->forget(*counter);
}

Message& Flow::message(std::uint64_t step) {
  Way& way = ways_.back();
  if (!is_counted()) return way.message;
  return std::ranges::find(way.messages, step, &OfStep::step)->message;
}

// Returns how many bytes of each copy a step moves.
std::vector<std::uint64_t> Flow::bytes_of_copies(const Elements& lengths) const {
  std::vector<std::uint64_t> bytes;
  auto length = lengths.begin();
  for (const Copy& copy : copies_)
    bytes.push_back(copy.element_bytes == 0 ? copy.shape->bytes() : copy.element_bytes * *length++);
  return bytes;
}

// Tells a hub in RTL where a part of a copy is.
void Flow::address(const Copy& copy, const base::Shape& shape, Message& message) const {
  if (protocol().moves_bytes()) message.bytes_of_puts.push_back({copy.to, copy.from, &shape, closed_});
}

// Makes the message that carries a step of a counted flow, with the lengths in front.
void Flow::add_message(std::uint64_t step, const Elements& lengths) {
  Way& way = ways_.back();
  while (!way.messages.empty() && way.messages.front().step <= std::min(left_, landed_))
    way.messages.pop_front();
  OfStep& of_step = way.messages.emplace_back(OfStep{step, way.message, lengths, Elements(lengths.size())});
  Message& message = of_step.message;
  message.step = static_cast<std::uint32_t>(step);
  message.bytes_of_puts.clear();
  of_step.of_lengths.run = lengths.size() * sizeof(std::uint64_t);
  message.puts = {rows_of(of_step.of_lengths)};
  address({std::as_writable_bytes(std::span(of_step.come)).data(),
           std::as_bytes(std::span(of_step.lengths)).data(), nullptr, 0},
          of_step.of_lengths, message);
  const std::vector<std::uint64_t> parts = bytes_of_copies(lengths);
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (parts[i] == 0) continue;
    const base::Shape& part = of_step.parts.emplace_back(base::cut(*copies_[i].shape, parts[i]));
    message.puts.push_back(rows_of(part));
    address(copies_[i], part, message);
  }
}

// Takes the bytes of a step.
std::vector<std::byte> Flow::gather(const Elements& lengths) {
  std::vector<std::byte> bytes;
  if (!spare_.empty()) {
    bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  if (is_counted()) {
    const std::vector<std::uint64_t> parts = bytes_of_copies(lengths);
    bytes.resize(std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}));
    std::byte* dense = bytes.data();
    for (std::size_t i = 0; i < copies_.size(); ++i)
      dense = base::gather_cut(dense, copies_[i].from, *copies_[i].shape, parts[i]);
  } else {
    bytes.resize(ways_.back().message.bytes());
    std::byte* dense = bytes.data();
    for (const Copy& copy : copies_) dense = base::gather(dense, copy.from, *copy.shape);
  }
  return bytes;
}

void Flow::scatter(const Flight& flight) const {
  const std::byte* dense = flight.bytes.data();
  if (is_counted()) {
    const std::vector<std::uint64_t> parts = bytes_of_copies(flight.lengths);
    for (std::size_t i = 0; i < copies_.size(); ++i)
      dense = base::scatter_cut(copies_[i].to, dense, *copies_[i].shape, parts[i]);
  } else {
    for (const Copy& copy : copies_) dense = base::scatter(copy.to, dense, *copy.shape);
  }
}

void Flow::take_lengths() {
  if (!is_counted()) return;
  for (std::size_t i = 0; i < come_lengths.size(); ++i)
    *come_lengths[i].elements = landed_lengths_.front()[i];
  landed_lengths_.pop_front();
}

void Flow::depart(des::Time begin) {
  ++departed_;
  Elements lengths;
  if (is_counted()) {
    for (const fabric::Length& length : sent_lengths) lengths.push_back(*length.elements);
    add_message(departed_, lengths);
    departures_->add();
  }
  ways_.back().message.step = static_cast<std::uint32_t>(departed_);
  std::vector<std::byte> bytes;
  if (!protocol().moves_bytes()) bytes = gather(lengths);
  flights_.push_back({std::move(bytes), std::move(lengths), before_.sent(), begin});
  simulator_.spawn(await_sent(shared_from_this(), departed_, way()), {"what leaves rank", from_});
  simulator_.spawn(await_arrival(shared_from_this(), departed_, way()), {"what comes to rank", to_});
}

void Flow::permit() {
  ++permits_;
  if (!broken_) protocol().store(to_, from_, signal_bytes, ways_.back().permissions);
}

void Flow::move(std::uint64_t step) {
  if (is_signal() && !is_inside()) {
    ways_.back().sent.add();
    protocol().store(from_, to_, signal_bytes, ways_.back().arrived);
  } else {
    simulator_.spawn(protocol().copy(message(step)), {"a copy within rank", from_});
  }
}

des::Task Flow::await_sent(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t number) {
  Way& way = flow->ways_.back();
  co_await way.sent.reached(step - way.base);
  if (number != flow->way()) co_return;
  flow->left_ = step;
  flow->left_at_ = flow->simulator_.now();
  if (flow->sender != nullptr) flow->sender->on_progress();
}

des::Task Flow::await_arrival(std::shared_ptr<Flow> flow, std::uint64_t step, std::size_t number) {
  Way& way = flow->ways_.back();
  co_await way.arrived.reached(step - way.base);
  const des::Time at = flow->simulator_.now();
  // Within a node a flag takes a different path from the data before it, and may be a little faster. A
  // program cannot tell, as its processor takes longer to notice the flag.
  if (way.protocol->moves_bytes()) co_await flow->simulator_.sleep(way.protocol->notice());
  if (number == flow->way() && !flow->telling_) flow->land(at);
}

void Flow::land(des::Time at) {
  Flight flight = std::move(flights_.front());
  flights_.pop_front();
  ++landed_;
  landed_at_ = at;
  begun_at_ = flight.begin;
  if (!*closed_) before_.land(flight.immediates);
  if (protocol().moves_bytes()) {
    if (is_counted()) flight.lengths = std::ranges::find(ways_.back().messages, landed_, &OfStep::step)->come;
  } else if (!*closed_) {
    scatter(flight);
  }
  if (is_counted()) landed_lengths_.push_back(std::move(flight.lengths));
  spare_.push_back(std::move(flight.bytes));
  if (receiver != nullptr) receiver->on_progress();
}

}  // namespace tca::sim
