#include "model/ledger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <sstream>

#include "base/fail.hpp"
#include "base/system/whole_file.hpp"

namespace tca::tool {

std::string_view to_string(Cost cost) {
  constexpr std::array<std::string_view, costs> names{"kernels", "launching, synchronising",
                                                      "posting, polling, copying", "waiting for puts",
                                                      "MPI and waiting in it"};
  return names[static_cast<std::size_t>(cost)];
}

void Ledger::spend(std::uint32_t rank, Cost cost, std::string_view what, des::Time begin, des::Time end) {
  if (end <= begin) return;
  spent_[rank][static_cast<std::size_t>(cost)] += end - begin;
  if (keeps_spans_) spans_.push_back({what, to_string(cost), rank, 0, 0, begin, end});
}

void Ledger::move(std::uint32_t rank, std::uint32_t channel, std::uint64_t bytes, des::Time begin,
                  des::Time end) {
  moving_[rank] += end - begin;
  if (keeps_spans_) spans_.push_back({"chain", "DMA", rank, channel + 1, bytes, begin, end});
}

void Ledger::end_iteration(std::size_t iteration, des::Time now) {
  if (iterations_.size() <= iteration) iterations_.resize(iteration + 1);
  iterations_[iteration] = std::max(iterations_[iteration], now);
}

void Ledger::write_trace(const std::string& path) const {
  std::ostringstream file;
  file << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* comma = "\n";
  const auto name = [&](const char* what, std::uint32_t rank, std::uint32_t lane, const std::string& text) {
    file << comma
         << fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}}}})", what, rank,
                        lane, text);
    comma = ",\n";
  };
  std::set<std::pair<std::uint32_t, std::uint32_t>> lanes;
  for (const Span& span : spans_) lanes.emplace(span.rank, span.lane);
  for (std::uint32_t rank = 0; rank < ranks(); ++rank)
    name("process_name", rank, 0, fmt::format("rank {}", rank));
  for (const auto& [rank, lane] : lanes)
    name("thread_name", rank, lane, lane == 0 ? "program" : fmt::format("DMA channel {}", lane - 1));
  for (const Span& span : spans_)
    file
        << comma
        << fmt::format(
               R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{:.6f},"dur":{:.6f},"args":{{"bytes":{}}}}})",
               span.what, span.kind, span.rank, span.lane, des::to_us(span.begin),
               des::to_us(span.end - span.begin), span.bytes);
  file << "\n]}\n";
  if (const int error = base::write_whole(path, file.str()))
    base::fail(Errc::invalid_argument, "{}: cannot be written: {}", path, std::strerror(error));
}

}  // namespace tca::tool
