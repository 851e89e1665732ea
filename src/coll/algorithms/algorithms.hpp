// The algorithms of collectives, each in a file of the same name that begins with a picture of its rounds.
#pragma once

#include "coll/schedule.hpp"

namespace tca::coll {

std::optional<Schedule> flat(const Problem& problem);
std::optional<Schedule> binomial(const Problem& problem);
std::optional<Schedule> dissemination(const Problem& problem);
std::optional<Schedule> recursive_doubling(const Problem& problem);
std::optional<Schedule> scatter_allgather(const Problem& problem);
std::optional<Schedule> reduce_scatter_allgather(const Problem& problem);
std::optional<Schedule> ring(const Problem& problem);
std::optional<Schedule> pairwise(const Problem& problem);

// Across sub-clusters.
std::optional<Schedule> hierarchical(const Problem& problem);
std::optional<Schedule> hierarchical_binomial(const Problem& problem);  // in hierarchical.cpp
std::optional<Schedule> flat_to_leaders(const Problem& problem);
std::optional<Schedule> multi_lane(const Problem& problem);
std::optional<Schedule> two_level(const Problem& problem);

}  // namespace tca::coll
