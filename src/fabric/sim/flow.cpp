#include "fabric/sim/flow.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "fabric/sim/memory.hpp"
#include "fabric/sim/program.hpp"

namespace tca::sim {

namespace {

// Returns the runs of a shape. The loops around them do not matter, since a NIC takes each run by itself.
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

Flow::Flow(des::Simulator& simulator, Protocol& protocol, Immediates& before, std::uint32_t chain,
           std::string_view name, int from, int to, std::span<const fabric::Put* const> puts)
    : simulator_(simulator),
      protocol_(protocol),
      before_(before),
      name_(name),
      permissions_(simulator, {"the permission of rank, to rank", to, from}),
      sent_(simulator, {"what rank sends to rank", from, to}),
      arrived_(simulator, {"what arrives from rank, at rank", from, to}) {
  message_ = {.from = from, .to = to, .sent = &sent_, .arrived = &arrived_, .tag = chain, .chain = name_};
  for (const fabric::Put* put : puts) {
    if (put->shape == nullptr || put->shape->bytes() == 0) continue;
    message_.puts.push_back(rows_of(*put->shape));
    copies_.push_back({tca::sim::address(put->to_memory, to, put->to_offset),
                       tca::sim::address(put->from_memory, from, put->from_offset), put->shape,
                       put->length ? put->length.element_bytes : 0});
    address(copies_.back(), *put->shape, message_);
    if (put->length && !departures_)
      departures_.emplace(simulator, des::Label("the departures of rank, to rank", from, to));
  }
}

Message& Flow::message(std::uint64_t step) {
  if (!is_counted()) return message_;
  return std::ranges::find(messages_, step, &OfStep::step)->message;
}

// Returns how many bytes of each copy a step moves.
std::vector<std::uint64_t> Flow::bytes_of_copies(const Elements& lengths) const {
  std::vector<std::uint64_t> bytes;
  auto length = lengths.begin();
  for (const Copy& copy : copies_)
    bytes.push_back(copy.element_bytes == 0 ? copy.shape->bytes() : copy.element_bytes * *length++);
  return bytes;
}

// Tells a hub in RTL where a part of a copy lies.
void Flow::address(const Copy& copy, const base::Shape& shape, Message& message) const {
  if (protocol_.moves_bytes()) message.bytes_of_puts.push_back({copy.to, copy.from, &shape, closed_});
}

// Makes the message that carries a step of a counted flow, with the lengths in front.
void Flow::make_message(const Elements& lengths) {
  while (!messages_.empty() && messages_.front().step <= std::min(left_, landed_)) messages_.pop_front();
  OfStep& of_step = messages_.emplace_back(OfStep{departed_, message_, lengths, Elements(lengths.size())});
  Message& message = of_step.message;
  message.step = static_cast<std::uint32_t>(departed_);
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
    bytes.resize(message_.bytes());
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
    make_message(lengths);
    departures_->add();
  }
  message_.step = static_cast<std::uint32_t>(departed_);
  std::vector<std::byte> bytes;
  if (!protocol_.moves_bytes()) bytes = gather(lengths);
  flights_.push_back({std::move(bytes), std::move(lengths), before_.sent(), begin});
  simulator_.spawn(await_sent(shared_from_this(), departed_), {"what leaves rank", message_.from});
  simulator_.spawn(await_arrival(shared_from_this(), departed_), {"what comes to rank", message_.to});
}

void Flow::permit() { protocol_.store(message_.to, message_.from, signal_bytes, permissions_); }

void Flow::move(std::uint64_t step) {
  if (is_signal() && !is_inside()) {
    sent_.add();
    protocol_.store(message_.from, message_.to, signal_bytes, arrived_);
  } else {
    simulator_.spawn(protocol_.copy(message(step)), {"a copy within rank", message_.from});
  }
}

des::Task Flow::await_sent(std::shared_ptr<Flow> flow, std::uint64_t step) {
  co_await flow->sent_.reached(step);
  flow->left_ = step;
  flow->left_at_ = flow->simulator_.now();
  if (flow->sender != nullptr) flow->sender->on_progress();
}

des::Task Flow::await_arrival(std::shared_ptr<Flow> flow, std::uint64_t step) {
  co_await flow->arrived_.reached(step);
  const des::Time at = flow->simulator_.now();
  // Within a node a flag takes another way than the data before it, and may be a little faster. A program cannot tell, as
  // its processor takes longer to notice the flag.
  if (flow->protocol_.moves_bytes()) co_await flow->simulator_.sleep(flow->protocol_.notice());
  flow->land(at);
}

void Flow::land(des::Time at) {
  Flight flight = std::move(flights_.front());
  flights_.pop_front();
  ++landed_;
  landed_at_ = at;
  begun_at_ = flight.begin;
  if (!*closed_) before_.land(flight.immediates);
  if (protocol_.moves_bytes()) {
    if (is_counted()) flight.lengths = std::ranges::find(messages_, landed_, &OfStep::step)->come;
  } else if (!*closed_) {
    scatter(flight);
  }
  if (is_counted()) landed_lengths_.push_back(std::move(flight.lengths));
  spare_.push_back(std::move(flight.bytes));
  if (receiver != nullptr) receiver->on_progress();
}

}  // namespace tca::sim
