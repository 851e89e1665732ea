// The teams: all PEs, and those of this PE's host with numbers of their own. A host is what its GPUs reach: a sub-cluster.
#pragma once

#include <vector>

#include "tca_nvshmem/types.h"

namespace tca::nvshmem {

inline constexpr int team_count = 3;  // NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED and NVSHMEMX_TEAM_NODE

class Teams {
 public:
  // `hosts`: the number of each PE's host.
  Teams(int pe, const std::vector<int>& hosts);

  bool span_hosts() const { return node_.size() < in_node_.size(); }
  // The PEs of this host by their numbers there, and the number of each PE there: -1 for those of other hosts.
  const std::vector<int>& node() const { return node_; }
  const std::vector<int>& in_node() const { return in_node_; }

  // What a PE is called in a team that there is.
  int my_pe(nvshmem_team_t team) const {
    return is_world(team) ? pe_ : in_node_[static_cast<std::size_t>(pe_)];
  }
  int size(nvshmem_team_t team) const;
  // What a PE of one team is called in another; -1 where it is in only one of them.
  int translate(nvshmem_team_t team, int pe, nvshmem_team_t other) const;

  // These throw Misuse: for a team that there is not, for a number that no PE of the team has, and for a PE whose memory
  // this one does not reach.
  static void require_team(nvshmem_team_t team);
  void require_pe(nvshmem_team_t team, int pe) const;
  void require_reached(int pe) const;

 private:
  static bool is_world(nvshmem_team_t team) { return team == NVSHMEM_TEAM_WORLD; }

  int pe_;
  std::vector<int> node_, in_node_;
};

}  // namespace tca::nvshmem
