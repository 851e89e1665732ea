#include "fabric/mpi/timed_program.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "base/system/leak_intentionally.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view stamping = "sending when a step began";

std::int64_t now() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

TimedProgram::TimedProgram(std::unique_ptr<MpiProgram> program, const fabric::ChainSpec& share, MPI_Comm comm,
                           int tag, const std::vector<int>& hosts)
    : program_(std::move(program)), arrivals_(*share.arrivals), comm_(comm), tag_(tag) {
  std::map<int, Partner> by_rank;
  for (const fabric::Put& put : share.incoming) by_rank[put.from].sends = true;
  for (const fabric::Put& put : share.outgoing) by_rank[put.to].gets = true;
  for (auto& [rank, partner] : by_rank) {
    const int me = partner.sends ? share.incoming.front().to : share.outgoing.front().from;
    partner.rank = rank;
    partner.shares_clock = hosts[static_cast<std::size_t>(rank)] == hosts[static_cast<std::size_t>(me)];
    partners_.push_back(partner);
  }
  stamps_ = std::make_unique<Stamps>();
  stamps_->in.resize(partners_.size());
  stamps_->out.resize(partners_.size());
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Request receive, send;
    const int rank = partners_[i].rank;
    constexpr int bytes = sizeof(fabric::Stamp);
    if (partners_[i].sends)
      check(MPI_Recv_init(&stamps_->in[i], bytes, MPI_BYTE, rank, tag_, comm_, receive.out()), stamping);
    if (partners_[i].gets)
      check(MPI_Send_init(&stamps_->out[i], bytes, MPI_BYTE, rank, tag_, comm_, send.out()), stamping);
    requests_.add(std::move(receive));
    requests_.add(std::move(send));
  }
  through_.resize(requests_.size());
  open_.resize(requests_.size());
}

// Memory that MPI may still move is left to the process.
TimedProgram::~TimedProgram() {
  if (!end() && has_open_requests()) base::leak_intentionally(std::move(stamps_));
}

bool TimedProgram::has_open_requests() const { return std::ranges::count(open_, 1) > 0; }

void TimedProgram::start() {
  const InMpi inside;
  started_before_ = std::exchange(started_, now());
  ++step_;
  looks_ = 0;
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Partner& partner = partners_[i];
    partner.stamp_is_due = partner.message_is_due = partner.sends;
    const std::int64_t seen = std::exchange(partner.stamp_seen, 0);
    stamps_->out[i] = {started_, seen != 0 ? started_ - seen : 0};
    for (const std::size_t request : {2 * i, 2 * i + 1}) {
      if (requests_[request] == MPI_REQUEST_NULL) continue;
      check(MPI_Start(&requests_[request]), stamping);
      open_[request] = 1;
    }
  }
  program_->start();
}

bool TimedProgram::test() {
  if (looks_++ == 0) looked_ = now();
  const bool is_over = program_->test();
  look_for_stamps();
  look_for_messages();
  return is_over && !has_open_requests();
}

void TimedProgram::look_for_stamps() {
  if (!has_open_requests()) return;
  const InMpi inside;
  int count = 0;
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, through_.data(),
                     MPI_STATUSES_IGNORE),
        stamping);
  for (int i = 0; i < count; ++i) {  // `count` may be MPI_UNDEFINED, which is below 0
    const auto request = static_cast<std::size_t>(through_[static_cast<std::size_t>(i)]);
    open_[request] = 0;
    if (request % 2 != 0) continue;
    Partner& partner = partners_[request / 2];
    partner.stamp_is_due = false;
    partner.stamp_seen = now();
    partner.stamp_was_looked_for = looks_ > 1;
  }
}

// A message may overtake its stamp, in which case nothing is reported until both have arrived.
void TimedProgram::look_for_messages() {
  for (std::size_t i = 0; i < partners_.size(); ++i) {
    Partner& partner = partners_[i];
    if (partner.message_is_due && program_->has_received_from(partner.rank)) {
      partner.message_is_due = false;
      partner.seen = now();
      partner.there_at_once = looks_ == 1;
    }
    const bool is_told = partner.seen == 0;
    if (is_told || partner.message_is_due || partner.stamp_is_due) continue;
    tell_of(partner, stamps_->in[i]);
    partner.seen = 0;
  }
}

void TimedProgram::tell_of(Partner& partner, const fabric::Stamp& stamp) {
  if (partner.stamp_was_looked_for) partner.clock.see(stamp, partner.stamp_seen, started_before_);
  arrivals_.add({.from = partner.rank,
                 .step = step_,
                 .sender_started = partner.shares_clock
                                       ? stamp.started
                                       : partner.clock.here(stamp.started).value_or(partner.stamp_seen),
                 .started = started_,
                 .looked = looked_,
                 .seen = partner.seen,
                 .there_at_once = partner.there_at_once});
}

std::vector<int> TimedProgram::missing() const {
  std::vector<int> ranks = program_->missing();
  for (const Partner& partner : partners_)
    if (partner.stamp_is_due && std::ranges::find(ranks, partner.rank) == ranks.end())
      ranks.push_back(partner.rank);
  return ranks;
}

// Only receives are cancelled, once.
bool TimedProgram::end() {
  if (!is_up()) return true;
  const InMpi inside;
  const bool is_first = !std::exchange(ended_, true);
  for (std::size_t i = 0; is_first && i < requests_.size(); i += 2)
    if (open_[i]) MPI_Cancel(&requests_[i]);
  int count = 0;
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, through_.data(),
               MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) open_[static_cast<std::size_t>(through_[static_cast<std::size_t>(i)])] = 0;
  const bool is_through = program_->end();
  return is_through && !has_open_requests();
}

}  // namespace tca::mpi
