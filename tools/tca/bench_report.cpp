#include "bench_report.hpp"

#include <fmt/format.h>

#include "route/bring_up.hpp"

namespace tca::tool {

void BenchReport::header(const char* first) const {
  if (world_.rank() != 0) return;
  fmt::print("{:<24}{:<44}{:>12}{:>12}{:>10}{:>9}\n", first, "who", "median us", "p99 us", "GB/s", "ratio");
}

void BenchReport::line(const std::string& first, const std::string& name, Record record,
                       const std::vector<double>& own) const {
  const double median = quantile(record.samples_us, 0.5);
  const double ratio = ratio_by_round(record.samples_us, own);
  if (record.peer) record.extra["ratio"] = rounded(ratio);
  fmt::print("{:<24}{:<44}{:>12.4g}{:>12.4g}{:>10.4g}{:>9}\n", first, name, median,
             quantile(record.samples_us, 0.99), static_cast<double>(record.bytes) / median * 1e-3,
             record.peer ? fmt::format("{:.2f}", ratio) : "");
  if (!options_.json.empty()) append_line(options_.json, record.line());
}

Record BenchReport::record(const bench::Contender& who) const {
  Record record;
  record.bench = options_.what;
  record.fabric = who.fabric;
  record.protocol = who.protocol;
  if (!who.peer.empty()) record.peer = who.peer;
  record.ranks = world_.size();
  if (options_.fabric == "sim") record.model = modelled(options_).title;
  if (options_.against("mpi")) record.mpi_version = bench::mpi_version();
  record.extra["guarded"] = who.guarded;
  return record;
}

net::Machine modelled(const BenchOptions& options) {
  return net::read_machine(route::machine_name(options.machine));
}

std::string name_of(const bench::Contender& who) {
  if (!who.peer.empty()) return who.peer;
  return fmt::format("OpenTCA {}/{}{}", who.fabric, who.protocol, who.guarded ? "" : ", unguarded");
}

Progress bench_progress(const World& world, const BenchOptions& options, const std::string& label) {
  const bool shown = world.rank() == 0;
  return {shown ? label : "", shown ? options.effort.rounds * options.effort.placements : 0};
}

}  // namespace tca::tool
