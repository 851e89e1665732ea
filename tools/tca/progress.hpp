// A progress bar on a terminal; silent when stderr is anything else.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace tca::tool {

// How wide the terminal is that stderr is, or that a launcher in between says it leads to; 0 when it leads to none.
int terminal_columns();
inline constexpr const char* terminal_columns_variable = "OPENTCA_TERMINAL_COLUMNS";

// Used by one rank only. `update` is cheap enough for a loop that takes microseconds a turn.
class Progress {
 public:
  // `total` in whatever unit `update` counts; 0 shows nothing.
  Progress(std::string label, std::int64_t total);

  // For work limited by time: the bar fills as time passes, `update` says only that we are alive.
  Progress(std::string label, std::chrono::duration<double> limit);

  // Wipes the bar, so that what is printed next starts on an empty line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` is shown after the bar, such as the present residual.
  void update(std::int64_t done, const std::string& note = {});

  // Whether the next `update` would draw, so that a costly note need be made only then.
  bool due() const;

 private:
  using Clock = std::chrono::steady_clock;
  void draw(double fraction, const std::string& note);

  std::string label_;
  std::int64_t total_ = 0;
  std::chrono::duration<double> limit_{0};
  bool shown_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_draw_ = begin_;
};

}  // namespace tca::tool
