// One measurement as one line of JSON, in the format of docs/results.md.
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

// How many times as long one takes as the other: the median over rounds in which both were measured one right after the other.
// What changes between rounds, as the distance of virtual cores does, changes both medians, and perhaps not alike, but not this.
// Rounds count in which both took some time; 0 where there are none.
double ratio_by_round(const std::vector<double>& one, const std::vector<double>& other);

struct Record {
  std::string bench;                // "pingpong", "halo", "himeno", ...
  std::string fabric = "shm";       // what carried the bytes; for a peer, its own ("mpi")
  std::string protocol;             // "direct", "pull", "staged"; joined by "+" when a chain uses several
  std::string start = "host";       // host, graph, kernel or engine
  std::optional<std::string> peer;  // who was measured when not OpenTCA: "mpi", "memcpy", ...
  std::string layout;               // "block", "block-stride", "stride", or a bench's own word
  int ranks = 1;
  std::int64_t n = 0;              // extent of the array
  std::int64_t bytes = 0;          // moved in one sample
  std::vector<double> samples_us;  // as measured; gives median_us, p99_us and gbps
  std::string mpi_version;         // of the MPI library, when one took part
  std::string gpus;                // "4 x NVIDIA H200, driver ...", where GPUs took part
  std::string model;               // title of the machine, where time was modelled
  nlohmann::ordered_json libraries = nlohmann::ordered_json::object();  // further names and versions
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();      // a bench's own keys, such as step_us

  // Without a line end.
  std::string line() const;
};

// Appends one line to a file, creating it. Throws Error{invalid_argument} when it cannot be written.
void append_line(const std::string& path, const std::string& line);

// To four significant digits: more would be noise.
double rounded(double value);

// "Intel(R) Xeon(R) ..., 2 cores"
std::string hardware();

}  // namespace tca::tool
