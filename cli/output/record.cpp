// Writes one measurement as one line of JSON, in the format of docs/results.md.
#include "cli/output/record.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/system/whole_file.hpp"
#include "cli/launch/cores.hpp"
#include "cli/launch/launch.hpp"
#include "cli/output/build_info.hpp"
#include "tca/error.hpp"
#include "tca/version.hpp"

namespace tca::tool {
namespace {

using Json = nlohmann::ordered_json;

bool is_plain(const std::string& argument) {
  const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
  return !argument.empty() && argument.find_first_not_of(plain) == std::string::npos;
}

// Returns the command line as a shell reads it, without the folder of the program, which means nothing
// elsewhere.
std::string command() {
  std::string line;
  for (std::string argument : own_command_line()) {
    if (line.empty()) argument = argument.substr(argument.rfind('/') + 1);
    if (!is_plain(argument)) {
      for (std::size_t at = 0; (at = argument.find('\'', at)) != std::string::npos; at += 4)
        argument.replace(at, 1, "'\\''");
      argument = "'" + argument + "'";
    }
    line += (line.empty() ? "" : " ") + argument;
  }
  return line;
}

Json versions(const std::string& mpi_version, const Json& libraries) {
  Json versions{{"opentca", library_version()}, {"compiler", build_compiler()}};
  if (*build_type()) versions["build"] = build_type();
  if (!mpi_version.empty()) versions["mpi"] = mpi_version;
  versions.update(libraries);
  return versions;
}

}  // namespace

std::string Record::line() const {
  const double median = base::median(samples_us);
  Json json{{"bench", bench}, {"fabric", fabric}, {"protocol", protocol}, {"start", start}};
  json["peer"] = peer ? Json(*peer) : Json(nullptr);
  json["layout"] = layout;
  json["ranks"] = ranks;
  json["n"] = n;
  json["bytes"] = bytes;
  json["median_us"] = rounded(median);
  json["p99_us"] = rounded(quantile(samples_us, 0.99));
  const bool has_bandwidth =
      tca::bench::has_bandwidth(bench) && bytes > 0 && !tca::bench::is_below_noise(samples_us);
  json["gbps"] = has_bandwidth ? Json(rounded(static_cast<double>(bytes) / median / 1000)) : Json(nullptr);
  json.update(extra);
  json["hardware"] = !model.empty() ? "model of " + model
                     : gpus.empty() ? hardware()
                                    : gpus + "; " + hardware();
  json["versions"] = versions(mpi_version, libraries);
  json["commit"] = build_commit();
  json["command"] = command();
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void add_ratio(const std::string& name, const std::optional<bench::Spread>& ratio, Record& record) {
  const auto add = [&](const std::string& key, double bench::Spread::*value) {
    record.extra[key] = ratio ? Json(rounded((*ratio).*value)) : Json(nullptr);
  };
  add(name, &bench::Spread::median);
  add(name + "_low", &bench::Spread::low);
  add(name + "_high", &bench::Spread::high);
}

void append_line(const std::string& path, const std::string& line) {
  if (const int error = base::append_whole(path, line + '\n'))
    throw Error(Errc::invalid_argument, fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  return std::stod(fmt::format("{:.4g}", value));
}

std::string versions_in_words(const std::string& mpi_version) {
  std::string text = fmt::format("OpenTCA {} ({}), {}", library_version(), build_commit(), build_compiler());
  if (*build_type()) text += fmt::format(", {}", build_type());
  if (!mpi_version.empty()) text += ", " + mpi_version;
  return text;
}

std::string hardware() {
  // Looked up once instead of for each of many lines, since /proc/cpuinfo takes the kernel many milliseconds
  // on some machines.
  static const std::string cpu = cpu_model();
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);  // all cores of the host, not only those of this rank
  return fmt::format("{}, {} core{}", cpu, cores, cores == 1 ? "" : "s");
}

}  // namespace tca::tool
