#include "fabric/mpi/program.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/system/leak_intentionally.hpp"
#include "fabric/mpi/rma.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view starting = "starting a step", testing = "looking at a step";

}  // namespace

std::size_t Packing::pack() {
  std::byte* next = dense.get();
  for (const fabric::Length& length : lengths) {
    std::memcpy(next, length.elements, sizeof *length.elements);
    next += sizeof *length.elements;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& [address, shape] = pieces[i];
    next = lengths.empty() ? base::gather(next, address, *shape)
                           : base::gather_cut(next, address, *shape, lengths[i].bytes());
  }
  return static_cast<std::size_t>(next - dense.get());
}

void Packing::unpack() const {
  const std::byte* next = dense.get();
  for (const fabric::Length& length : lengths) {
    std::memcpy(length.elements, next, sizeof *length.elements);
    next += sizeof *length.elements;
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const auto& [address, shape] = pieces[i];
    auto* const to = const_cast<std::byte*>(address);
    next = lengths.empty() ? base::scatter(to, next, *shape)
                           : base::scatter_cut(to, next, *shape, lengths[i].bytes());
  }
}

MpiProgram::MpiProgram(Runner& runner, Operations operations, std::unique_ptr<RmaPart> rma,
                       fabric::Stage* stage)
    : runner_(runner), rma_(std::move(rma)), stage_(stage) {
  append(receives_, std::move(operations.receives));
  append(sends_, std::move(operations.sends));
  append(confirming_, std::move(operations.confirming));
  for (int odd : {0, 1}) append(confirmations_[odd], std::move(operations.confirmations[odd]));
  open_.resize(requests_.size());
  through_.resize(requests_.size());
  moves_ = rma_ != nullptr;
  for (const Operation& operation : operations_) {
    invitations_of_step_ += operation.invites && operation.receives;
    moves_ |= operation.is_long;
  }
  runner_.under_way_.reserve(++runner_.programs_);
}

void MpiProgram::append(Group& group, std::vector<Operation> operations) {
  const auto is_short = [](const Operation& operation) { return operation.short_send.has_value(); };
  if (stage_ == nullptr) std::stable_partition(operations.begin(), operations.end(), is_short);
  group.short_sends = static_cast<int>(std::count_if(operations.begin(), operations.end(), is_short));
  group.first = static_cast<int>(requests_.size());
  group.count = static_cast<int>(operations.size());
  for (Operation& operation : operations) {
    requests_.add(std::move(operation.request));
    operations_.push_back(std::move(operation));
  }
}

// Memory that MPI may still move is left to the process.
MpiProgram::~MpiProgram() {
  --runner_.programs_;
  if (end()) return;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    if (!may_move(i)) continue;
    base::leak_intentionally(std::move(operations_[i].packing));
    if (stage_ != nullptr) stage_->keep_memory();
  }
}

void MpiProgram::cancel() { runner_.remove(*this); }

// Only receives are cancelled. One that has been matched continues, as do all sends.
bool MpiProgram::end() {
  if (!is_up()) return true;
  const InMpi inside;
  if (!std::exchange(ended_, true)) {
    runner_.remove(*this);
    if (running_) count_step(-1);
    running_ = false;
    for (std::size_t i = 0; i < requests_.size(); ++i)
      if (open_[i] && operations_[i].receives) MPI_Cancel(&requests_[i]);
  }
  int count = 0;
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, through_.data(),
               MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) open_[static_cast<std::size_t>(through_[static_cast<std::size_t>(i)])] = 0;
  bool all = rma_ == nullptr || rma_->is_freed();
  for (std::size_t i = 0; i < requests_.size(); ++i) all &= !may_move(i);
  return all;
}

// Confirmations do not count, since they have no bytes.
bool MpiProgram::may_move(std::size_t index) const {
  return open_[index] && static_cast<int>(index) < confirming_.first;
}

void MpiProgram::count_step(int by) {
  runner_.running_ += by;
  if (moves_) runner_.moving_ += by;
}

void MpiProgram::start() {
  ++step_;
  if (is_empty()) return;  // another fabric carries all of this rank's part
  const InMpi inside;
  running_ = true;
  count_step(1);
  if (runner_.trace != nullptr) began_us_ = base::Trace::now_us();
  if (rma_ != nullptr) {
    rma_->post();  // before the invitations, which are among the receives
    puts_wait_ = rma_->is_origin();
    invitations_ = invitations_of_step_;
    if (puts_wait_) runner_.add(*this);
  }
  if (stage_ != nullptr)
    start_in_order(receives_);
  else
    start(receives_);
  if (is_confirmed(step_)) {
    start(confirmations_of(step_));
    start(confirming_);
  }
  sends_wait_ = !runner_.immediates.is_quiescent();
  if (sends_wait_)
    runner_.add(*this);
  else
    start_sends();
}

void MpiProgram::start(Group& group) {
  if (group.count == 0) return;
  const int persistent = group.first + group.short_sends, end = group.first + group.count;
  for (int i = group.first; i < persistent; ++i) send_short(static_cast<std::size_t>(i));
  if (persistent < end)
    check(MPI_Startall(end - persistent, &requests_[static_cast<std::size_t>(persistent)]), starting);
  group.open = group.count;
  std::fill_n(open_.begin() + group.first, group.count, 1);
}

void MpiProgram::send_short(std::size_t index) {
  const Operation& operation = operations_[index];
  const ShortSend& send = *operation.short_send;
  check(MPI_Isend(send.address, send.bytes, MPI_BYTE, operation.partner, send.tag, runner_.comm,
                  &requests_[index]),
        starting);
}

// MPI_Startall may start requests in any order, and chunks with one tag would be matched in that order.
void MpiProgram::start_in_order(Group& group) {
  group.open = group.count;
  for (int i = group.first; i < group.first + group.count; ++i) start_one(i);
}

void MpiProgram::start_one(int index) {
  const auto i = static_cast<std::size_t>(index);
  if (operations_[i].short_send)
    send_short(i);
  else
    check(MPI_Start(&requests_[i]), starting);
  open_[i] = 1;
}

void MpiProgram::start_sends() {
  if (stage_ != nullptr) {
    sends_.open = sends_.count;
    next_send_ = sends_.first;
    return start_gathered();
  }
  for (int i = sends_.first; i < sends_.first + sends_.count; ++i) {
    Operation& send = operations_[static_cast<std::size_t>(i)];
    if (send.packing == nullptr) continue;
    const std::size_t bytes = send.packing->pack();
    if (send.short_send) send.short_send->bytes = static_cast<int>(bytes);
  }
  start(sends_);
}

void MpiProgram::start_gathered() {
  for (; next_send_ < sends_.first + sends_.count; ++next_send_) {
    const Operation& send = operations_[static_cast<std::size_t>(next_send_)];
    if (!stage_->gathered(send.message, send.chunk, step_)) return;
    start_one(next_send_);
  }
}

bool MpiProgram::test() {
  if (!running_) return true;
  const InMpi inside;
  advance();
  return !running_;
}

bool MpiProgram::yields() const { return running_ && runner_.yields; }

void MpiProgram::advance() {
  if (sends_wait_ && runner_.immediates.is_quiescent()) {
    sends_wait_ = false;
    start_sends();
  } else if (stage_ != nullptr && !sends_wait_) {
    start_gathered();
  }
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, through_.data(),
                     MPI_STATUSES_IGNORE),
        testing);
  for (int i = 0; i < count; ++i)
    take(through_[static_cast<std::size_t>(i)]);  // `count` may be MPI_UNDEFINED, which is below 0
  if (rma_ != nullptr) advance_rma();
  if (!sends_wait_ && !puts_wait_) runner_.remove(*this);
  runner_.looked_ = true;
  running_ = sends_wait_ || puts_wait_ || (rma_ != nullptr && !rma_->arrived()) || receives_.open > 0 ||
             sends_.open > 0 || confirming_.open > 0 || lacks_confirmation();
  if (!running_) count_step(-1);
}

// One-sided puts must not overtake an earlier immediate put.
void MpiProgram::advance_rma() {
  if (!puts_wait_ || invitations_ > 0 || sends_wait_) return;
  puts_wait_ = false;
  rma_->put();
}

MpiProgram::Group& MpiProgram::group_of(int index) {
  if (index < sends_.first) return receives_;
  if (index < confirming_.first) return sends_;
  if (index < confirmations_[0].first) return confirming_;
  return confirmations_[index >= confirmations_[1].first];
}

void MpiProgram::take(int index) {
  const auto i = static_cast<std::size_t>(index);
  --group_of(index).open;
  open_[i] = 0;
  const Operation& operation = operations_[i];
  invitations_ -= operation.invites && operation.receives;
  if (stage_ != nullptr && index < sends_.first) {
    stage_->mark_received(operation.message, operation.chunk, step_);
  } else if (operation.receives && operation.packing != nullptr) {
    operation.packing->unpack();
  }
  if (runner_.trace != nullptr && operation.traced && ends_message(i)) {
    runner_.trace->span(fmt::format("puts {} rank {}", operation.receives ? "from" : "to", operation.partner),
                        fmt::format("step {}", step_), began_us_, base::Trace::now_us());
  }
}

// Returns whether an operation is the last of its message, which has several chunks if it belongs to a
// stage.
bool MpiProgram::ends_message(std::size_t index) const {
  if (stage_ == nullptr) return true;
  for (int i = 0; i < confirming_.first; ++i) {
    const auto other = static_cast<std::size_t>(i);
    const bool is_due = open_[other] || i >= next_send_;
    if (is_due && operations_[other].message == operations_[index].message) return false;
  }
  return true;
}

std::vector<int> MpiProgram::missing() const {
  std::vector<int> ranks;
  const auto add = [&](int rank) {
    if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
  };
  if (!running_) return ranks;
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    const bool in_this_step = static_cast<int>(i) < confirmations_[0].first;
    const Group& due = confirmations_[(step_ / confirmed_every + 1) % 2];
    const int offset = static_cast<int>(i) - due.first;
    const bool is_due = is_confirmed(step_) && offset >= 0 && offset < due.count;
    if (open_[i] && (in_this_step || is_due)) add(operations_[i].partner);
  }
  if (rma_ != nullptr)
    for (const int rank : rma_->missing()) add(rank);
  if (sends_wait_)
    for (const int rank : runner_.immediates.outstanding()) add(rank);
  return ranks;
}

bool MpiProgram::has_received_from(int rank) const {
  for (int i = receives_.first; i < receives_.first + receives_.count; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const Operation& operation = operations_[index];
    if (open_[index] && operation.receives && operation.partner == rank) return false;
  }
  if (rma_ == nullptr) return true;
  const std::vector<int> origins = rma_->missing();
  return std::find(origins.begin(), origins.end(), rank) == origins.end();
}

void Runner::progress_while_waiting() {
  const bool just_looked = std::exchange(looked_, false);
  const bool can_wait = under_way_.empty() && (just_looked || running_ == 0);
  if (!can_wait || ++spared_ % calls_between_looks == 0) progress();
}

void Runner::progress() {
  const InMpi inside;
  immediates.store_arrived();
  for (std::size_t i = under_way_.size(); i-- > 0;) under_way_[i]->advance();
}

void Runner::add(MpiProgram& program) {
  if (std::find(under_way_.begin(), under_way_.end(), &program) == under_way_.end())
    under_way_.push_back(&program);
}

void Runner::remove(MpiProgram& program) { std::erase(under_way_, &program); }

}  // namespace tca::mpi
