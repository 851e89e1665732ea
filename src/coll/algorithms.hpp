// The algorithms, a file each.
#pragma once

#include "coll/schedule.hpp"

namespace tca::coll {

// Everyone puts to everyone at once: one round, for a few bytes. Every collective has it.
std::optional<Schedule> one_shot(const Problem& problem);

// Broadcast down a binomial tree: the ranks that have the data double in each round.
std::optional<Schedule> binomial(const Problem& problem);

// Barrier and allgather in ceil(log2 p) rounds for any p: in round k a rank signals the one 2^k further on (Hensgen,
// Finkel, Manber 1988), or hands on the blocks that it has (Bruck et al. 1997, without the rotation).
std::optional<Schedule> dissemination(const Problem& problem);

// Allgather and allreduce between partners whose numbers differ in one bit. Allreduce takes any number of ranks: those
// beyond a power of two fold theirs into a neighbour's first.
std::optional<Schedule> recursive_doubling(const Problem& problem);

// Two rounds that share the work out evenly where everyone reaches everyone: each rank receives one part of a broadcast,
// or reduces one part of an allreduce, and puts it to all others.
std::optional<Schedule> split(const Problem& problem);

// Around a ring in p-1 steps (allgather, reduce-scatter), twice that (allreduce), or in a pipeline of segments
// (broadcast): each rank only ever sends to the next.
std::optional<Schedule> ring(const Problem& problem);

// All-to-all in p-1 rounds, in each of which a rank sends to one and receives from one.
std::optional<Schedule> pairwise(const Problem& problem);

// Across sub-clusters one rank of each speaks for all: barrier, broadcast, allgather and allreduce.
std::optional<Schedule> leaders(const Problem& problem);

// The same broadcast, down a tree within each sub-cluster.
std::optional<Schedule> leaders_and_trees(const Problem& problem);

// Everyone puts to the leader of every sub-cluster, which hands on to its members: two rounds, of barrier, allgather
// and allreduce.
std::optional<Schedule> all_to_leaders(const Problem& problem);

// Across sub-clusters of one size every rank speaks for its part, with those at its own place: allgather, allreduce,
// reduce-scatter and all-to-all.
std::optional<Schedule> counterparts(const Problem& problem);

// Everyone puts to everyone in its sub-cluster, then what that has come to goes across: two rounds, for a few bytes, of
// barrier, allgather and allreduce.
std::optional<Schedule> two_shots(const Problem& problem);

}  // namespace tca::coll
