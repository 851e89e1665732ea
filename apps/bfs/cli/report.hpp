// The report of `tca bfs`: a text for people, and lines of JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bfs/measure.hpp"
#include "bfs/problem.hpp"

namespace tca::tool {

struct BfsReport {
  bfs::Problem problem;
  std::string style;       // of the messages: "packed" or "paper"
  bool validated = false;  // whether every search was validated
  double generation_seconds = 0, construction_seconds = 0;
  std::int64_t connected = 0;  // vertices that have neighbours
  std::string world;           // from World::describe()
  std::string placement;       // from bench::placement(); empty on sim
  int processors = 0;          // that the ranks have between them; 0 where they need none of their own
  std::string fabric = "shm";
  std::string model;    // as Record::model; empty where time is real
  std::string explain;  // from Exchange::explain()
  std::string mpi;      // the library's version
  int ranks = 1;
  std::vector<bfs::Result> results{};  // OpenTCA's, then MPI's

  // Whether no search was found to be wrong.
  bool is_right() const;
};

// Says in words whether the searches are right, and which is not.
std::string bfs_answer(const bfs::Result& result, bool validated);

void print(const BfsReport& report);

// Appends one line for each result.
void append_json(const BfsReport& report, const std::string& path);

}  // namespace tca::tool
