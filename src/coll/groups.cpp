#include "coll/groups.hpp"

#include <map>

namespace tca::coll {

Groups::Groups(const Problem& problem) : rank_(problem.rank) {
  std::map<int, int> numbers;
  for (int rank = 0; rank < problem.ranks; ++rank) {
    const int sub_cluster =
        problem.sub_cluster.empty() ? 0 : problem.sub_cluster[static_cast<std::size_t>(rank)];
    const int group = numbers.try_emplace(sub_cluster, count()).first->second;
    if (group == count()) members_.emplace_back();
    members_[static_cast<std::size_t>(group)].push_back(rank);
    group_.push_back(group);
  }
}

int Groups::place_of(int member) const {
  const std::vector<int>& members = own_members();
  return static_cast<int>(std::find(members.begin(), members.end(), member) - members.begin());
}

bool Groups::equal_sizes() const {
  return std::all_of(members_.begin(), members_.end(),
                     [&](const std::vector<int>& each) { return each.size() == members_[0].size(); });
}

int Groups::largest() const {
  std::size_t most = 0;
  for (const std::vector<int>& each : members_) most = std::max(most, each.size());
  return static_cast<int>(most);
}

bool Groups::consecutive() const { return std::is_sorted(group_.begin(), group_.end()); }

}  // namespace tca::coll
