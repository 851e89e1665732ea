#include "qcd_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <vector>

#include "progress.hpp"
#include "qcd/configuration.hpp"
#include "qcd/heat_bath.hpp"
#include "qcd/random.hpp"
#include "qcd_report.hpp"

namespace tca::tool {
namespace {

// One rank's job: everything that the actions need.
class Job {
 public:
  Job(World& world, const QcdOptions& options)
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
    if (options_.action == "invert") return invert(setting);
    if (options_.action == "dslash") dslash(setting);
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
    qcd::write_configuration(world_, gauge_, options_.output, format, options_.bits);
    if (first()) fmt::print("written   {}\n", options_.output);
  }

  qcd::Field<double> random_source(const qcd::Shape& shape, std::uint64_t number) const {
    qcd::Field<double> source;
    source.reserve(shape.size());
    for (std::int64_t s = 0; s < lattice_.volume(); ++s) {
      qcd::RandomStream random(options_.seed, qcd::Purpose::source,
                               static_cast<std::uint64_t>(lattice_.global_index(s)), 0, number);
      for (std::size_t i = 0; i < shape.rhs * shape.reals; ++i) source.push_back(random.gaussian());
    }
    return source;
  }

  std::int64_t summed(std::int64_t mine) {
    std::int64_t sum = 0;
    for (const std::int64_t one : world_.all_gather(mine)) sum += one;
    return sum;
  }

  QcdPace pace(const qcd::Times& times, std::vector<double> samples, double flops, std::int64_t bytes) {
    QcdPace pace{.samples_us = std::move(samples)};
    const auto count = static_cast<double>(std::max<std::size_t>(1, pace.samples_us.size()));
    for (const qcd::Times& one : world_.all_gather(times)) {
      pace.operator_us = std::max(pace.operator_us, one.operator_us / count);
      pace.wait_us = std::max(pace.wait_us, one.wait_us / count);
      pace.sums_us = std::max(pace.sums_us, one.sums_us / count);
    }
    pace.median_us = quantile(pace.samples_us, 0.5);
    if (pace.median_us > 0) pace.gflops = flops / count / pace.median_us * 1e-3;
    pace.bytes = summed(bytes);
    return pace;
  }

  int invert(const QcdSetting& setting) {
    qcd::InverterOptions how = inverter_options(options_);
    std::optional<Progress> bar;
    // The way from 1 to the tolerance, in decades.
    const double way = -std::log10(options_.tolerance);
    if (first()) {
      bar.emplace("solving", 1000);
      how.solve.progress = [&](int iteration, double residual) {
        if (bar->due())
          bar->update(static_cast<std::int64_t>(-std::log10(residual) / way * 1000),
                      fmt::format("iteration {}, residual {:.1e}", iteration, residual));
      };
    }
    qcd::Inverter inverter(world_, gauge_, how);
    const int solves = options_.together ? 1 : options_.rhs;
    bool converged = true;
    for (int n = 0; n < solves; ++n) {
      const qcd::Field<double> source = random_source(inverter.shape(), static_cast<std::uint64_t>(n));
      qcd::Field<double> x(source.size());
      qcd::Inversion inversion = inverter.invert(source, x);
      const QcdPace pace = this->pace(inversion.solution.times, inversion.solution.iteration_us,
                                      inversion.flops, inverter.bytes());
      converged = converged && inversion.solution.converged;
      if (!first()) continue;
      bar.emplace("solving", 0);
      print_inversion(setting, inversion, pace);
      if (options_.explain && n == 0) fmt::print("\n{}", inverter.explain());
      if (!options_.json.empty()) append_inversion(setting, inversion, pace, inverter.explain());
      bar.emplace("solving", 1000);
    }
    return converged ? 0 : 1;
  }

  template <class T>
  void dslash_in(const QcdSetting& setting) {
    qcd::Wilson<T> d(world_, gauge_, inverter_options(options_).wilson);
    qcd::Field<double> source = random_source(d.shape(), 0);
    source.resize(d.shape().size());
    qcd::Field<T> in(source.begin(), source.end()), out(source.size());
    d.apply(in, out, false);
    std::vector<double> samples;
    using Clock = std::chrono::steady_clock;
    // All ranks must agree on how many, so rank 0's clock decides, between batches.
    constexpr int batch = 20;
    d.times() = {};
    const auto begin = Clock::now();
    double seconds = 0;
    while (seconds < options_.seconds) {
      for (int n = 0; n < batch; ++n) {
        const auto before = Clock::now();
        d.apply(in, out, n % 2 == 1);
        samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - before).count());
      }
      seconds = world_.all_gather(std::chrono::duration<double>(Clock::now() - begin).count()).front();
    }
    const double flops = d.flops() * static_cast<double>(d.shape().rhs * samples.size());
    const QcdPace pace = this->pace(d.times(), std::move(samples), flops, d.bytes());
    if (!first()) return;
    print_dslash(setting, pace);
    if (options_.explain) fmt::print("\n{}", d.explain());
    if (!options_.json.empty()) append_dslash(setting, pace, d.explain());
  }

  void dslash(const QcdSetting& setting) {
    options_.precision == "single" ? dslash_in<float>(setting) : dslash_in<double>(setting);
  }

  void pion(const QcdSetting& setting) {
    std::optional<Progress> bar;
    if (first()) bar.emplace("solving", 12);
    const qcd::Pion pion = qcd::measure_pion(world_, gauge_, inverter_options(options_), [&](int done, int) {
      if (bar) bar->update(done);
    });
    bar.reset();
    if (!first()) return;
    print_pion(pion);
    if (!options_.json.empty()) append_line(options_.json, pion_line(setting, pion));
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

int run_qcd(World& world, const QcdOptions& options) { return Job(world, options).run(); }

}  // namespace tca::tool
