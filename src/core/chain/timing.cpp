#include "tca/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "core/words.hpp"

namespace tca {

namespace {

constexpr int first_bits = 4;  // the first two buckets hold 0 and all below 16 ns

std::string in_words(const TimeDistribution& times) {
  if (times.count() == 0) return "-";
  return fmt::format("{:.2f} {:.2f} {:.2f}", times.minimum_us(), times.median_us(), times.p99_us());
}

nlohmann::ordered_json json_of(const TimeDistribution& times) {
  auto buckets = nlohmann::ordered_json::array();
  for (int bucket = 0; bucket < TimeDistribution::bucket_count; ++bucket)
    if (const std::uint64_t count = times.buckets()[static_cast<std::size_t>(bucket)]; count > 0)
      buckets.push_back({TimeDistribution::lower_bound_ns(bucket), count});
  return {{"count", times.count()},           {"minimum_us", times.minimum_us()},
          {"median_us", times.median_us()},   {"p99_us", times.p99_us()},
          {"maximum_us", times.maximum_us()}, {"total_us", times.total_us()},
          {"buckets", std::move(buckets)}};
}

}  // namespace

int TimeDistribution::bucket_of(std::int64_t ns) {
  if (ns < std::int64_t{1} << first_bits) return ns > 0 ? 1 : 0;
  const int top = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(ns))) - 1;
  const int upper_half = static_cast<int>(ns >> (top - 1) & 1);
  return std::min(2 + 2 * (top - first_bits) + upper_half, bucket_count - 1);
}

std::int64_t TimeDistribution::lower_bound_ns(int bucket) {
  if (bucket < 2) return bucket;
  const int top = (bucket - 2) / 2 + first_bits;
  const std::int64_t half = std::int64_t{1} << (top - 1);
  return bucket % 2 == 0 ? 2 * half : 3 * half;
}

void TimeDistribution::add(std::int64_t ns) {
  ns = std::max<std::int64_t>(ns, 0);
  ++buckets_[static_cast<std::size_t>(bucket_of(ns))];
  minimum_ns_ = count_ == 0 ? ns : std::min(minimum_ns_, ns);
  maximum_ns_ = std::max(maximum_ns_, ns);
  total_ns_ += ns;
  ++count_;
}

double TimeDistribution::quantile_us(double fraction) const {
  if (count_ == 0) return 0;
  const double place = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_ - 1);
  double before = 0;
  int bucket = 0;
  const auto in = [&] { return static_cast<double>(buckets_[static_cast<std::size_t>(bucket)]); };
  while (before + in() <= place) before += in(), ++bucket;
  if (bucket == 0) return 0;
  const bool is_last = bucket == bucket_count - 1;
  const auto lower = static_cast<double>(lower_bound_ns(bucket));
  const auto upper = static_cast<double>(is_last ? maximum_ns_ : lower_bound_ns(bucket + 1));
  const double ns = lower + (upper - lower) * (place - before + 0.5) / in();
  return std::clamp(ns, static_cast<double>(minimum_ns_), static_cast<double>(maximum_ns_)) * 1e-3;
}

std::string Timing::describe() const {
  if (!timed)
    return fmt::format(
        "chain '{}' is not timed; ask for it before the commit: option timed of the chain, option timing of "
        "the world, or "
        "OPENTCA_TIMING=1\n",
        chain);
  if (messages.empty()) return fmt::format("chain '{}' is timed, and nobody sends to this rank\n", chain);
  std::uint64_t untimed = 0;
  std::vector<std::vector<std::string>> rows{
      {"from", "over", "messages", "at once", "predicted", "carriage us", "waiting us"},
      {"", "", "", "", "", "min median p99", "min median p99"}};
  for (const MessageTiming& message : messages) {
    std::vector<std::string> row{fmt::format("rank {}", message.from), message.fabric};
    if (message.measured)
      row.insert(row.end(), {fmt::format("{}", message.count), fmt::format("{}", message.there_at_once),
                             message.predicted_us ? fmt::format("{:.2f}", *message.predicted_us) : "-",
                             in_words(message.carriage), in_words(message.waiting)});
    else
      row.push_back("not timed: it comes by a stage, by several fabrics or element by element");
    rows.push_back(std::move(row));
    untimed += message.untimed;
  }
  std::string text = core::in_columns(rows);
  if (untimed > 0)
    text +=
        fmt::format("  and {} message{} without times (tca/timing.hpp)\n", untimed, untimed == 1 ? "" : "s");
  return text;
}

std::string Timing::json() const {
  nlohmann::ordered_json all{{"chain", chain}, {"timed", timed}};
  auto& list = all["messages"] = nlohmann::ordered_json::array();
  for (const MessageTiming& message : messages) {
    nlohmann::ordered_json one{
        {"from", message.from}, {"fabric", message.fabric}, {"measured", message.measured}};
    if (message.predicted_us) one["predicted_us"] = *message.predicted_us;
    one["count"] = message.count;
    if (message.untimed > 0) one["untimed"] = message.untimed;
    one["there_at_once"] = message.there_at_once;
    one["waiting"] = json_of(message.waiting);
    one["carriage"] = json_of(message.carriage);
    list.push_back(std::move(one));
  }
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);  // names may be any bytes
}

}  // namespace tca
