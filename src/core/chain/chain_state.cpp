#include "core/chain/chain_state.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/fail.hpp"
#include "core/chain/commit.hpp"
#include "core/chain/explain.hpp"
#include "core/chain/message_times.hpp"
#include "fabric/accelerator.hpp"
#include "route/choose.hpp"

namespace tca::core {

using base::fail;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

}  // namespace

ChainState::ChainState(std::shared_ptr<WorldState> world, std::string name, ChainOptions options)
    : world_(std::move(world)),
      name_(world_->intern(std::move(name))),
      route_(world_->intern(route::effective_override(options.channel))),
      time_limit_(checked_limit(options.time_limit.value_or(world_->control().time_limit),
                                fmt::format("chain '{}'", name_))),
      guarded_(options.guarded),
      timed_(options.timed || world_->times_chains()),
      partners_only_(options.partners_only),
      reroute_(options.reroute || world_->reroutes_chains()),
      draft_(std::make_unique<Draft>()) {}

ChainState::~ChainState() {
  if (programs_.empty()) return;
  world_->reroutes().remove(*this);
  // Arrivals may outlive the chain, but not the memory in which a GPU leaves their lengths.
  for (const auto& end :
       counted_ != nullptr ? counted_->arrivals : std::vector<std::shared_ptr<CountedEnd>>()) {
    if (end->landed != nullptr) end->length = landed_length(*end);
    end->landed = nullptr;
  }
  if (deferred_) world_->deferred_steps().remove(*this);
  if (running_)
    for (const auto& program : programs_) program->cancel();
  for (Detour& detour : detours()) detour.retire(programs_);
  std::vector<std::shared_ptr<Memories>> memories;
  for (const auto& window : windows_) memories.push_back(window->memories());
  RetiredChain retired(std::move(programs_), std::move(memories));
  circle_->reclaimer().retire(id_, std::move(retired));
}

Timing ChainState::timing() const {
  if (times_ == nullptr) return {.chain = name_};
  for (const auto& program : programs_) program->tell_of_arrivals();
  return times_->timing();
}

void ChainState::clear_timing() {
  if (times_ == nullptr) return;
  for (const auto& program : programs_) program->tell_of_arrivals();
  times_->clear();
}

void ChainState::require_uncommitted(const char* call) const {
  if (committed_)
    fail(Errc::invalid_argument, about(), "{} on chain '{}' after its commit; make a new chain", call, name_);
}

void ChainState::check_rank(const char* call, int rank) const {
  require_uncommitted(call);
  if (rank < 0 || rank >= world_->size()) {
    fail(Errc::invalid_argument, about(), "{} of chain '{}': there is no rank {} in a world of {}", call,
         name_, rank, world_->size());
  }
}

void ChainState::add(const Descriptor& descriptor, std::shared_ptr<WindowState> source) {
  draft_->descriptors.push_back(descriptor);
  windows_.push_back(std::move(source));
}

void ChainState::signal(int rank) {
  check_rank("signal", rank);
  Descriptor descriptor;
  descriptor.to = rank;
  draft_->descriptors.push_back(descriptor);
}

void ChainState::expect(int rank) {
  check_rank("expect", rank);
  draft_->expected.push_back(rank);
}

CountedEnds& ChainState::counted() {
  if (counted_ == nullptr) counted_ = std::make_unique<CountedEnds>();
  return *counted_;
}

std::shared_ptr<CountedEnd> ChainState::add_counted(const Descriptor& descriptor,
                                                    std::shared_ptr<WindowState> source) {
  auto end = std::make_shared<CountedEnd>();
  if (descriptor.shape != nullptr) {
    const std::size_t element_bytes = source->element_bytes();
    end->capacity = descriptor.shape->bytes() / element_bytes;
    end->unit = std::max<std::uint64_t>(1, base::unit_bytes(*descriptor.shape) / element_bytes);
  }
  end->chain = name_;
  end->partner = descriptor.to;
  end->put = static_cast<std::uint32_t>(draft_->descriptors.size());
  counted().puts.push_back(end);
  add(descriptor, std::move(source));
  return end;
}

std::shared_ptr<CountedEnd> ChainState::expect_counted(int rank) {
  check_rank("expect_counted", rank);
  auto end = std::make_shared<CountedEnd>();
  end->chain = name_;
  end->partner = rank;
  counted().arrivals.push_back(end);
  draft_->expected.push_back(rank);
  return end;
}

ProducedEnds& ChainState::produced() {
  if (produced_ == nullptr) produced_ = std::make_unique<ProducedEnds>();
  return *produced_;
}

std::shared_ptr<ProducedEnd> ChainState::produced_end(const char* call, int rank, std::int64_t elements,
                                                      std::size_t element_bytes) const {
  check_rank(call, rank);
  constexpr std::int64_t most_bytes = std::int64_t{1} << 31;  // so that 32 bits can number the packets
  const bool is_signal = element_bytes == 0;
  if (!is_signal && (elements < 1 || elements >= most_bytes / static_cast<std::int64_t>(element_bytes))) {
    fail(Errc::invalid_argument, about(),
         "{} of chain '{}' with rank {}: {} elements of {} bytes; there is at least one, and all together "
         "have "
         "less than 2 GiB",
         call, name_, rank, elements, element_bytes);
  }
  auto end = std::make_shared<ProducedEnd>();
  end->chain = name_;
  end->partner = rank;
  end->elements = static_cast<std::uint32_t>(elements);
  end->element_bytes = static_cast<std::uint32_t>(element_bytes);
  return end;
}

std::shared_ptr<ProducedEnd> ChainState::add_produced(int rank, std::int64_t elements,
                                                      std::size_t element_bytes) {
  auto end = produced_end("put_produced", rank, elements, element_bytes);
  Descriptor put;
  put.to = rank;
  put.produced = true;
  put.elements = end->elements;
  put.element_bytes = end->element_bytes;
  draft_->descriptors.push_back(put);
  produced().puts.push_back(end);
  return end;
}

std::shared_ptr<ProducedEnd> ChainState::expect_produced(int rank, std::int64_t elements,
                                                         std::size_t element_bytes) {
  auto end = produced_end("expect_produced", rank, elements, element_bytes);
  produced().arrivals.push_back(end);
  draft_->expected.push_back(rank);
  return end;
}

// The fabrics read these lengths as long as the step is under way, while the program may set the next ones.
void ChainState::take_lengths() {
  for (const auto& put : counted_->puts)
    put->length = put->by_kernels ? fabric::Length::by_kernels : put->next;
}

void ChainState::commit() {
  require_uncommitted("commit");
  try {
    Commit(*this).run();
  } catch (const Error& error) {
    throw error.with(about());
  }
  record_ = record_of(*draft_);
  draft_.reset();
  committed_ = true;
}

void ChainState::fail_uncommitted(const char* call) const {
  fail(Errc::invalid_argument, about(), "{} of chain '{}' before its commit", call, name_);
}

void ChainState::fail_running(const char* call) const {
  fail(Errc::invalid_argument, about(), "{} of chain '{}' while its step {} is under way; wait for it first",
       call, name_, step_);
}

void ChainState::fail_produced(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}' by the host, which has produced puts: nobody but a kernel can make what they send; "
       "start the chain there (device_produced() and tca/produced.cuh)",
       call, name_);
}

// A host has nothing to wait for in a step on a stream, and a return at once would look like an arrival.
void ChainState::fail_on_stream(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}', whose step {} was ordered on a stream: order the wait on that stream as well "
       "(wait(stream)), and synchronise with it where the host needs what has arrived",
       call, name_, step_);
}

void ChainState::fail_not_started(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}' without a start: {}; call start first (steps are checked: OPENTCA_CHECK or "
       "WorldOptions::check_steps)",
       call, name_,
       step_ == 0 ? "no step of it was started yet"
                  : fmt::format("its step {} was waited for, and step {} not started", step_, step_ + 1));
}

// Checks the fabrics of all programs before the first program is started.
void ChainState::require_streams(const char* call) const {
  require_startable(call);
  fail_on_lost_path();
  for (std::size_t f = 0; f < programs_.size(); ++f) {
    if (programs_[f]->on_accelerator() != nullptr) continue;
    fail(Errc::invalid_argument, about(),
         "{} of chain '{}' on a stream: the fabric {} has no streams; call it without one, or choose the "
         "fabric cuda (WorldOptions::fabric or OPENTCA_FABRIC)",
         call, name_, world_->fabrics()[f]->name());
  }
}

template <class Call>
void ChainState::traced(const char* what, const Call& call) {
  const auto now_us = [&] { return world_->control().now().count() * 1e6; };
  const double begin = now_us();
  call();
  world_->trace()->span(fmt::format("{} {}", what, name_), fmt::format("step {}", step_), begin, now_us());
}

void ChainState::start() {
  require_startable("start");
  if (world_->trace() == nullptr) {
    begin_step();
  } else {
    traced("start", [this] { begin_step(); });
  }
}

void ChainState::begin_step() {
  ++step_;
  running_ = true;
  on_stream_ = awaited_ = false;
  if (counted_ != nullptr) take_lengths();
  if (world_->deferred_steps().must_defer()) {
    world_->deferred_steps().defer(*this);
    deferred_ = true;
    return;
  }
  start_programs();
}

void ChainState::begin_deferred() {
  deferred_ = false;
  world_->deferred_steps().remove(*this);
  start_programs();
}

// Where a path has failed, nothing of the step goes over any.
void ChainState::start_programs() {
  cut_ = find_lost() != nullptr;
  if (cut_) return;
  for (const auto& program : programs_) program->start();
  for (Detour& detour : detours()) detour.start();
}

// Returns what is lost that has no other way, or whose other way is lost as well; null where the step goes on.
const Need* ChainState::find_lost_now() const {
  for (const Detour& detour : detours())
    if (const Need* const lost = detour.lost(); lost != nullptr) return lost;
  return find_lost();
}

const Need* ChainState::find_lost() const {
  if (ways_ == nullptr) return nullptr;
  const auto is_lost = [&](const Need& need) {
    return world_->lost_path(need.partner, need.fabric, need.protocol) != nullptr;
  };
  const auto found = std::ranges::find_if(ways_->needs, is_lost);
  return found == ways_->needs.end() ? nullptr : &*found;
}

void ChainState::fail_on_lost_path() const {
  const Need* const need = find_lost_now();
  if (need == nullptr) return;
  ErrorFields about = this->about();
  about.missing = {need->partner};
  fail(Errc::path_lost, std::move(about),
       "rank {}, step {} of chain '{}': its way to rank {} is lost{}: {}; destroy the chain, as the step may "
       "have arrived or not: one that is committed now takes another channel if there is one{}",
       world_->rank(), step_, name_, need->partner, reroute_ ? ", and no other is prepared" : "",
       world_->lost_paths(need->partner),
       reroute_ ? "" : ", and one with ChainOptions::reroute does so by itself");
}

void ChainState::start_on(Stream stream) {
  require_streams("start");
  world_->check();
  ++step_;
  on_stream_ = true;
  awaited_ = false;
  if (counted_ != nullptr) take_lengths();
  for (const auto& program : programs_) program->on_accelerator()->start_on(stream);
}

void ChainState::wait_on(Stream stream) {
  require_streams("wait");
  require_started("wait");
  world_->check();
  awaited_ = true;
  for (const auto& program : programs_) program->on_accelerator()->wait_on(stream);
}

void ChainState::run_on(Stream stream) {
  require_streams("run");
  world_->check();
  ++step_;
  on_stream_ = awaited_ = true;
  if (counted_ != nullptr) take_lengths();
  for (const auto& program : programs_) program->on_accelerator()->run_on(stream);
}

const DeviceChain& ChainState::device() const {
  require_committed("device()");
  if (produced_ != nullptr) {
    fail(Errc::invalid_argument, about(),
         "device() of chain '{}', which has produced puts: use device_produced(), with a ProducedBlockChain "
         "or a "
         "ProducedGridChain in the kernel (tca/produced.cuh)",
         name_);
  }
  return device_produced();
}

const DeviceProducedChain& ChainState::device_produced() const {
  require_committed("device()");
  const auto chain_of = [&](std::size_t f) {
    const fabric::AcceleratorProgram* program = programs_[f]->on_accelerator();
    return program != nullptr ? program->device_chain() : nullptr;
  };
  const DeviceProducedChain* device = chain_of(0);
  for (std::size_t f = 0; f < programs_.size(); ++f) {
    const bool drivable = chain_of(f) != nullptr || (f > 0 && programs_[f]->is_empty());
    if (drivable) continue;
    fail(Errc::invalid_argument, about(),
         "device() of chain '{}': no kernel can drive what goes over the fabric {}; {}", name_,
         world_->fabrics()[f]->name(),
         device != nullptr ? "start the chain on a stream, or put to ranks of the same sub-cluster only"
                           : "choose the fabric cuda (WorldOptions::fabric or OPENTCA_FABRIC)");
  }
  return *device;
}

const DeviceTimedChain& ChainState::device_timed() const {
  static_cast<void>(device());  // refuses what no kernel can drive
  const DeviceTimedChain* const timed = programs_[0]->on_accelerator()->timed_device_chain();
  if (timed != nullptr) return *timed;
  fail(Errc::invalid_argument, about(), "device_timed() of chain '{}', {}", name_,
       timed_
           ? "in which this rank has no part"
           : "which is not timed: ask for it before the commit (ChainOptions::timed, WorldOptions::timing or "
             "OPENTCA_TIMING=1), or use device()");
}

const DeviceDoorbell& ChainState::doorbell() const {
  require_committed("doorbell()");
  if (produced_ != nullptr) fail_produced("doorbell()");
  fabric::AcceleratorProgram* const first = programs_.front()->on_accelerator();
  const DeviceDoorbell* doorbell = first != nullptr ? first->doorbell() : nullptr;
  const bool alone = std::all_of(programs_.begin() + 1, programs_.end(),
                                 [](const auto& program) { return program->is_empty(); });
  if (doorbell == nullptr || !alone) {
    fail(Errc::invalid_argument, about(), "doorbell() of chain '{}': no resident engine can run it; {}",
         name_,
         counted_ != nullptr
             ? "it runs no chains with counted puts; start this one in the kernel itself (tca/chain.cuh)"
         : alone ? "give it multiprocessors (WorldOptions::engine_blocks, on the fabric cuda) and not more "
                   "than 255 chains"
                 : "it puts to ranks of other sub-clusters, which kernels do not reach");
  }
  return *doorbell;
}

bool ChainState::advance() {
  if (!running_) return true;
  if (deferred_) {
    if (world_->deferred_steps().must_defer()) return false;
    begin_deferred();
  }
  bool finished = !cut_;
  if (!cut_)
    for (const auto& program : programs_) finished &= program->test();
  for (Detour& detour : detours()) {
    detour.drive();
    finished &= detour.finished();
  }
  running_ = !finished;
  if (!finished) fail_on_lost_path();
  return finished;
}

bool ChainState::test() {
  require_waitable("test");
  if (advance()) return true;
  world_->progress_while_waiting();
  if (test_loop_.go_round(step_)) check_partners(test_loop_.so_far());
  return false;
}

void ChainState::wait() {
  require_waitable("wait");
  if (world_->trace() == nullptr) {
    finish_step();
  } else {
    traced("wait", [this] { finish_step(); });
  }
  awaited_ = true;
}

void ChainState::finish_step() {
  if (!advance()) wait_patiently(forever);
}

bool ChainState::wait_for(std::chrono::nanoseconds duration) {
  require_waitable("wait_for");
  bool finished = false;
  const auto wait = [&] { finished = advance() || (duration > 0ns && wait_patiently(duration)); };
  if (world_->trace() == nullptr) {
    wait();
  } else {
    traced("wait", wait);
  }
  awaited_ |= finished;
  return finished;
}

// Tells the control plane what a step that is under way waits for.
class ChainState::StepWait final : public control::Wait {
 public:
  explicit StepWait(const ChainState& chain) : chain_(chain) {}
  std::string what() const override {
    return fmt::format("step {} of chain '{}'", chain_.step_, chain_.name_);
  }
  ErrorFields about() const override {
    ErrorFields about = chain_.about();
    about.missing = chain_.missing();
    return about;
  }

 private:
  const ChainState& chain_;
};

ErrorFields ChainState::about() const {
  ErrorFields about{.rank = world_->rank(), .chain = name_};
  if (step_ > 0) about.step = step_;
  return about;
}

std::vector<int> ChainState::missing() const {
  if (deferred_) return world_->deferred_steps().outstanding();
  std::vector<int> missing;
  for (const Detour& detour : detours()) {
    const std::vector<int> ranks = detour.missing();
    missing.insert(missing.end(), ranks.begin(), ranks.end());
  }
  for (const auto& program : programs_) {
    const std::vector<int> ranks = program->missing();
    missing.insert(missing.end(), ranks.begin(), ranks.end());
  }
  return missing;
}

// Returns whether the step has finished, false after `at_most`.
bool ChainState::wait_patiently(std::chrono::nanoseconds at_most) {
  control::Control& control = world_->control();
  const bool limited = at_most < forever;
  // Without a limit nobody asks, and a look at the clock takes a good part of what a signal does.
  const std::chrono::duration<double> begin = limited ? control.now() : std::chrono::duration<double>(0);
  const auto is_over = [&] { return limited && control.now() - begin >= at_most; };
  for (const StepWait wait(*this); control.wait_turn(wait, at_most);) {
    if (advance()) return true;
    if (is_over()) return false;
  }
  const std::chrono::nanoseconds before = limited ? test_loop_.so_far(step_) : 0ns;
  // Other chains of this rank may owe something to the very rank that this wait is for. An occasional call is
  // enough as long as the signal is probably under way.
  constexpr unsigned polls_between_progress = 16;
  base::Poll poll(control.cores());
  for (unsigned polls = 1; !advance(); ++polls) {
    if ((poll.has_yielded() || polls % polls_between_progress == 0) && is_over()) {
      test_loop_.add(step_, at_most);
      return false;
    }
    base::Poll::Look look{.moves = world_->needs_polling()};
    for (const auto& program : programs_) look.yielded |= program->yields();
    const bool waited_long = poll.pause(look);
    if (poll.has_yielded() || polls % polls_between_progress == 0) world_->progress_while_waiting();
    if (waited_long) check_partners(before + poll.waited());
  }
  return true;
}

void ChainState::check_partners(std::chrono::nanoseconds waited) {
  const std::vector<int> missing = this->missing();
  for (const int rank : missing) {
    const std::optional<control::Loss> loss = world_->control().lost(rank);
    if (!loss) continue;
    // The rank's signals may have arrived before it was lost. Kernels see them in their own time, other
    // programs when they are tested.
    if (finishes_within(world_->accelerator() != nullptr ? 500ms : 0ms)) return;
    const std::vector<int> still = this->missing();
    if (std::find(still.begin(), still.end(), rank) == still.end()) continue;
    world_->control().fail_lost(
        rank, *loss, fmt::format("waiting for it in step {} of chain '{}'", step_, name_), about());
  }
  if (waited < time_limit_) return;
  const std::string where = fmt::format("step {} of chain '{}'", step_, name_);
  ErrorFields about = this->about();
  if (!missing.empty()) {
    about.missing = missing;
    world_->control().fail_late(waited, where, std::move(about),
                                ", which has not signalled; has every partner started this step? (time "
                                "limit: WorldOptions, ChainOptions or OPENTCA_TIME_LIMIT)");
  }
  // Data that arrived at the last moment is still on its way to its place.
  if (finishes_within(1s) || !this->missing().empty()) return;
  world_->control().fail_late(
      waited, where, std::move(about),
      ", while no partner is missing; is its GPU busy with other work that does not end? (time "
      "limit: WorldOptions, ChainOptions or OPENTCA_TIME_LIMIT)",
      "its own part of it");
}

bool ChainState::finishes_within(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!advance() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  return !running_;
}

std::map<int, std::size_t> count_puts(std::span<const Descriptor> descriptors) {
  std::map<int, std::size_t> to;
  for (const Descriptor& d : descriptors)
    if (d.shape != nullptr) ++to[d.to];
  return to;
}

}  // namespace tca::core
