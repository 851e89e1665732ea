// One measurement, written as one line of JSON in the format of docs/results.md.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/quantile.hpp"
#include "channels.hpp"
#include "measure/verdict.hpp"

namespace tca::tool {

using base::median;
using base::quantile;
using bench::channels_in;
using bench::protocols_in;

struct Record {
  std::string bench;                // "pingpong", "halo", "himeno", ...
  std::string fabric = "shm";       // what carried the bytes; a peer's own fabric for a peer ("mpi")
  std::string protocol;             // "direct", "pull", "staged"; joined by "+" when a chain uses several
  std::string start = "host";       // host, graph, kernel or engine
  std::optional<std::string> peer;  // "mpi", "memcpy", ... when not OpenTCA was measured
  std::string layout;               // "block", "block-stride", "stride", or a word of the benchmark
  int ranks = 1;
  std::int64_t n = 0;      // extent of the array
  std::int64_t bytes = 0;  // moved in one sample
  // Each of the slowest rank: give median_us, p99_us and, where has_bandwidth(bench), gbps.
  std::vector<double> samples_us;
  std::string mpi_version;  // of the MPI library, when one took part
  std::string gpus;         // "4 x NVIDIA H200, driver ...", where GPUs took part
  std::string model;        // title of the machine, when time was modelled
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // further names and versions
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();  // keys of one benchmark, such as step_us

  // Returns the line, without a line end.
  std::string line() const;
};

// Adds a ratio of this benchmark's times and how far it spreads to a record, as `name`, `name`_low and
// `name`_high; null where there is none.
void add_ratio(const std::string& name, const std::optional<bench::Spread>& ratio, Record& record);

// Appends one line to a file, which is created if necessary. Throws Error{invalid_argument} when it cannot be
// written.
void append_line(const std::string& path, const std::string& line);

// Rounds to four significant digits: more would be noise.
double rounded(double value);

// Returns what was built, and of what: "OpenTCA 0.1.0 (0123456789ab), GCC 12.2.0, Release, Open MPI v4.1.4".
std::string versions_in_words(const std::string& mpi_version);

// Describes this host: "Intel(R) Xeon(R) ..., 2 cores".
std::string hardware();

}  // namespace tca::tool
