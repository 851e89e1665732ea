// The algorithms of collectives, each in a file of its own.
#pragma once

#include "coll/schedule.hpp"

namespace tca::coll {

// Every rank puts to every other at once: one round, for a few bytes. It solves every collective.
std::optional<Schedule> one_shot(const Problem& problem);

// Broadcasts down a binomial tree: the number of ranks that have the data doubles in each round.
std::optional<Schedule> binomial(const Problem& problem);

// Barrier and allgather in ceil(log2 p) rounds for any p. In round k a rank signals the one 2^k further on
// (Hensgen, Finkel, Manber 1988), or passes on the blocks that it has (Bruck et al. 1997, without the
// rotation).
std::optional<Schedule> dissemination(const Problem& problem);

// Allgather and allreduce between partners whose numbers differ in one bit. Allreduce works with any number
// of ranks: those beyond a power of two first fold their values into a neighbour's.
std::optional<Schedule> recursive_doubling(const Problem& problem);

// Broadcast and allreduce in two rounds that distribute the work evenly where every rank reaches every other.
// Each rank receives one part of a broadcast, or reduces one part of an allreduce, and puts it to all others.
std::optional<Schedule> split(const Problem& problem);

// Algorithms around a ring, in which each rank sends to the next only: p-1 rounds for allgather and
// reduce-scatter, twice as many for allreduce, and a pipeline of segments for broadcast.
std::optional<Schedule> ring(const Problem& problem);

// All-to-all in p-1 rounds. In each a rank sends to one other and receives from one.
std::optional<Schedule> pairwise(const Problem& problem);

// Barrier, broadcast, allgather and allreduce in which one rank of each sub-cluster communicates with the
// others on behalf of all.
std::optional<Schedule> leaders(const Problem& problem);

// The broadcast of `leaders`, but down a tree within each sub-cluster.
std::optional<Schedule> leaders_and_trees(const Problem& problem);

// Barrier, allgather and allreduce in two rounds: every rank puts to the leader of every sub-cluster, which
// passes the result on to its members.
std::optional<Schedule> all_to_leaders(const Problem& problem);

// Allgather, allreduce, reduce-scatter and all-to-all across sub-clusters of one size: every rank exchanges
// its part with the ranks at its own place in the others.
std::optional<Schedule> counterparts(const Problem& problem);

// Barrier, allgather and allreduce in two rounds, for a few bytes: every rank puts to every other in its
// sub-cluster, and then the result crosses to the other sub-clusters.
std::optional<Schedule> two_shots(const Problem& problem);

}  // namespace tca::coll
