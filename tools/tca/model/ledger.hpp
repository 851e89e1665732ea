// Records what the ranks of a modelled machine spent their time on and, for a timeline, when.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/des/time.hpp"

namespace tca::tool {

// What a rank's program spends time on. It does one of these at a time, so together they are all of its time.
enum class Cost : std::uint8_t { kernels, launches, host, puts, messages };

constexpr std::size_t costs = 5;
std::string_view to_string(Cost cost);

class Ledger {
 public:
  // `keeps_spans` is needed for a timeline.
  Ledger(std::uint32_t ranks, bool keeps_spans) : spent_(ranks), moving_(ranks), keeps_spans_(keeps_spans) {}

  // Records time of a rank's program; `what` is a literal.
  void spend(std::uint32_t rank, Cost cost, std::string_view what, des::Time begin, des::Time end);
  // Records the time that a chain of the rank is under way, beside its program.
  void move(std::uint32_t rank, std::uint32_t channel, std::uint64_t bytes, des::Time begin, des::Time end);
  // Records that a rank has come to the end of an iteration.
  void end_iteration(std::size_t iteration, des::Time now);

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(spent_.size()); }
  des::Time spent(std::uint32_t rank, Cost cost) const {
    return spent_[rank][static_cast<std::size_t>(cost)];
  }
  des::Time moving(std::uint32_t rank) const { return moving_[rank]; }
  // Returns for each iteration when the last rank came to its end.
  const std::vector<des::Time>& iterations() const { return iterations_; }

  // Writes Chrome's trace format, which ui.perfetto.dev opens. Each rank is a process, whose threads are its
  // program and its DMA channels. Throws Error{invalid_argument} when the file cannot be written.
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
