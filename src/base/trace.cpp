#include "base/trace.hpp"

#include <nlohmann/json.hpp>

namespace tca::base {

Blob Trace::encode() const {
  Writer writer;
  const std::lock_guard lock(mutex_);
  for (const Span& span : spans_) {
    writer.put_string(span.name).put_string(span.detail).put(span.begin_us).put(span.end_us);
  }
  return writer.blob();
}

// Writes the "JSON object format" of the Trace Event specification: complete events (ph "X"), one process per
// rank.
std::string Trace::chrome_json(const std::vector<Blob>& ranks) {
  nlohmann::json events = nlohmann::json::array();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    events.push_back({{"ph", "M"},
                      {"name", "process_name"},
                      {"pid", rank},
                      {"args", {{"name", fmt::format("rank {}", rank)}}}});
    events.push_back(
        {{"ph", "M"}, {"name", "process_sort_index"}, {"pid", rank}, {"args", {{"sort_index", rank}}}});
    for (Reader reader(ranks[rank]); !reader.done();) {
      const std::string name = reader.get_string(), detail = reader.get_string();
      const auto begin = reader.get<double>(), end = reader.get<double>();
      nlohmann::json event{{"ph", "X"}, {"name", name}, {"pid", rank},
                           {"tid", 0},  {"ts", begin},  {"dur", end - begin}};
      if (!detail.empty()) event["args"] = {{"detail", detail}};
      events.push_back(std::move(event));
    }
  }
  return nlohmann::json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}.dump(
      1, ' ', false, nlohmann::json::error_handler_t::replace);  // a chain's name may contain any bytes
}

}  // namespace tca::base
