// What stops a step: calls out of order, lost paths and missing partners.
#include <algorithm>
#include <thread>

#include "base/fail.hpp"
#include "core/chain/chain_state.hpp"

namespace tca::core {

using base::fail;
using namespace std::chrono_literals;

void ChainState::fail_uncommitted(const char* call) const {
  fail(Errc::invalid_argument, about(), "{} of chain '{}' before its commit", call, name_);
}

void ChainState::fail_running(const char* call) const {
  fail(Errc::invalid_argument, about(), "{} of chain '{}' while its step {} is under way; wait for it first",
       call, name_, step_);
}

void ChainState::fail_not_started(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}' without a start: {}; call start first (steps are checked: OPENTCA_CHECK or "
       "option check_steps)",
       call, name_,
       step_ == 0 ? "no step of it was started yet"
                  : fmt::format("its step {} was waited for, and step {} not started", step_, step_ + 1));
}

void ChainState::fail_produced(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}' by the host, which has produced puts: nobody but a kernel can make what they send; "
       "start the chain there (device_produced() and tca/produced.cuh)",
       call, name_);
}

// A host has nothing to wait for in a step on a stream, and returning at once would look like an arrival.
void ChainState::fail_on_stream(const char* call) const {
  fail(Errc::invalid_argument, about(),
       "{} of chain '{}', whose step {} was ordered on a stream: order the wait on that stream as well "
       "(wait(stream)), and synchronise with it where the host needs what has arrived",
       call, name_, step_);
}

// Returns what is lost and has no second path, or whose second path is lost as well; null if the step goes
// on.
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
       reroute_ ? "" : ", and one with the option reroute does so by itself");
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
  // Data that arrived at the last moment may still be on its way to its place.
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

}  // namespace tca::core
