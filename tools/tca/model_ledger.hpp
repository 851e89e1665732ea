// What ranks of a modelled machine spent their time on, and, for a timeline, when.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "des/time.hpp"

namespace tca::tool {

// Of a rank's program, one at a time; together they are all of its time.
enum class Cost : std::uint8_t { kernels, launches, host, puts, messages };

constexpr std::size_t costs = 5;
std::string_view to_string(Cost cost);

class Ledger {
 public:
  // `keeps_spans` for a timeline.
  Ledger(std::uint32_t ranks, bool keeps_spans) : spent_(ranks), moving_(ranks), keeps_spans_(keeps_spans) {}

  // `what` is a literal.
  void spend(std::uint32_t rank, Cost cost, std::string_view what, des::Time begin, des::Time end);
  // A chain of the rank's on its way, beside its program.
  void move(std::uint32_t rank, std::uint32_t channel, std::uint64_t bytes, des::Time begin, des::Time end);
  // A rank has come to the end of an iteration.
  void end_iteration(std::size_t iteration, des::Time now);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(spent_.size()); }
  des::Time spent(std::uint32_t rank, Cost cost) const {
    return spent_[rank][static_cast<std::size_t>(cost)];
  }
  des::Time moving(std::uint32_t rank) const { return moving_[rank]; }
  // When the last rank came to the end of each.
  const std::vector<des::Time>& iterations() const { return iterations_; }

  // Chrome's trace format, which ui.perfetto.dev opens: a process a rank, its program and its DMA channels as threads.
  // Throws Error{invalid_argument} when the file cannot be written.
  void write_trace(const std::string& path) const;

 private:
  struct Span {
    std::string_view what, kind;
    std::uint32_t rank, lane;
    std::uint64_t bytes;
    des::Time begin, end;
  };

  std::vector<std::array<des::Time, costs>> spent_;
  std::vector<des::Time> moving_, iterations_;
  std::vector<Span> spans_;
  bool keeps_spans_;
};

}  // namespace tca::tool
