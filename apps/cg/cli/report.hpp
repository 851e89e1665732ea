// The report of `tca cg`: a text for people, and lines of JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cg/measure.hpp"
#include "cg/problem.hpp"

namespace tca::tool {

// The library measured beside OpenTCA, if any.
struct CgPeer {
  std::string name = "MPI";  // or "NCCL"
  std::string version;
};

struct CgReport {
  cg::Problem problem;
  std::int64_t nonzeros = 0;
  std::string grid;
  std::string order;
  std::string world;      // from World::describe()
  std::string placement;  // from bench::placement(); empty on sim
  int processors = 0;     // that the ranks have between them; 0 where they need none of their own
  std::string fabric = "shm";
  std::string model;  // as Record::model; empty where time is real
  std::string gpus;   // as Record::gpus; empty on hosts
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  std::string explain;  // from Exchange::explain()
  CgPeer peer;
  int ranks = 1;
  std::int64_t bytes = 0;                     // sent by all ranks in an inner iteration, beside scalars
  std::vector<cg::Result> results{};          // OpenTCA's, then the peer's
  std::vector<std::int64_t> message_bytes{};  // the most that a rank sends, for each of Result::messages

  // Whether every way has found the published result.
  bool verified() const;
};

// Says in words whether the benchmark's result is right, and gives both where it is not.
std::string cg_answer(const cg::Result& result, const cg::Problem& problem);

void print(const CgReport& report);

// Appends one line for each result.
void append_json(const CgReport& report, const std::string& path);

}  // namespace tca::tool
