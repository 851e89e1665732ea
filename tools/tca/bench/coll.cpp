#include "bench/coll.hpp"

#include <fmt/format.h>

#include "bench/report.hpp"
#include "cli/options/refuse.hpp"
#include "measure/measure.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

// Returns the default sizes of a block. The largest is left out where every rank holds a block for each other
// rank, since that would not fit small machines.
std::vector<std::size_t> own_sizes(const std::string& what) {
  if (what == "barrier") return {0};
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 2097152};
  if (what == "bcast" || what == "allreduce") sizes.push_back(16777216);
  return sizes;
}

void measure_size(World& world, const BenchOptions& options, const BenchReport& report, std::size_t bytes) {
  bench::CollTask task{options.what, bytes, options.fabric, {}, options.channel};
  const auto make = [&] {
    bench::Contenders<bench::Coll> all;
    for (const std::string& algorithm : options.algorithms) {
      task.algorithm = algorithm;
      all.push_back(bench::chain_coll(world, task));
    }
    if (all.empty()) all.push_back(bench::chain_coll(world, task));
    if (options.against("mpi")) all.push_back(bench::mpi_coll(world, task));
    return all;
  };
  const auto outcome = [&] {
    Progress bar = bench_progress(world, options, fmt::format("{} {}", options.what, bytes));
    return bench::measure(world, make, options.effort, [&](int rounds) { bar.update(rounds); });
  }();
  if (world.rank() != 0) return;
  std::vector<BenchReport::Row> rows;
  for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
    const bench::Coll& who = *outcome.contenders[i];
    Record record = report.record(who);
    record.layout = "block";
    record.n = static_cast<std::int64_t>(is_sum(options.what) ? bytes / sizeof(double) : bytes);
    record.bytes = static_cast<std::int64_t>(bytes);
    record.samples_us = outcome.samples[i];
    rows.push_back({name_of(who), record});
  }
  report.rows(std::to_string(bytes), std::move(rows));
}

}  // namespace

bool is_coll(const std::string& what) {
  return what == "barrier" || what == "bcast" || what == "allgather" || what == "allreduce" ||
         what == "reduce_scatter" || what == "alltoall";
}

bool is_sum(const std::string& what) { return what == "allreduce" || what == "reduce_scatter"; }

void check_coll_bench(const BenchOptions& options) {
  for (const std::string& peer : options.peers) {
    if (peer != "mpi") refuse("--peer {} knows no {}; mpi does", peer, options.what);
  }
  if (options.what == "barrier" && !options.sizes.empty())
    refuse("a barrier moves no bytes; leave --bytes out");
  for (const std::size_t bytes : options.sizes) {
    if (is_sum(options.what) && bytes % sizeof(double) != 0)
      throw Error(
          Errc::invalid_argument,
          fmt::format("--bytes {} is no number of doubles; {} needs multiples of 8", bytes, options.what));
  }
  if (options.unguarded) refuse("collectives are always guarded");
}

void run_coll_bench(World& world, const BenchOptions& options) {
  const BenchReport report(options, world);
  report.header("bytes, a block");
  for (const std::size_t bytes : options.sizes.empty() ? own_sizes(options.what) : options.sizes)
    measure_size(world, options, report, bytes);
}

}  // namespace tca::tool
