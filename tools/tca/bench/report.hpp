// Prints the table of `tca bench` and writes its lines of JSON.
#pragma once

#include <string>
#include <vector>

#include "bench/options.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/record.hpp"
#include "contender.hpp"
#include "model/machine/machine.hpp"

namespace tca::tool {

class BenchReport {
 public:
  // Collective.
  BenchReport(const BenchOptions& options, World& world);

  // Prints on which machine and where on it the ranks run, the versions, what the times are and what a ratio
  // is. `gpus` is as Record::gpus.
  void heading(const std::string& gpus = {}) const;
  // Prints the heading and the head of the table; `first` heads the column that says what was measured.
  void header(const char* first, const std::string& gpus = {}) const;

  // One contender of a turn, and its result.
  struct Row {
    std::string name;
    Record record;
  };
  // Prints the rows of one turn and appends a line to the file for each. A peer's ratio is taken round by
  // round to the OpenTCA row that is started, guarded and run alike. Where there is no such row the fastest
  // row serves, and where there are several, the fastest of them.
  void rows(const std::string& first, std::vector<Row> all) const;

  // Returns a record with the fields that all benchmarks fill alike.
  Record record(const bench::Contender& who) const;

 private:
  std::string mpi_version() const;  // empty where none takes part

  const BenchOptions& options_;
  World& world_;
  std::string placement_;
};

// Passes on what has been printed so far, since what follows may be interrupted. Throws as printing does.
void show_printed();

// Returns the machine of a benchmark on sim.
net::Machine modelled(const BenchOptions& options);

// Returns how OpenTCA's own chains are made.
bench::Way own_way(const BenchOptions& options);

// Returns "OpenTCA shm/direct, unguarded", or the peer's name.
std::string name_of(const bench::Contender& who);

// Returns a progress bar over all rounds and placements, shown on rank 0's terminal alone.
Progress bench_progress(const World& world, const BenchOptions& options, const std::string& label);

}  // namespace tca::tool
