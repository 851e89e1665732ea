#include "nvshmem/teams.hpp"

#include <fmt/format.h>

#include "nvshmem/misuse.hpp"

namespace tca::nvshmem {

Teams::Teams(int pe, const std::vector<int>& hosts) : pe_(pe) {
  const int here = hosts[static_cast<std::size_t>(pe)];
  for (std::size_t other = 0; other < hosts.size(); ++other) {
    in_node_.push_back(hosts[other] == here ? static_cast<int>(node_.size()) : -1);
    if (hosts[other] == here) node_.push_back(static_cast<int>(other));
  }
}

int Teams::size(nvshmem_team_t team) const {
  return static_cast<int>(is_world(team) ? in_node_.size() : node_.size());
}

int Teams::translate(nvshmem_team_t team, int pe, nvshmem_team_t other) const {
  if (team == NVSHMEM_TEAM_INVALID || other == NVSHMEM_TEAM_INVALID || pe < 0 || pe >= size(team)) return -1;
  if (is_world(team) == is_world(other)) return pe;
  return (is_world(team) ? in_node_ : node_)[static_cast<std::size_t>(pe)];
}

void Teams::require_team(nvshmem_team_t team) {
  if (team < 0 || team >= team_count)
    throw Misuse(fmt::format(
        "there is no team {}; there are NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED and NVSHMEMX_TEAM_NODE",
        team));
}

void Teams::require_pe(nvshmem_team_t team, int pe) const {
  if (pe < 0 || pe >= size(team))
    throw Misuse(fmt::format("there is no PE {}{}; there are {}", pe,
                             is_world(team) || !span_hosts() ? "" : " on this host", size(team)));
}

void Teams::require_reached(int pe) const {
  require_pe(NVSHMEM_TEAM_WORLD, pe);
  if (in_node_[static_cast<std::size_t>(pe)] < 0)
    throw Misuse(fmt::format(
        "PE {} is on another host; puts, gets and signals reach the PEs of one host, and what all PEs do "
        "together reaches all",
        pe));
}

}  // namespace tca::nvshmem
