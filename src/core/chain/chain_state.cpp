// A chain from its creation to its commit, and its end.
#include "core/chain/chain_state.hpp"

#include <utility>

#include "base/fail.hpp"
#include "core/chain/commit.hpp"
#include "core/chain/explain.hpp"
#include "core/chain/message_times.hpp"
#include "route/choose.hpp"

namespace tca::core {

using base::fail;

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
         "have less than 2 GiB",
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

ErrorFields ChainState::about() const {
  ErrorFields about{.rank = world_->rank(), .chain = name_};
  if (step_ > 0) about.step = step_;
  return about;
}

std::map<int, std::size_t> count_puts(std::span<const Descriptor> descriptors) {
  std::map<int, std::size_t> to;
  for (const Descriptor& d : descriptors)
    if (d.shape != nullptr) ++to[d.to];
  return to;
}

}  // namespace tca::core
