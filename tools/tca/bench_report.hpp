// The table that `tca bench` prints, and the lines that it writes.
#pragma once

#include <string>

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

  // A row, and a line of the file. `name` is who was measured; a peer's ratio is by round to OpenTCA's own samples.
  void line(const std::string& first, const std::string& name, Record record,
            const std::vector<double>& own) const;

  // What all benchmarks say of a contender.
  Record record(const bench::Contender& who) const;

 private:
  const BenchOptions& options_;
  const World& world_;
};

// The machine of a benchmark on sim.
net::Machine modelled(const BenchOptions& options);

// "OpenTCA shm/direct, unguarded", or the peer's name.
std::string name_of(const bench::Contender& who);

// For so many rounds, on rank 0's terminal alone.
Progress bench_progress(const World& world, const BenchOptions& options, const std::string& label);

}  // namespace tca::tool
