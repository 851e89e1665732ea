#include "scorecard/score.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fail.hpp"
#include "cli/launch/cores.hpp"
#include "scorecard/runs.hpp"

namespace tca::tool {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// Does the work. When the machine cannot do what the figure asks of it, the error names the figure's place.
template <class Work>
auto told_of(const Figure& figure, Work work) {
  try {
    return work();
  } catch (const Error& error) {
    base::fail(error.code(), "{}: \"{}\": {}", figure.place, figure.name, error.what());
  }
}

// What is known of a score before the model has run, and the function that runs it.
struct Job {
  Score score;
  std::function<void(Score&)> finish;
};

RunSettings at(RunSettings settings, const std::string& x, std::int64_t value) {
  (x == "n" ? settings.n : settings.bytes) = value;
  return settings;
}

class Evaluation {
 public:
  Evaluation(const Figure& figure, const Machines& machines) : figure_(figure), machines_(machines) {}

  // Returns the model's number of the figure, at the point x if the figure has one.
  double value(std::optional<std::int64_t> x) const {
    const double with = once(figure_.with, x);
    if (figure_.over) return with / once(*figure_.over, x);
    if (figure_.less) return with - once(*figure_.less, x);
    return with;
  }

  // Returns the size from which `with` takes longer than `over`, interpolated on a logarithmic scale between
  // the sizes tried. Infinite when it never does.
  double crossing() const {
    const std::vector<std::int64_t> sizes = sweep(figure_.x, figure_.run);
    double crossed = infinite;
    double before = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const double ratio = value(sizes[i]);
      const auto size = static_cast<double>(sizes[i]);
      if (ratio <= 1) {
        crossed = infinite;
      } else if (crossed == infinite) {
        const double last = i == 0 ? size : static_cast<double>(sizes[i - 1]);
        const double share = i == 0 ? 1 : -std::log(before) / (std::log(ratio) - std::log(before));
        crossed = last * std::pow(size / last, share);
      }
      before = ratio;
    }
    return crossed;
  }

  double greatest() const {
    double found = 0;
    for (const std::int64_t size : sweep(figure_.x, figure_.run)) found = std::max(found, value(size));
    return found;
  }

 private:
  double once(const RunSettings& settings, std::optional<std::int64_t> x) const {
    return told_of(figure_, [&] {
      return run(figure_.run, machines_.at(settings.machine), x ? at(settings, figure_.x, *x) : settings);
    });
  }

  const Figure& figure_;
  const Machines& machines_;
};

Score blank(const Figure& figure) {
  Score score;
  score.source = figure.source;
  score.figure = figure.name;
  score.unit = figure.unit;
  if (figure.use != Use::unusable || !figure.sizes.empty()) {
    score.settings = describe(figure.with);
    if (figure.over) score.settings += " over " + describe(*figure.over);
    if (figure.less) score.settings += " less " + describe(*figure.less);
  }
  score.use = figure.use;
  score.reason = figure.use == Use::unusable ? figure.reason : figure.note;
  return score;
}

void hold(Score& score, double published, double model) {
  score.published_value = published;
  score.model = model;
  score.error = model / published - 1;
}

// There is no error within [least, most].
void hold_in_range(Score& score, double least, double most, double model) {
  hold(score, model < least ? least : most, model);
  score.sharp = false;
  if (model >= least && model <= most) score.error = 0;
}

std::string config_of(const std::string& x, std::int64_t value) {
  return x == "n" ? fmt::format("n = {}", value) : fmt::format("{} B", value);
}

void add_points(const Figure& figure, const Machines& machines, std::vector<Job>& jobs) {
  for (const auto& [x, published] : figure.points) {
    Job job{blank(figure), {}};
    job.score.config = config_of(figure.x, x);
    job.score.published = fmt::format("{:.4g}", published);
    if (figure.use != Use::unusable)
      job.finish = [&figure, &machines, x = x, published = published](Score& score) {
        hold(score, published, Evaluation(figure, machines).value(x));
      };
    jobs.push_back(std::move(job));
  }
}

void add_curve(const Figure& figure, const Machines& machines, std::vector<Job>& jobs) {
  for (const std::int64_t x : figure.sizes) {
    Job job{blank(figure), {}};
    job.score.config = config_of(figure.x, x);
    job.score.drawn = true;
    job.finish = [&figure, &machines, x](Score& score) {
      score.model = Evaluation(figure, machines).value(x);
    };
    jobs.push_back(std::move(job));
  }
}

void add_bound(const Figure& figure, const Machines& machines, std::vector<Job>& jobs) {
  Job job{blank(figure), {}};
  const double least = figure.at_least ? *figure.at_least : figure.between ? figure.between->first : 0;
  const double most = figure.at_most ? *figure.at_most : figure.between ? figure.between->second : infinite;
  job.score.published = figure.at_least  ? fmt::format("at least {:.4g}", least)
                        : figure.at_most ? fmt::format("at most {:.4g}", most)
                                         : fmt::format("{:.6g} to {:.6g}", least, most);
  job.score.sharp = false;
  if (figure.use != Use::unusable)
    job.finish = [&figure, &machines, least, most](Score& score) {
      const Evaluation evaluation(figure, machines);
      hold_in_range(score, least, most, figure.x.empty() ? evaluation.value({}) : evaluation.crossing());
    };
  jobs.push_back(std::move(job));
}

void add_value(const Figure& figure, const Machines& machines, std::vector<Job>& jobs) {
  Job job{blank(figure), {}};
  const std::optional<double> published = figure.value ? figure.value : figure.greatest;
  job.score.published = published ? fmt::format("{:.4g}", *published) : std::string{};
  if (figure.use != Use::unusable)
    job.finish = [&figure, &machines](Score& score) {
      const Evaluation evaluation(figure, machines);
      if (figure.greatest) {
        hold(score, *figure.greatest, evaluation.greatest());
      } else {
        hold(score, *figure.value, evaluation.value({}));
      }
    };
  jobs.push_back(std::move(job));
}

// Runs the jobs, one at a time on each core, or on as many as the system gives threads for. Throws the first
// failure once all cores have stopped.
void run_all(std::vector<Job>& jobs) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  std::exception_ptr error;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) try {
        if (jobs[i].finish && !failed) jobs[i].finish(jobs[i].score);
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
  };
  std::vector<std::thread> others;
  try {
    for (int core = 1; core < usable_cores(); ++core) others.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
  for (std::thread& other : others) other.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace

std::vector<std::int64_t> sweep(const std::string& x, const std::string& run) {
  std::vector<std::int64_t> sizes;
  if (x == "n") {
    for (std::int64_t n = 64; n <= 704; n += 32) sizes.push_back(n);
    return sizes;
  }
  // PEACH2's allgather begins at 16 bytes, and what ranks gather grows with their number.
  const std::int64_t least = run == "allgather" ? 16 : 8;
  const std::int64_t most = run == "allgather" ? 256 << 10 : 4 << 20;
  for (std::int64_t bytes = least; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

Machines read_machines(const std::vector<Figure>& figures) {
  Machines machines;
  const auto add = [&](const Figure& figure, const std::string& name) {
    if (machines.contains(name)) return;
    const auto file = told_of(figure, [&] { return net::find_machine(name); });
    machines.emplace(name, net::read_machine(net::MachineFile(file)));
  };
  for (const Figure& figure : figures) {
    add(figure, figure.with.machine);
    if (figure.over) add(figure, figure.over->machine);
    if (figure.less) add(figure, figure.less->machine);
  }
  return machines;
}

std::vector<Score> score(const std::vector<Figure>& figures, const Machines& machines) {
  std::vector<Job> jobs;
  for (const Figure& figure : figures) {
    if (!figure.points.empty()) {
      add_points(figure, machines, jobs);
    } else if (!figure.sizes.empty()) {
      add_curve(figure, machines, jobs);
    } else if (figure.between || figure.at_least || figure.at_most) {
      add_bound(figure, machines, jobs);
    } else {
      add_value(figure, machines, jobs);
    }
  }
  run_all(jobs);
  std::vector<Score> scores;
  for (Job& job : jobs) scores.push_back(std::move(job.score));
  return scores;
}

Summary summarise(const std::vector<Score>& scores, Use use) {
  Summary summary;
  std::vector<double> errors;
  for (const Score& score : scores) {
    if (score.use != use) continue;
    if (!score.sharp) {
      ++summary.ranges;
      summary.right += score.error == 0 ? 1 : 0;
      continue;
    }
    errors.push_back(std::abs(score.error));
    summary.beyond_30 += std::abs(score.error) > 0.3 ? 1 : 0;
  }
  std::ranges::sort(errors);
  summary.numbers = static_cast<int>(errors.size());
  if (errors.empty()) return summary;
  summary.greatest = errors.back();
  const std::size_t middle = errors.size() / 2;
  summary.median = errors.size() % 2 == 1 ? errors[middle] : (errors[middle - 1] + errors[middle]) / 2;
  return summary;
}

}  // namespace tca::tool
