// A team as one rank sees it.
#pragma once

#include <memory>
#include <string>

#include "core/world/world_state.hpp"

namespace tca::core {

class TeamState {
 public:
  // Collective.
  TeamState(std::shared_ptr<WorldState> world, std::string name, std::size_t max_values,
            std::size_t max_blocks);
  TeamState(const TeamState&) = delete;
  ~TeamState();

  const DeviceTeam& device() const { return team_->device(); }
  void allreduce_sum_on(double* values, std::int64_t count, Stream stream);

 private:
  std::shared_ptr<WorldState> world_;
  std::string name_;
  std::size_t max_values_;
  std::unique_ptr<fabric::Team> team_;
  std::uint32_t id_;
};

}  // namespace tca::core
