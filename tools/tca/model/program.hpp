// The programs of `tca model` and of the scorecard: what each rank does, on a machine that a Stage sets up.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "coll/schedule.hpp"
#include "model/stage.hpp"

namespace tca::tool {

enum class Scheme { direct, mpi, rma, hybrid };

// Throws Error{invalid_argument} for an unknown name.
Scheme scheme_named(std::string_view name);

// A program whose iterations exchange faces, with or without computing in between.
struct Exchange {
  Scheme scheme = Scheme::direct;
  std::vector<std::uint32_t> grid{1, 1, 1};  // ranks along i, j and k
  std::array<net::Rows, 3> faces{};          // sent by a rank to a neighbour along each dimension
  bool periodic = false;
  bool in_pairs = true;                  // neighbours send to each other at a time, else all the same way
  bool ends_together = false;            // in a barrier of the processors by MPI, after every exchange
  bool computes = false;                 // with the Himeno benchmark's kernels and residual
  std::array<std::uint64_t, 3> cells{};  // of a rank, when it computes
  std::uint64_t element = 4;             // bytes of a cell
  std::uint64_t iterations = 3;
};

// Returns the faces of an array of `cells` whose last dimension is contiguous.
std::array<net::Rows, 3> faces_of(const std::array<std::uint64_t, 3>& cells, std::uint64_t element);

// This and the following programs run until nothing is left to do.
void run_exchange(Stage& stage, const Exchange& exchange);

// Between the first and the last rank, each iteration there and back.
void run_pingpong(Stage& stage, Scheme scheme, std::uint64_t bytes, std::uint64_t iterations);

// A broadcast from rank 0, an allgather or an allreduce, once and in place.
struct Collective {
  Scheme scheme = Scheme::direct;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint64_t bytes = 0;  // of an allgather: from each rank
  std::string algorithm;    // empty: what the library would choose
};
// Returns the algorithm. Throws Error{invalid_argument} where there is none of that name for so many ranks.
std::string run_collective(Stage& stage, const Collective& collective);

// Returns the bytes that all ranks together send in an iteration.
std::uint64_t bytes_of(const Exchange& exchange);

// Returns where the ranks of a grid are placed, so that neighbours are as near as the topology allows.
// Without a grid they are placed one after the other. `gpu` is the one that a node's only rank computes on.
// Throws Error{invalid_argument} when there is no such GPU.
std::vector<net::RankPlace> place_ranks(const net::Machine& machine, std::uint32_t ranks,
                                        const std::vector<std::uint32_t>& grid, std::int64_t gpu = 0);

}  // namespace tca::tool
