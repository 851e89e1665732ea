#include "core/chain/detour.hpp"

#include <algorithm>
#include <utility>

#include "core/chain/chain_state.hpp"
#include "core/world/world_state.hpp"

namespace tca::core {

Detour::Detour(const WorldState& world, Parts parts) : world_(world), parts_(std::move(parts)) {
  for (const auto& program : parts_.from) program->start();
}

const Need* Detour::lost_of(std::size_t way) const {
  const std::vector<Need>& needs = parts_.ways[way].needs;
  const auto found = std::ranges::find_if(needs, [&](const Need& need) {
    return world_.lost_path(need.partner, need.fabric, need.protocol) != nullptr;
  });
  return found == needs.end() ? nullptr : &*found;
}

const Need* Detour::lost() const { return state_ == State::first ? nullptr : lost_of(1); }

bool Detour::test_all(std::size_t way) const {
  bool finished = true;
  for (const auto& program : parts_.ways[way].programs) finished &= program->test();
  return finished;
}

void Detour::start_all(std::size_t way) const {
  for (const auto& program : parts_.ways[way].programs) program->start();
}

void Detour::start() {
  ++started_;
  if (state_ == State::first && lost_of(0) != nullptr) leave();
  if (state_ == State::first) start_all(0);
  if (state_ == State::second) start_all(1);
}

void Detour::drive() {
  if (state_ == State::first) drive_first();
  if (state_ == State::leaving) tell_when_left();
  if (state_ == State::telling) take_second_when_told();
  if (state_ == State::second && finished_ < started_ && test_all(1)) landed_ = finished_ = started_;
}

void Detour::drive_first() {
  if (has_heard() || (finished_ < started_ && lost_of(0) != nullptr)) return leave();
  if (landed_ < started_ && test_all(0)) {
    landed_ = started_;
    parts_.landed->start();
  }
  if (finished_ < landed_ && parts_.landed->test()) finished_ = landed_;
}

bool Detour::has_heard() const {
  return std::ranges::any_of(parts_.from, [](const auto& program) { return program->test(); });
}

void Detour::leave() {
  state_ = State::leaving;
  for (const auto& program : parts_.ways[0].programs) program->cancel();
  parts_.landed->cancel();
}

void Detour::tell_when_left() {
  bool ended = parts_.landed->end();
  for (const auto& program : parts_.ways[0].programs) ended &= program->end();
  if (!ended) return;
  state_ = State::telling;
  parts_.to[landed_ % tellings]->start();
}

void Detour::take_second_when_told() {
  for (const auto& program : parts_.to) program->test();
  std::uint32_t heard = 0;
  while (heard < tellings && !parts_.from[heard]->test()) ++heard;
  if (heard == tellings) return;
  const bool is_behind = heard == (landed_ + tellings - 1) % tellings;
  if (is_behind) --landed_;
  finished_ = landed_;
  state_ = State::second;
  if (started_ > landed_) start_all(1);
}

std::vector<int> Detour::missing() const {
  return finished() ? std::vector<int>() : std::vector<int>{parts_.partner};
}

void Detour::retire(std::vector<std::unique_ptr<fabric::Program>>& into) {
  const auto add = [&](std::unique_ptr<fabric::Program>& program) {
    program->cancel();
    into.push_back(std::move(program));
  };
  for (Way& way : parts_.ways) std::ranges::for_each(way.programs, add);
  add(parts_.landed);
  std::ranges::for_each(parts_.to, add);
  std::ranges::for_each(parts_.from, add);
}

void Reroutes::drive_all() {
  for (ChainState* const chain : chains_) chain->drive_detours();
}

}  // namespace tca::core
