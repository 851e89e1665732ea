#include "tune/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace tca::tool {

namespace {

using route::Cost;
using route::Distance;
using route::LayoutClass;
using route::Spacing;
using route::TuningTable;
using Samples = std::vector<Sample>;

// A smaller difference is within the noise of the clock and says nothing.
constexpr double least_us = 0.002;
constexpr double joined_within = 0.02;

// Returns the time that a fit takes for a sample. A measured time below the noise, or a negative one, says
// only that the time is small.
double time_of(const Sample& sample) { return std::max({sample.us, sample.noise_us, least_us}); }

struct Line {
  double setup_us = 0, us_per_run = 0, us_per_byte = 0;
  double worst = std::numeric_limits<double>::infinity();  // relative error, as a logarithm
  double sum = std::numeric_limits<double>::infinity();    // of the squares

  double at(const Sample& sample) const {
    return setup_us + us_per_run * static_cast<double>(sample.runs) +
           us_per_byte * static_cast<double>(sample.bytes());
  }
};

constexpr std::size_t terms = 3;
using Row = std::array<double, terms + 1>;

// Solves by Gaussian elimination with pivoting. Returns false where the terms cannot be told apart.
bool solve(std::array<Row, terms>& rows, std::size_t size, std::array<double, terms>& solution) {
  for (std::size_t c = 0; c < size; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < size; ++r)
      if (std::abs(rows[r][c]) > std::abs(rows[pivot][c])) pivot = r;
    if (std::abs(rows[pivot][c]) < 1e-9) return false;
    std::swap(rows[c], rows[pivot]);
    for (std::size_t r = 0; r < size; ++r) {
      if (r == c) continue;
      const double factor = rows[r][c] / rows[c][c];
      for (std::size_t k = c; k <= size; ++k) rows[r][k] -= factor * rows[c][k];
    }
  }
  for (std::size_t c = 0; c < size; ++c) solution[c] = rows[c][size] / rows[c][c];
  return true;
}

// Fits the terms of `used` alone (bit 0: setup, bit 1: per run, bit 2: per byte) by least squares with these
// weights. The result is infinitely bad where a cost would be negative.
Line weighted_line(const Samples& samples, unsigned used, const std::vector<double>& weights) {
  std::array<double, terms> scale{1, 1, 1};
  for (const Sample& s : samples) {
    scale[1] = std::max(scale[1], static_cast<double>(s.runs));
    scale[2] = std::max(scale[2], static_cast<double>(s.bytes()));
  }
  std::vector<std::size_t> chosen;
  for (std::size_t t = 0; t < terms; ++t)
    if ((used >> t & 1U) != 0) chosen.push_back(t);
  std::array<Row, terms> normal{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    const double us = time_of(s), weight = weights[i];
    const std::array<double, terms> value{weight, weight * static_cast<double>(s.runs) / scale[1],
                                          weight * static_cast<double>(s.bytes()) / scale[2]};
    for (std::size_t r = 0; r < chosen.size(); ++r) {
      for (std::size_t c = 0; c < chosen.size(); ++c) normal[r][c] += value[chosen[r]] * value[chosen[c]];
      normal[r][chosen.size()] += value[chosen[r]] * weight * us;
    }
  }
  Line line;
  std::array<double, terms> solution{};
  // Scales the rows to about the same size, whatever the times are.
  for (Row& row : normal) {
    const double most = std::abs(*std::max_element(row.begin(), row.end()));
    if (most > 0)
      for (double& v : row) v /= most;
  }
  if (!solve(normal, chosen.size(), solution)) return line;
  std::array<double, terms> all{};
  for (std::size_t i = 0; i < chosen.size(); ++i) all[chosen[i]] = solution[i] / scale[chosen[i]];
  if (all[1] < 0 || all[2] < 0) return line;
  line.setup_us = all[0];
  line.us_per_run = all[1];
  line.us_per_byte = all[2];
  line.worst = line.sum = 0;
  for (const Sample& s : samples) {
    const double error = std::log(std::max(line.at(s), least_us) / time_of(s));
    line.worst = std::max(line.worst, std::abs(error));
    line.sum += error * error;
  }
  return line;
}

// Fits a line to the relative errors. They are relative to the geometric mean of the measured time and the
// line's, since with the measured one alone points that scatter would pull the line down.
Line line_with(const Samples& samples, unsigned used) {
  std::vector<double> weights;
  for (const Sample& s : samples) weights.push_back(1 / time_of(s));
  Line line = weighted_line(samples, used, weights);
  constexpr int rounds = 3;
  for (int round = 0; round < rounds && std::isfinite(line.sum); ++round) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double us = time_of(samples[i]);
      weights[i] = 1 / std::sqrt(us * std::clamp(line.at(samples[i]), us / 4, us * 4));
    }
    const Line next = weighted_line(samples, used, weights);
    if (!std::isfinite(next.sum)) break;
    line = next;
  }
  return line;
}

// Returns the best line without negative costs, and the first of equally good ones. So where runs and bytes
// explain a time equally well, it is ascribed to the runs if they are short, and to the bytes if they are
// long.
Line best_line(const Samples& samples) {
  const bool by_run = samples.front().layout != LayoutClass::block && samples.front().run < 64;
  const std::array<unsigned, 5> orders =
      by_run ? std::array<unsigned, 5>{1, 3, 5, 2, 7} : std::array<unsigned, 5>{1, 5, 3, 4, 7};
  Line best;
  for (const unsigned used : orders) {
    const Line line = line_with(samples, used);
    if (line.sum < best.sum * 0.999) best = line;
  }
  return best;
}

std::set<std::uint64_t> runs_of(const Samples& samples) {
  std::set<std::uint64_t> all;
  for (const Sample& s : samples) all.insert(s.run);
  return all;
}

// Returns the number of puts from which on a piece that describes a sample holds.
std::uint64_t puts_of(const Sample& sample) {
  return sample.layout == LayoutClass::block ? static_cast<std::uint64_t>(sample.puts) : 1;
}

// The samples of a channel for one layout, spacing and distance, with runs of one length or of two
// neighbouring lengths.
class Strip {
 public:
  Strip(Samples samples, std::uint64_t from_run) : samples_(std::move(samples)), from_run_(from_run) {
    for (const Sample& s : samples_) sizes_.insert(s.bytes());
  }

  void fit(double crossing_us, TuningTable& table) const {
    const std::vector<std::uint64_t> sizes(sizes_.begin(), sizes_.end());
    std::size_t begin = 0;
    while (begin == 0 || begin + 1 < sizes.size()) {
      std::size_t end = std::min(begin + 1, sizes.size() - 1);
      Line line = best_line(between(sizes[begin], sizes[end]));
      for (std::size_t further = end + 1; further < sizes.size(); ++further) {
        const Line joined = best_line(between(sizes[begin], sizes[further]));
        if (joined.worst > joined_within) break;
        line = joined;
        end = further;
      }
      std::uint64_t from = sizes[begin];
      if (begin == 0) {
        const double us = time_at(line, from);
        if (line.setup_us < least_share * us) {
          add(0, {.setup_us = us}, crossing_us, table);
        } else {
          from = 0;
        }
      }
      add(from, line, crossing_us, table);
      if (end + 1 >= sizes.size()) {
        const double us = time_at(line, sizes.back());
        if (us - line.setup_us < least_share * us)
          add(sizes.back(), {.us_per_byte = us / static_cast<double>(sizes.back())}, crossing_us, table);
        return;
      }
      begin = end;
    }
  }

 private:
  static constexpr double least_share = 0.5;

  void add(std::uint64_t from_bytes, const Line& line, double crossing_us, TuningTable& table) const {
    const Sample& of = samples_.front();
    table.add({of.fabric, of.protocol, of.distance, of.layout, from_bytes, line.setup_us - crossing_us,
               1e3 * line.us_per_run, 1e3 * line.us_per_byte,
               of.layout == LayoutClass::block ? Spacing::any : of.spacing, from_run_, puts_of(of)});
  }

  // Returns what a line predicts for a size that was measured; the mean where it was measured with runs of
  // two lengths.
  double time_at(const Line& line, std::uint64_t bytes) const {
    double sum = 0;
    const Samples some = between(bytes, bytes);
    for (const Sample& s : some) sum += line.at(s);
    return sum / static_cast<double>(some.size());
  }

  Samples between(std::uint64_t least, std::uint64_t most) const {
    Samples some;
    for (const Sample& s : samples_)
      if (s.bytes() >= least && s.bytes() <= most) some.push_back(s);
    return some;
  }

  Samples samples_;
  std::uint64_t from_run_;
  std::set<std::uint64_t> sizes_;
};

void fit_strips(const Samples& samples, double crossing_us, TuningTable& table) {
  if (samples.front().layout == LayoutClass::block) return Strip(samples, 0).fit(crossing_us, table);
  const std::set<std::uint64_t> known = runs_of(samples);
  const std::vector<std::uint64_t> lengths(known.begin(), known.end());
  for (std::size_t i = 0; i == 0 || i + 1 < lengths.size(); ++i) {
    const std::uint64_t next = lengths[std::min(i + 1, lengths.size() - 1)];
    Samples strip;
    for (const Sample& s : samples)
      if (s.run == lengths[i] || s.run == next) strip.push_back(s);
    Strip(std::move(strip), i == 0 ? 0 : lengths[i]).fit(crossing_us, table);
  }
}

}  // namespace

void fit(std::span<const Sample> samples, const std::function<double(Distance)>& crossing_us,
         TuningTable& table) {
  using Key = std::tuple<std::string, std::string, Distance, LayoutClass, Spacing, std::uint64_t>;
  std::map<Key, Samples> groups;
  for (const Sample& s : samples) {
    const Spacing apart = s.layout == LayoutClass::block ? Spacing::any : s.spacing;
    groups[{s.fabric, s.protocol, s.distance, s.layout, apart, puts_of(s)}].push_back(s);
  }
  // Subtract at most nine tenths of the least time: costs of nothing could not be told apart.
  std::map<Distance, double> least;
  for (const Sample& s : samples) {
    const auto [found, is_new] = least.try_emplace(s.distance, time_of(s));
    if (!is_new) found->second = std::min(found->second, time_of(s));
  }
  for (const auto& [key, group] : groups) {
    const Distance distance = std::get<Distance>(key);
    const double shared = std::min(std::max(0.9 * least[distance], 0.0), crossing_us(distance));
    fit_strips(group, shared, table);
  }
}

}  // namespace tca::tool
