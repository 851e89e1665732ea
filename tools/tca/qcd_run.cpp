#include "qcd_run.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "progress.hpp"
#include "qcd/configuration.hpp"
#include "qcd/heat_bath.hpp"
#include "qcd_gpu.hpp"
#include "qcd_measure.hpp"
#include "qcd_report.hpp"
#include "refuse.hpp"

namespace tca::tool {
namespace {

// One rank's job: everything that the actions need.
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
    QcdSetting setting{options_, extents_,      grid_.describe(), world_.describe(),
                       links,    world_.size(), averages_};
    if (first()) print_setting(setting, options_.action);
    if (options_.action == "generate") generate();
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

 private:
  bool first() const { return world_.rank() == 0; }

  std::string prepare_links() {
    std::string links;
    if (!options_.config.empty()) {
      const qcd::Contents contents = qcd::inspect_configuration(options_.config);
      averages_ = qcd::read_configuration(world_, gauge_, options_.config, contents);
      return fmt::format("{} ({})", options_.config, qcd::describe(contents));
    }
    if (options_.start == "hot") gauge_.randomise(options_.seed);
    if (options_.start == "cold") gauge_.exchange();
    averages_ = gauge_.averages();
    return options_.start == "cold" ? "all one" : fmt::format("random, seed {}", options_.seed);
  }

  void generate() {
    qcd::HeatBath heat_bath(gauge_, options_.beta, options_.seed);
    std::optional<Progress> bar;
    if (first()) bar.emplace("sweeping", options_.sweeps);
    double sum = 0, squares = 0;
    int kept = 0;
    for (int sweep = 0; sweep < options_.sweeps; ++sweep) {
      heat_bath.sweep();
      for (int n = 0; n < options_.over_relax; ++n) heat_bath.over_relax();
      const double plaquette = gauge_.averages().plaquette;
      if (bar) bar->update(sweep + 1, fmt::format("plaquette {:.6f}", plaquette));
      if (sweep < options_.skip) continue;
      sum += plaquette;
      squares += plaquette * plaquette;
      ++kept;
    }
    bar.reset();
    const qcd::Averages now = gauge_.averages();
    if (first()) {
      fmt::print("swept     {} times at beta {}, each a heat bath and {} over-relaxations\n", options_.sweeps,
                 options_.beta, options_.over_relax);
      fmt::print("now       plaquette {:.10f}, link trace {:.10f}\n", now.plaquette, now.link_trace);
      if (kept > 1) {
        const double mean = sum / kept, variance = std::fmax(0.0, squares / kept - mean * mean);
        fmt::print(
            "mean      plaquette {:.6f} +- {:.6f} over the last {} sweeps (as if they were independent)\n",
            mean, std::sqrt(variance / (kept - 1)), kept);
      }
    }
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
};

}  // namespace

int run_qcd(World& world, const QcdOptions& options) { return QcdJob(world, options).run(); }

}  // namespace tca::tool
