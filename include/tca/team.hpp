// Small collectives and single signals among all ranks that kernels make by themselves; see tca/team.cuh.
#pragma once

#include <memory>

#include "tca/layout.hpp"
#include "tca/stream.hpp"

namespace tca {

struct DeviceTeam;

namespace core {
class TeamState;
}

// Teams are independent of each other: each has its own signals. Every rank makes the same calls in the same order, from
// one kernel at a time.
class Team {
 public:
  // Valid as long as the team.
  const DeviceTeam& device() const;

  // The sums over all ranks, in place, of `count` values in device memory; one kernel, ordered on a stream. Every rank
  // gets the same bits. Throws Error{invalid_argument} for more values than the team was made for.
  void allreduce_sum(double* values, Count count, Stream stream) const;

  // A team that was moved from may only be destroyed or assigned to.
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

 private:
  friend class World;
  explicit Team(std::unique_ptr<core::TeamState> state);
  std::unique_ptr<core::TeamState> state_;
};

}  // namespace tca
