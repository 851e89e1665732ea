// The sub-clusters as the algorithms see them: groups ordered by their lowest ranks, with members in rank
// order.
#pragma once

#include <vector>

#include "coll/schedule.hpp"

namespace tca::coll {

class Groups {
 public:
  explicit Groups(const Problem& problem);

  int count() const { return static_cast<int>(members_.size()); }
  const std::vector<int>& members(int group) const { return members_[static_cast<std::size_t>(group)]; }
  int of(int rank) const { return group_[static_cast<std::size_t>(rank)]; }

  // The group of the rank that solves this problem.
  int own() const { return of(rank_); }
  const std::vector<int>& own_members() const { return members(own()); }
  int place_of(int member) const;  // among the members of its own group
  int own_place() const { return place_of(rank_); }

  bool equal_sizes() const;
  int largest() const;  // the size of the largest group

  // Returns whether combining group by group preserves rank order.
  bool consecutive() const;

 private:
  int rank_;
  std::vector<int> group_;  // by rank
  std::vector<std::vector<int>> members_;
};

// Calls run(first, count) for each range of blocks that belong to consecutive members.
template <class Run>
void for_each_range(const std::vector<int>& members, std::int64_t block, Run run) {
  for (std::size_t begin = 0, end; begin < members.size(); begin = end) {
    for (end = begin + 1; end < members.size() && members[end] == members[end - 1] + 1;) ++end;
    run(members[begin] * block, static_cast<std::int64_t>(end - begin) * block);
  }
}

}  // namespace tca::coll
