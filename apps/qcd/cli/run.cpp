#include "qcd/cli/run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "qcd/cli/gpu.hpp"
#include "qcd/cli/measure.hpp"
#include "qcd/cli/report.hpp"
#include "qcd/files/configuration.hpp"
#include "qcd/heat_bath.hpp"

namespace tca::tool {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

// One rank's job, with everything that the actions need.
class QcdJob {
 public:
  QcdJob(World& world, const QcdOptions& options)
      : world_(world),
        options_(options),
        extents_(qcd_extents(options)),
        grid_(make_qcd_grid(options, extents_, world.size())),
        lattice_(grid_, extents_, world.rank()),
        gauge_(world, lattice_) {}

  int run() {
    const std::string links = prepare_links();
    QcdSetting setting{options_, extents_, grid_.describe(), describe_job(world_, options_),
                       links,    averages_};
    if (first()) print_setting(setting, options_.action);
    const int code = act(setting);
    if (first() && options_.action != "plaquette") print_crowding(setting.job);
    return code;
  }

 private:
  bool first() const { return world_.rank() == 0; }

  // Returns the exit code.
  int act(const QcdSetting& setting) {
    if (options_.action == "generate") generate(setting);
    if (options_.action == "plaquette" && first() && !options_.json.empty())
      append_links(setting, {{averages_us_}, averages_});
    if (options_.action == "invert") {
      const bool converged = on_gpus(options_) ? measure_inversion_on_gpus(world_, gauge_, setting)
                                               : measure_inversion(world_, gauge_, setting);
      return converged ? 0 : 1;
    }
    if (options_.action == "dslash") {
      on_gpus(options_) ? measure_operator_on_gpus(world_, gauge_, setting)
                        : measure_operator(world_, gauge_, setting);
    }
    if (options_.action == "pion") pion(setting);
    return 0;
  }

  std::string prepare_links() {
    std::string links;
    if (!options_.config.empty()) {
      const qcd::Contents contents = qcd::inspect_configuration(options_.config);
      const auto begin = Clock::now();
      const qcd::Reading reading = qcd::read_configuration(world_, gauge_, options_.config, contents);
      averages_ = reading.averages;
      averages_us_ = microseconds_since(begin);
      return fmt::format("{} ({}{})", options_.config, qcd::describe(contents),
                         reading.of_single_precision
                             ? "; its links are of single precision and were made unitary to double"
                             : "");
    }
    if (options_.start == "hot") gauge_.randomise(options_.seed);
    if (options_.start == "cold") gauge_.exchange();
    const auto begin = Clock::now();
    averages_ = gauge_.averages();
    averages_us_ = microseconds_since(begin);
    return options_.start == "cold" ? "all one" : fmt::format("random, seed {}", options_.seed);
  }

  void generate(const QcdSetting& setting) {
    qcd::HeatBath heat_bath(gauge_, options_.beta, options_.seed);
    std::optional<Progress> bar;
    if (first()) bar.emplace("sweeping", options_.sweeps);
    std::vector<double> sweeps_us;
    const int skipped = options_.skip.value_or(options_.sweeps / 2);
    double sum = 0, squares = 0;
    int kept = 0;
    for (int sweep = 0; sweep < options_.sweeps; ++sweep) {
      const auto begin = Clock::now();
      heat_bath.sweep();
      for (int n = 0; n < options_.over_relax; ++n) heat_bath.over_relax();
      sweeps_us.push_back(microseconds_since(begin));
      const double plaquette = gauge_.averages().plaquette;
      if (bar) bar->update(sweep + 1, fmt::format("plaquette {:.6f}", plaquette));
      if (sweep < skipped) continue;
      sum += plaquette;
      squares += plaquette * plaquette;
      ++kept;
    }
    bar.reset();
    const qcd::Averages now = gauge_.averages();
    nlohmann::ordered_json extra{{"beta", options_.beta},
                                 {"seed", options_.seed},
                                 {"sweeps", options_.sweeps},
                                 {"over_relaxations", options_.over_relax}};
    if (first()) {
      fmt::print("swept     {} times at beta {}, each a heat bath and {} over-relaxations\n", options_.sweeps,
                 options_.beta, options_.over_relax);
      fmt::print("now       plaquette {:.10f}, link trace {:.10f}\n", now.plaquette, now.link_trace);
      if (kept > 1) {
        const double mean = sum / kept, variance = std::fmax(0.0, squares / kept - mean * mean);
        const double error = std::sqrt(variance / (kept - 1));
        fmt::print(
            "mean      plaquette {:.6f} +- {:.6f} over the last {} sweeps (as if they were independent)\n",
            mean, error, kept);
        extra.update({{"mean_plaquette", mean}, {"mean_plaquette_error", error}, {"mean_of", kept}});
      }
    }
    save();
    // Comes last, so that a run whose links cannot be written leaves no record.
    if (first() && !options_.json.empty())
      append_links(setting, {std::move(sweeps_us), now, std::move(extra)});
  }

  void save() {
    if (options_.output.empty()) return;
    const qcd::Format format = options_.format == "ildg" ? qcd::Format::ildg : qcd::Format::nersc;
    qcd::write_configuration(world_, gauge_, replaced_file(options_.output), format, options_.bits);
    if (first()) fmt::print("written   {}\n", options_.output);
  }

  void pion(const QcdSetting& setting) {
    std::optional<Progress> bar;
    if (first()) bar.emplace("solving", 12);
    const auto told = [&](int done, int) {
      if (bar) bar->update(done);
    };
    QcdPace pace;
    const qcd::Pion pion = on_gpus(options_)
                               ? measure_pion_on_gpus(world_, gauge_, options_, told, pace)
                               : qcd::measure_pion(world_, gauge_, inverter_options(options_), told);
    bar.reset();
    if (!first()) return;
    print_pion(pion);
    if (!options_.json.empty()) append_line(options_.json, pion_line(setting, pion, pace));
  }

  World& world_;
  const QcdOptions& options_;
  qcd::Extents extents_;
  Grid grid_;
  qcd::Lattice lattice_;
  qcd::Gauge gauge_;
  qcd::Averages averages_{};
  double averages_us_ = 0;  // that the averages took
};

}  // namespace

int run_qcd(World& world, const QcdOptions& options) { return QcdJob(world, options).run(); }

}  // namespace tca::tool
