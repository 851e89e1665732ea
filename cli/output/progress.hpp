// A progress bar on a terminal. It is silent when stderr is not a terminal, when the terminal knows no escape
// sequences (TERM=dumb), and when NO_COLOR is set.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/environment.hpp"

namespace tca::tool {

// Returns the width of the terminal that stderr is or, according to a launcher in between, leads to. 0 when
// there is none that may be drawn on.
int terminal_columns();
inline constexpr base::VariableName terminal_columns_variable = "OPENTCA_TERMINAL_COLUMNS";

// A progress bar of one rank. `update` is cheap enough for a loop whose iterations take microseconds.
class Progress {
 public:
  // `total` is in the unit in which `update` counts; 0 shows nothing.
  Progress(std::string label, std::int64_t total);

  // For work limited by time: the bar fills as time passes, and `update` only says that the work goes on.
  Progress(std::string label, std::chrono::duration<double> limit);

  // Wipes the bar, so that the next output starts on an empty line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `note` is shown after the bar, such as the present residual.
  void update(std::int64_t done, const std::string& note = {});

  // Whether the next `update` would draw, so that the caller makes a costly note only then.
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

// Shows a progress bar for each kind of work, one after the other.
class Bars {
 public:
  // Returns what updates the bars, as applications call it; null for every rank but the first.
  std::function<void(const char* what, std::int64_t done, std::int64_t total)> shown_by(int rank) {
    if (rank != 0) return nullptr;
    return [this](const char* what, std::int64_t done, std::int64_t total) { update(what, done, total); };
  }

  void update(std::string_view what, std::int64_t done, std::int64_t total) {
    if (what != what_) {
      what_ = what;
      bar_.reset();
      bar_.emplace(std::string(what), total);
    }
    bar_->update(done);
  }

 private:
  std::string what_;
  std::optional<Progress> bar_;
};

}  // namespace tca::tool
