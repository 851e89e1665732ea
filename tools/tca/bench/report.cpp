#include "bench/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "options/mpi_options.hpp"
#include "route/bring_up.hpp"
#include "shared/mpi_session.hpp"

namespace tca::tool {
namespace {

using Row = BenchReport::Row;

// Returns OpenTCA's record that a peer's ratio refers to; null when there is none.
const Record* own_beside(const Record& peer, const std::vector<Row>& all) {
  const auto is_like_it = [&](const Record& own) {
    const auto differs = [&](const char* key) {
      return peer.extra.contains(key) && own.extra.contains(key) && peer.extra[key] != own.extra[key];
    };
    return own.start == peer.start && !differs("guarded") && !differs("scope");
  };
  const auto order_of = [&](const Record& own) {
    return std::pair(!is_like_it(own), median(own.samples_us));
  };
  const Record* best = nullptr;
  for (const Row& row : all) {
    if (row.record.peer) continue;
    if (best == nullptr || order_of(row.record) < order_of(*best)) best = &row.record;
  }
  return best;
}

}  // namespace

void BenchReport::header(const char* first) const {
  if (world_.rank() != 0) return;
  fmt::print("{:<24}{:<44}{:>12}{:>12}{:>10}{:>9}\n", first, "who", "median us", "p99 us", "GB/s", "ratio");
  show_printed();
}

void BenchReport::rows(const std::string& first, std::vector<Row> all) const {
  for (Row& row : all) {
    Record& record = row.record;
    const double median = base::median(record.samples_us);
    double ratio = 0;
    if (const Record* own = record.peer ? own_beside(record, all) : nullptr)
      ratio = ratio_by_round(record.samples_us, own->samples_us);
    if (ratio > 0) record.extra["ratio"] = rounded(ratio);
    // The cost beyond a bare step is a difference, which a few disturbed samples can make negative.
    const std::string figures =
        median < 0 ? fmt::format("{:>24}{:>10}", "below the noise", "")
                   : fmt::format("{:>12.4g}{:>12.4g}{:>10.4g}", median, quantile(record.samples_us, 0.99),
                                 static_cast<double>(record.bytes) / median * 1e-3);
    fmt::print("{:<24}{:<44}{}{:>9}\n", first, row.name, figures,
               ratio > 0 ? fmt::format("{:.2f}", ratio) : "");
    if (!options_.json.empty()) append_line(options_.json, record.line());
  }
  show_printed();
}

Record BenchReport::record(const bench::Contender& who) const {
  Record record;
  record.bench = options_.what;
  record.fabric = who.fabric;
  record.protocol = who.protocol;
  if (!who.peer.empty()) record.peer = who.peer;
  record.ranks = world_.size();
  if (options_.fabric == "sim") record.model = modelled(options_).title;
  if (options_.against("mpi") || is_over_mpi(options_.fabric)) record.mpi_version = apps::mpi_version();
  record.extra["guarded"] = who.guarded;
  return record;
}

void show_printed() {
  if (std::fflush(stdout) != 0) throw fmt::system_error(errno, "standard output");
}

net::Machine modelled(const BenchOptions& options) {
  return net::read_machine(route::machine_name(options.machine));
}

bench::Way own_way(const BenchOptions& options) {
  return {options.fabric, options.route, !options.unguarded};
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
