// The options of `tca bench`.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "cli/launch/launch.hpp"
#include "measure/measure.hpp"

namespace tca::tool {

struct BenchOptions {
  std::string what;
  std::string fabric = "shm";
  std::string machine, fidelity;  // the machine modelled on sim, and how closely
  std::string faults;             // what fails of it
  int ranks = 2;
  bool ranks_given = false;
  std::vector<std::size_t> sizes;  // the benchmark's own when empty
  std::vector<std::size_t> extents{32, 64, 128};
  std::vector<std::size_t> rows{256, 1024, 4096};  // bytes in a row of a block-stride put
  std::vector<std::string> layouts{"block", "block-stride", "stride"};
  std::vector<std::string> asked_starts;
  std::vector<std::string> peers;
  std::string channel;
  // A collective's algorithms to force; when empty it takes one by itself.
  std::vector<std::string> algorithms;
  int descriptors = 64;               // of the chain whose commit is measured
  std::vector<std::string> progress;  // what advances an overlapped exchange; none and points when empty
  int points = 0;  // points of the computation beside an exchange; the benchmark's own when 0
  bool unguarded = false;
  unsigned blocks = 0, threads = 0;  // of kernels that run a chain; 0: by the chain's size
  std::string json;
  bench::Effort effort;
  Binding bind = {};

  bool against(const char* peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
  bool has_layout(const char* layout) const {
    return std::find(layouts.begin(), layouts.end(), layout) != layouts.end();
  }
  bool progresses_by(const char* way) const {
    return std::find(progress.begin(), progress.end(), way) != progress.end();
  }
  std::vector<std::string> starts() const {
    return asked_starts.empty() ? std::vector<std::string>{"kernel", "graph", "host"} : asked_starts;
  }
  bool starts_by(const char* start) const {
    const std::vector<std::string> all = starts();
    return std::find(all.begin(), all.end(), start) != all.end();
  }
};

}  // namespace tca::tool
