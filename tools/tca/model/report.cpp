#include "model/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/output/record.hpp"
#include "model/grid.hpp"

namespace tca::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, costs> keys{"kernels_us", "launches_us", "host_us", "puts_us", "mpi_us"};
constexpr std::size_t most_wires = 16;

double share(double part, double whole) { return whole > 0 ? part / whole * 100 : 0; }

const char* what_is_timed(const std::string& program) {
  if (program == "pingpong") return "one way";
  if (program == "fft") return "a transform";
  return exchanges_faces(program) || is_loop(program) ? "an iteration" : "the whole";
}

void print_costs(const ModelResult& result) {
  double sum = 0;
  for (const CostUse& use : result.spent) sum += use.mean_us;
  fmt::print("\n  {:<30}{:>12}{:>10}{:>12}{:>12}\n", "a rank's time, us", "mean", "share", "least", "most");
  for (const CostUse& use : result.spent)
    if (use.most_us > 0)
      fmt::print("  {:<30}{:>12.4g}{:>8.1f} %{:>12.4g}{:>12.4g}\n", to_string(use.cost), use.mean_us,
                 share(use.mean_us, sum), use.least_us, use.most_us);
  fmt::print("  {:<30}{:>12.4g}\n", "together", sum);
  if (result.moving_us > 0)
    fmt::print("  {:<30}{:>12.4g}\n", "beside it: DMA, by its chains", result.moving_us);
}

void print_wires(const ModelResult& result) {
  std::vector<WireUse> wires = result.wires;
  std::ranges::stable_sort(wires, std::ranges::greater{}, &WireUse::share);
  fmt::print("\n  {:<30}{:>12}{:>14}{:>12}   {}\n", "links", "in use", "mean busy us", "busiest", "which is");
  for (std::size_t i = 0; i < std::min(wires.size(), most_wires); ++i)
    fmt::print("  {:<30}{:>12}{:>14.4g}{:>10.1f} %   {}\n", wires[i].name, wires[i].links, wires[i].busy_us,
               wires[i].share * 100, wires[i].busiest);
  if (wires.size() > most_wires)
    fmt::print("  and {} more, none busier than {:.1f} %\n", wires.size() - most_wires,
               wires[most_wires].share * 100);
}

}  // namespace

void print_model(const ModelOptions& options, const ModelResult& result) {
  fmt::print("{} on {}: {} rank{}{}, {}{}, fidelity {}\n", options.program, result.title, result.ranks,
             result.ranks == 1 ? "" : "s", result.grid.empty() ? "" : ", grid " + result.grid, result.scheme,
             result.algorithm.empty() ? "" : ", algorithm " + result.algorithm, result.fidelity);
  fmt::print("  {}: {:.4g} us", what_is_timed(options.program), result.mean_us);
  constexpr std::size_t most_samples = 5;
  if (result.samples_us.size() > 1 && result.samples_us.size() <= most_samples)
    fmt::print(" ({:.4g} us each)", fmt::join(result.samples_us, ", "));
  fmt::print("\n");
  print_costs(result);
  print_wires(result);
  fmt::print("\n  {} events in {:.2g} s\n", result.events, result.seconds);
}

std::string model_line(const ModelOptions& options, const ModelResult& result, const std::string& point) {
  Record record;
  record.bench = options.program;
  record.fabric = "model";
  record.protocol = result.scheme;
  record.layout = !result.grid.empty() ? result.grid : "block";
  record.ranks = static_cast<int>(result.ranks);
  record.n = result.n;
  record.bytes = static_cast<std::int64_t>(result.bytes);
  record.samples_us = result.samples_us;
  record.extra["machine"] = options.machine;
  record.extra["fidelity"] = result.fidelity;
  if (!result.algorithm.empty()) record.extra["algorithm"] = result.algorithm;
  record.extra["mean_us"] = result.mean_us;
  for (std::size_t i = 0; i < costs; ++i) record.extra[keys[i]] = result.spent[i].mean_us;
  record.extra["dma_us"] = result.moving_us;
  Json links = Json::object();
  for (const WireUse& wire : result.wires) links[wire.name] = wire.share;
  record.extra["links"] = links;
  if (!point.empty()) record.extra["point"] = point;
  // The hardware of the record is the modelled machine, not the host that ran the model.
  Json line = Json::parse(record.line());
  line["hardware"] = "model of " + result.title;
  return line.dump();
}

void print_sweep_header(const std::string& names) {
  fmt::print("{:<32}{:>10}{:>12}{:>11}{:>11}{:>11}{:>11}{:>11}\n", names, "us", "GB/s", "kernels", "launches",
             "host", "puts", "MPI");
}

void print_sweep_row(const std::string& point, const std::string& text) {
  const Json line = Json::parse(text);
  const Json& gbps = line.at("gbps");  // null where no bandwidth is meant
  fmt::print("{:<32}{:>10.4g}{:>12}", point, line.at("mean_us").get<double>(),
             gbps.is_null() ? "" : fmt::format("{:.4g}", gbps.get<double>()));
  for (const char* key : keys) fmt::print("{:>11.4g}", line.at(key).get<double>());
  fmt::print("\n");
}

}  // namespace tca::tool
