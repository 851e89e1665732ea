// One measurement, written as one line of JSON in the format of docs/results.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quantile.hpp"
#include "channels.hpp"

namespace tca::tool {

using base::median;
using base::quantile;
using bench::channels_in;
using bench::protocols_in;

// Returns how many times as long `one` takes as `other`: the median of the ratios over rounds, in each of
// which both were measured one right after the other. Changes between rounds, such as of the distance between
// virtual cores, shift both medians, perhaps not alike, but not this ratio. Only rounds in which both took
// some time count; 0 where there are none.
double ratio_by_round(const std::vector<double>& one, const std::vector<double>& other);

struct Record {
  std::string bench;                // "pingpong", "halo", "himeno", ...
  std::string fabric = "shm";       // what carried the bytes; a peer's own fabric for a peer ("mpi")
  std::string protocol;             // "direct", "pull", "staged"; joined by "+" when a chain uses several
  std::string start = "host";       // host, graph, kernel or engine
  std::optional<std::string> peer;  // "mpi", "memcpy", ... when not OpenTCA was measured
  std::string layout;               // "block", "block-stride", "stride", or a word of the benchmark
  int ranks = 1;
  std::int64_t n = 0;              // extent of the array
  std::int64_t bytes = 0;          // moved in one sample
  std::vector<double> samples_us;  // as measured; gives median_us, p99_us and gbps
  std::string mpi_version;         // of the MPI library, when one took part
  std::string gpus;                // "4 x NVIDIA H200, driver ...", where GPUs took part
  std::string model;               // title of the machine, when time was modelled
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // further names and versions
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();  // keys of one benchmark, such as step_us

  // Returns the line, without a line end.
  std::string line() const;
};

// Appends one line to a file, which is created if necessary. Throws Error{invalid_argument} when it cannot be
// written.
void append_line(const std::string& path, const std::string& line);

// Rounds to four significant digits: more would be noise.
double rounded(double value);

// Describes this host: "Intel(R) Xeon(R) ..., 2 cores".
std::string hardware();

}  // namespace tca::tool
