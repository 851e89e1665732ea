#include "tca/team.hpp"

#include "base/fail.hpp"
#include "core/world/team_state.hpp"

namespace tca {

namespace core {

namespace {

std::unique_ptr<fabric::Team> make_team(const WorldState& world, const std::string& name,
                                        std::size_t max_values, std::size_t max_blocks) {
  fabric::Accelerator* const accelerator = world.accelerator();
  if (accelerator == nullptr) {
    base::fail(Errc::invalid_argument,
               "team '{}': the ranks of the fabric {} run no kernels; use tca/coll.hpp, or the fabric cuda "
               "(option fabric or OPENTCA_FABRIC)",
               name, world.fabrics().front()->name());
  }
  return accelerator->make_team(name, max_values, max_blocks, world.control().time_limit, world.members());
}

}  // namespace

TeamState::TeamState(std::shared_ptr<WorldState> world, std::string name, std::size_t max_values,
                     std::size_t max_blocks)
    : world_(std::move(world)),
      name_(std::move(name)),
      max_values_(max_values),
      team_(make_team(*world_, name_, max_values, max_blocks)),
      id_(world_->next_id()) {}

// The team is retired, since partners that are a step behind may still write into its signals.
TeamState::~TeamState() { world_->retire(id_, std::move(team_)); }

void TeamState::allreduce_sum_on(double* values, std::int64_t count, Stream stream) {
  if (count < 1 || static_cast<std::uint64_t>(count) > max_values_) {
    base::fail(Errc::invalid_argument, "allreduce_sum of {} values in team '{}', which was made for 1 to {}",
               count, name_, max_values_);
  }
  world_->check();
  team_->allreduce_sum_on(values, static_cast<std::size_t>(count), stream);
}

}  // namespace core

Team::Team(std::unique_ptr<core::TeamState> state) : state_(std::move(state)) {}
Team::Team(Team&&) noexcept = default;
Team& Team::operator=(Team&&) noexcept = default;
Team::~Team() = default;

const DeviceTeam& Team::device() const { return core::present(state_, "team").device(); }

void Team::allreduce_sum(double* values, Count count, Stream stream) const {
  core::present(state_, "team").allreduce_sum_on(values, count.value(), stream);
}

}  // namespace tca
