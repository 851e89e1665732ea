// The report of `tca fft`: a text for people, and lines of JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fft/field.hpp"
#include "fft/measure.hpp"
#include "fft/npb.hpp"
#include "shared/cli/job.hpp"

namespace tca::tool {

// A way of exchanging, and what it did.
struct FftWay {
  std::string name;      // "OpenTCA", "MPI_Alltoallv"
  std::string library;   // "MPI" or "NCCL"; empty for OpenTCA
  std::string protocol;  // as Record::protocol
  fft::Result result = {};
  std::vector<fft::npb::Run> runs = {};  // of the benchmark, where that is asked for
};

struct FftReport {
  fft::Field field;
  const fft::npb::Problem* problem = nullptr;  // null for a field of random numbers
  std::string grid;                            // of the ranks
  int batches = 1;
  bool in_double = true;
  std::int64_t bytes = 0;  // that all ranks send others in a transform
  JobReport job = {};
  std::string gpus = {};                                                // as Record::gpus; empty on hosts
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // as Record::libraries
  std::string start = "host";
  std::string explained = {};
  std::string mpi_version = {}, nccl_version = {};
  std::vector<FftWay> ways = {};

  // What is wrong with what the first way has found, or another, in words; empty where nothing is.
  std::string fault() const;
};

void print(const FftReport& report, const AppJob& job);

// Appends one line for each way.
void keep(const FftReport& report, const AppJob& job);

}  // namespace tca::tool
