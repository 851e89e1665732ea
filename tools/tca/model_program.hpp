// The programs of `tca model` and of the scorecard: what each rank does, on a machine set up by a Stage.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model_stage.hpp"

namespace tca::tool {

enum class Scheme { direct, mpi, rma, hybrid };

// Throws Error{invalid_argument} for another word.
Scheme scheme_named(std::string_view name);

// An iteration that exchanges faces, and computes in between or does not.
struct Exchange {
  Scheme scheme = Scheme::direct;
  std::vector<std::uint32_t> grid{1, 1, 1};  // ranks along i, j and k
  std::array<net::Rows, 3> faces{};          // that a rank sends to a neighbour along each dimension
  bool periodic = false;
  bool computes = false;                 // the Himeno benchmark's kernels, and its residual
  std::array<std::uint64_t, 3> cells{};  // of a rank, where it computes
  std::uint64_t element = 4;             // bytes of a cell
  std::uint64_t iterations = 3;
};

// Of an array of `cells`, the last dimension contiguous.
std::array<net::Rows, 3> faces_of(const std::array<std::uint64_t, 3>& cells, std::uint64_t element);

// All of these run until nothing is left to do.
void run_exchange(Stage& stage, const Exchange& exchange);

// What all messages have in common.
struct Messages {
  Scheme scheme = Scheme::direct;
  std::uint64_t bytes = 0;
  std::uint64_t iterations = 3;  // of the ping-pong: there and back
};

void run_pingpong(Stage& stage, const Messages& messages);   // of the first and the last rank
void run_bcast(Stage& stage, const Messages& messages);      // from rank 0
void run_allgather(Stage& stage, const Messages& messages);  // of `bytes` a rank
void run_allreduce(Stage& stage, const Messages& messages);  // of `bytes` in each rank

// That all ranks together send in an iteration.
std::uint64_t bytes_of(const Exchange& exchange);

// Where ranks of a grid stand, so that neighbours are as near as the topology allows; without a grid one after the other.
// `gpu` is the one that a node's only rank computes on. Throws Error{invalid_argument} when there is none.
std::vector<net::RankPlace> place_ranks(const net::Machine& machine, std::uint32_t ranks,
                                        const std::vector<std::uint32_t>& grid, std::int64_t gpu = 0);

}  // namespace tca::tool
