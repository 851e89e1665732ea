// How a census is shown.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>

#include "mpi/census/collect.hpp"

namespace tca::interposer::census {

namespace {

struct Sum {
  std::string call;
  std::int64_t calls = 0, bytes = 0;
  std::vector<double> seconds;  // by rank

  double mean() const {
    return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
  }
  double highest() const { return *std::ranges::max_element(seconds); }
};

void add(Sum& sum, const Row& row) {
  sum.calls += row.calls;
  sum.bytes += row.bytes;
  sum.seconds[static_cast<std::size_t>(row.rank)] += row.seconds;
}

Sum* find(std::vector<Sum>& sums, const std::string& call) {
  const auto found = std::ranges::find(sums, call, &Sum::call);
  return found == sums.end() ? nullptr : &*found;
}

std::vector<Sum> by_call(const Census& census) {
  std::vector<Sum> sums;
  const std::vector<double> nothing(census.seconds.size());
  for (const Row& row : census.rows) {
    if (find(sums, row.call) == nullptr) sums.push_back({.call = row.call, .seconds = nothing});
    add(*find(sums, row.call), row);
  }
  std::ranges::sort(sums, [](const Sum& a, const Sum& b) { return a.mean() > b.mean(); });
  return sums;
}

}  // namespace

std::string table(const Census& census) {
  Sum run{.call = "the run", .seconds = census.seconds},
      served{.seconds = std::vector<double>(census.seconds.size())};
  for (const Row& row : census.rows)
    if (row.is_served) add(served, row);
  const auto share = [&](const Sum& sum) { return 100 * sum.mean() / run.mean(); };
  std::string text =
      fmt::format("tca mpi: census of {} ranks, {:.3f} s\n{:<26}{:>14}{:>16}{:>12}{:>12}{:>9}\n",
                  census.seconds.size(), run.mean(), "", "calls", "bytes", "mean s", "most s", "share");
  for (const Sum& sum : by_call(census))
    text += fmt::format("{:<26}{:>14}{:>16}{:>12.6f}{:>12.6f}{:>7.1f} %\n", sum.call, sum.calls, sum.bytes,
                        sum.mean(), sum.highest(), share(sum));
  text += fmt::format(
      "OpenTCA serves {} of these calls, {:.1f} % of the run. At twice their speed it would be {:.1f} % "
      "shorter, at most: "
      "the time that ranks wait for late ones stays.\n",
      served.calls, share(served), share(served) / 2);
  return text;
}

std::string json_lines(const Census& census) {
  std::string text;
  for (const Row& row : census.rows) {
    nlohmann::ordered_json line{{"bench", "census"},
                                {"rank", row.rank},
                                {"call", row.call},
                                {"calls", row.calls},
                                {"bytes", row.bytes},
                                {"seconds", row.seconds},
                                {"run_seconds", census.seconds[static_cast<std::size_t>(row.rank)]},
                                {"served", row.is_served}};
    if (!row.comm.empty()) line["communicator"] = row.comm, line["ranks"] = row.ranks;
    if (!row.type.empty()) line["datatype"] = row.type, line["size_class"] = row.size_class;
    text += line.dump() + "\n";
  }
  return text;
}

}  // namespace tca::interposer::census
