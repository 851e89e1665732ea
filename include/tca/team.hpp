/// @file
/// A team lets kernels run small collectives, and signal single ranks, among all ranks; see tca/team.cuh.
#pragma once

#include <memory>

#include "tca/detail/api.hpp"
#include "tca/layout.hpp"
#include "tca/stream.hpp"

namespace tca {

struct DeviceTeam;

namespace core {
class TeamState;
}

/// Teams are independent of each other: each has its own signals. Every rank makes the same calls of a team
/// in the same order, from one kernel at a time.
class TCA_API Team {
 public:
  /// Returns what a kernel needs to use the team. It is valid as long as the team.
  [[nodiscard]] const DeviceTeam& device() const;

  /// Replaces `count` values in device memory by their sums over all ranks, in one kernel that is ordered on
  /// a stream. Every rank gets the same bits. Throws Error{invalid_argument} for more values than the team
  /// was made for.
  void allreduce_sum(double* values, Count count, Stream stream) const;

  /// A team that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  Team(Team&&) noexcept;
  Team& operator=(Team&&) noexcept;
  ~Team();

 private:
  friend class World;
  explicit Team(std::unique_ptr<core::TeamState> state);
  std::unique_ptr<core::TeamState> state_;
};

}  // namespace tca
