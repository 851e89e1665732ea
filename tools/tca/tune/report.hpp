// Reports what `tca tune` has found, and makes its table.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tune/fit.hpp"
#include "tune/survey.hpp"

namespace tca::tool {

// Returns the medians as samples for the fit.
std::vector<Sample> samples_of(const Survey& survey);

// Returns the table that describes a survey.
route::TuningTable table_of(const Survey& survey);

// How far the table's costs are from the medians: |cost / median - 1|, with the time of a signal in both.
struct FitQuality {
  double median = 0, worst_of_ten = 0;  // worst_of_ten: nine of ten stay below it
};
FitQuality quality_of(const Survey& survey, const route::TuningTable& table);

// What a table gains over the costs that chose in the worlds it was measured in, by whole steps.
struct Gain {
  std::size_t points = 0;                    // a put at each distance
  std::vector<double> faster;                // how many times as fast, of those that take another channel
  double most = 1;                           // the greatest of these
  std::string most_put, most_old, most_new;  // which put that was, and its channels
};
Gain gain_of(const Survey& survey, const route::TuningTable& table);

// Prints in a few lines what was measured, how well the table describes it, and what it gains.
void print_outcome(const Survey& survey, const route::TuningTable& table);

// Prints everything measured, a line for each point.
void print_trace(const Survey& survey, const route::TuningTable& table);

// Prints, for each kind of put, which channel is the cheapest at which sizes.
void print_summary(const Survey& survey, const route::TuningTable& table);

// Appends a line in the format of docs/results.md for each point and channel.
void append_json(const Survey& survey, const route::TuningTable& table, const std::string& path);

// The result of checking the table: how many points took a channel within a tenth of the best one.
struct Verdict {
  struct Miss {
    std::string put, where, chosen, best;
    double chosen_us = 0, best_us = 0;
    double loss() const { return chosen_us / best_us - 1; }
  };
  std::size_t points = 0, good = 0;                        // by the cost of the exchange alone
  std::size_t good_steps = 0;                              // by the time of the whole step
  std::map<std::string, std::pair<int, int>> by_distance;  // number of good ones, and of all
  std::vector<Miss> misses;                                // the worst first
  double share(std::size_t of_points) const {
    return points == 0 ? 0 : static_cast<double>(of_points) / static_cast<double>(points);
  }
};

inline constexpr double equal_within = 0.10;

Verdict verdict_of(const Survey& survey);
void print(const Verdict& verdict, const Survey& survey);

}  // namespace tca::tool
