// What `tca tune` says and writes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "route/fit.hpp"
#include "tune_survey.hpp"

namespace tca::tool {

// The medians, as the fit takes them.
std::vector<route::Sample> samples_of(const Survey& survey);

// The table that describes a survey.
route::TuningTable table_of(const Survey& survey);

// How far the table's costs lie from the medians: |cost / median - 1| with the time of a signal in both.
struct FitQuality {
  double median = 0, worst_of_ten = 0;  // the latter: what nine of ten stay below
};
FitQuality quality_of(const Survey& survey, const route::TuningTable& table);

// Everything measured, a line a point.
void print_trace(const Survey& survey, const route::TuningTable& table);

// For each kind of put which channel is the cheapest, by size.
void print_summary(const Survey& survey, const route::TuningTable& table);

// One line of docs/results.md for each point and channel.
void append_json(const Survey& survey, const route::TuningTable& table, const std::string& path);

// Of the points that were held against the table: how many took a channel within a tenth of the best one.
struct Verdict {
  struct Miss {
    std::string put, where, chosen, best;
    double chosen_us = 0, best_us = 0;
    double loss() const { return chosen_us / best_us - 1; }
  };
  std::size_t points = 0, good = 0;                        // by the cost of the exchange alone
  std::size_t good_steps = 0;                              // by the time of the whole step
  std::map<std::string, std::pair<int, int>> by_distance;  // good, and all
  std::vector<Miss> misses;                                // the worst first
  double share() const { return points == 0 ? 0 : static_cast<double>(good) / static_cast<double>(points); }
};

inline constexpr double equal_within = 0.10;

Verdict verdict_of(const Survey& survey);
void print(const Verdict& verdict, const Survey& survey);

}  // namespace tca::tool
