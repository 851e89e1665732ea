// Runs the benchmark's searches and measures them, in one way or in two that take turns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "bfs/validator.hpp"
#include "bfs/way.hpp"

namespace tca::bfs {

// A search that is wrong.
struct Failure {
  Vertex root;
  Fault fault;
};

// What one way did; the same on every rank.
struct Result {
  std::vector<double> samples_us;   // of each search, on its slowest rank
  std::vector<double> kernel_us;    // of these, without the launches; nothing where that is not known
  std::vector<std::int64_t> edges;  // that each search traversed
  std::vector<int> levels;          // below the root, of each search
  std::vector<std::vector<LevelTime>> level_times;  // of each search, on this rank
  std::size_t failures = 0;                         // of validated searches
  std::optional<Failure> first;                     // of them
  // Of a search; `bytes` is what a rank sends to each of those that it sends to.
  std::vector<apps::MessageCost> messages;

  // Traversed edges per second: of each search, and the mean of all that the benchmark is about, the harmonic
  // one.
  std::vector<double> teps() const;
  double harmonic_mean() const;
};

// Collective. Searches from each root, and returns a result for each of `ways`, which take turns, so that
// disturbances of the machine affect them alike. Each does a search before anything is measured. What a
// validator does is not timed; without one nothing is validated.
std::vector<Result> measure(World& world, const Graph& graph, std::span<Way* const> ways,
                            std::span<const Vertex> roots, Validator* validator,
                            const Progress& progress = {});

}  // namespace tca::bfs
