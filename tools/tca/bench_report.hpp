// The table that `tca bench` prints, and the lines that it writes.
#pragma once

#include <string>
#include <vector>

#include "bench_options.hpp"
#include "contender.hpp"
#include "net/machine.hpp"
#include "progress.hpp"
#include "record.hpp"

namespace tca::tool {

class BenchReport {
 public:
  BenchReport(const BenchOptions& options, const World& world) : options_(options), world_(world) {}

  // `first` heads the column that says what was measured.
  void header(const char* first) const;

  // Who was measured in one turn, and what came of it.
  struct Row {
    std::string name;
    Record record;
  };
  // The rows of one turn, and a line of the file for each. A peer's ratio is by round to OpenTCA's row that is started, guarded
  // and run alike; without such a one, or with several, to the fastest.
  void rows(const std::string& first, std::vector<Row> all) const;

  // What all benchmarks say of a contender.
  Record record(const bench::Contender& who) const;

 private:
  const BenchOptions& options_;
  const World& world_;
};

// What has been printed so far, to whoever reads it: what is still to come may be interrupted. Throws as printing does.
void show_printed();

// The machine of a benchmark on sim.
net::Machine modelled(const BenchOptions& options);

// How OpenTCA's own chains are made.
bench::Way own_way(const BenchOptions& options);

// "OpenTCA shm/direct, unguarded", or the peer's name.
std::string name_of(const bench::Contender& who);

// For so many rounds, on rank 0's terminal alone.
Progress bench_progress(const World& world, const BenchOptions& options, const std::string& label);

}  // namespace tca::tool
