#include "bench/report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "boot/bring_up.hpp"
#include "cli/options/mpi_options.hpp"
#include "measure/placement.hpp"
#include "measure/verdict.hpp"
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

std::string times_in_words(bool on_gpus) {
  const std::string words =
      "times     of the slowest rank; every contender writes all that it sends before each send, and\n"
      "          reads all that arrives\n";
  if (!on_gpus) return words;
  return words +
         "          (in its own kernel, or in kernels beside a graph or the host, whose time is taken off)\n";
}

constexpr const char* ratio_in_words =
    "ratio     the peer's time over OpenTCA's, round by round: above 1 OpenTCA is faster; in brackets the\n"
    "          middle half of the rounds\n";

// Returns the columns of a row: its times, and its bandwidth where the benchmark has one. The cost beyond a
// bare step is a difference, of which nothing may be left.
std::string figures(const Record& record) {
  const bool has_column = bench::has_bandwidth(record.bench);
  if (bench::is_below_noise(record.samples_us))
    return fmt::format("{:>24}{:>{}}", "below the noise", "", has_column ? 10 : 0);
  const double median = base::median(record.samples_us);
  const std::string times = fmt::format("{:>12.4g}{:>12.4g}", median, quantile(record.samples_us, 0.99));
  if (!has_column) return times;
  if (record.bytes == 0) return fmt::format("{}{:>10}", times, "");
  return fmt::format("{}{:>10.4g}", times, static_cast<double>(record.bytes) / median * 1e-3);
}

}  // namespace

BenchReport::BenchReport(const BenchOptions& options, World& world)
    : options_(options), world_(world), placement_(options.fabric == "sim" ? "" : bench::placement(world)) {}

std::string BenchReport::mpi_version() const {
  return options_.against("mpi") || is_over_mpi(options_.fabric) ? apps::mpi_version() : "";
}

void BenchReport::heading(const std::string& gpus) const {
  if (world_.rank() != 0) return;
  if (options_.fabric == "sim") {
    fmt::print("machine   a model of {}, in its own time\n", modelled(options_).title);
  } else {
    fmt::print("machine   {}{}\n", gpus.empty() ? "" : gpus + "; ", hardware());
    fmt::print("ranks     {}\n", placement_);
  }
  fmt::print("versions  {}\n", versions_in_words(mpi_version()));
  if (options_.what != "commit") fmt::print("{}", times_in_words(!gpus.empty()));
  if (!options_.peers.empty() && options_.what != "overlap") fmt::print("{}", ratio_in_words);
  fmt::print("\n");
}

void BenchReport::header(const char* first, const std::string& gpus) const {
  heading(gpus);
  if (world_.rank() != 0) return;
  fmt::print("{:<24}{:<44}{:>12}{:>12}", first, "who", "median us", "p99 us");
  if (bench::has_bandwidth(options_.what)) fmt::print("{:>10}", "GB/s");
  fmt::print("{}\n", options_.peers.empty() ? "" : "  ratio");
  show_printed();
}

void BenchReport::rows(const std::string& first, std::vector<Row> all) const {
  for (Row& row : all) {
    Record& record = row.record;
    std::string ratio;
    if (const Record* own = record.peer ? own_beside(record, all) : nullptr) {
      const auto spread = bench::ratio_by_round(record.samples_us, own->samples_us);
      add_ratio("ratio", spread, record);
      if (spread) ratio = "  " + bench::to_string(*spread);
    }
    fmt::print("{:<24}{:<44}{}{}\n", first, row.name, figures(record), ratio);
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
  record.mpi_version = mpi_version();
  record.extra["guarded"] = who.guarded;
  if (!placement_.empty()) record.extra["placement"] = placement_;
  return record;
}

void show_printed() {
  if (std::fflush(stdout) != 0) throw fmt::system_error(errno, "standard output");
}

net::Machine modelled(const BenchOptions& options) {
  return net::read_machine(boot::machine_name(options.machine));
}

bench::Way own_way(const BenchOptions& options) {
  return {options.fabric, options.channel, !options.unguarded};
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
