#include "qcd/cli/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "qcd/operators/wilson.hpp"
#include "shared/mpi_session.hpp"

namespace tca::tool {
namespace {

const char* counted(bool staggered) {
  return staggered ? "counted: 570 flops a site of the derivative and 2 a real of the mass; not the vector "
                     "operations"
                   : "counted: 1,320 flops a site of the hopping term and 2 a real of the diagonal; not the "
                     "vector operations";
}

// Names the operator and its parameter.
std::string equation(const QcdOptions& options) {
  if (is_staggered(options)) return fmt::format("naive staggered, mass {}", options.mass);
  return fmt::format("Wilson, kappa {}", options.kappa);
}
const char* lives_on(const QcdOptions& options, const char* even_odd) {
  return is_staggered(options) || options.no_even_odd ? "all sites" : even_odd;
}
std::string bench_name(const QcdOptions& options, const std::string& what) {
  return (is_staggered(options) ? "qcd_staggered_" : "qcd_") + what;
}

const char* peer_protocol(const QcdPace& pace) {
  if (pace.peer != "mpi") return "projected";
  return pace.gpus.empty() ? "persistent" : "staged";
}

Record record(const QcdSetting& setting, const QcdPace& pace, const std::string& bench,
              const std::string& explain) {
  const QcdOptions& options = setting.options;
  Record record{.bench = bench,
                .fabric = pace.peer.value_or(options.fabric),
                .protocol = pace.peer ? peer_protocol(pace) : protocols_in(explain),
                .start = pace.start,
                .peer = pace.peer,
                .layout = "grid " + setting.grid,
                .ranks = setting.job.ranks,
                .n = setting.extents[0],
                .bytes = pace.bytes,
                .samples_us = pace.samples_us,
                .mpi_version = pace.peer == "mpi" ? apps::mpi_version() : std::string(),
                .gpus = pace.gpus,
                .model = setting.job.model,
                .libraries = pace.libraries};
  const bool staggered = is_staggered(options);
  record.extra = {{"extents", setting.extents},
                  {staggered ? "mass" : "kappa", staggered ? options.mass : options.kappa},
                  {"precision", options.precision},
                  {"even_odd", !staggered && !options.no_even_odd},
                  {"link_reals", options.links},
                  {"rhs", inverter_options(options).wilson.rhs},
                  {"gflops", rounded(pace.gflops)},
                  {"plaquette", setting.averages.plaquette}};
  if (pace.gpus.empty()) {
    record.extra["operator_us"] = rounded(pace.operator_us);
    record.extra["wait_us"] = rounded(pace.wait_us);
  }
  if (!setting.job.placement.empty()) record.extra["placement"] = setting.job.placement;
  return record;
}

void print_pace(const QcdPace& pace, const char* unit, bool sums, bool staggered = false) {
  fmt::print("{:<10}{:.1f} us", unit, pace.median_us);
  if (pace.gpus.empty()) {
    fmt::print(": operator {:.1f}, halo wait {:.1f}", pace.operator_us, pace.wait_us);
    if (sums) fmt::print(", sums {:.1f}", pace.sums_us);
    fmt::print(" (medians; each part is that of the rank where it is longest)\n");
  } else {
    fmt::print(" (median{})\n", sums ? " of slopes between a short solve and a long one" : "");
  }
  fmt::print("GFLOPS    {:.2f}, all ranks together, at the median; {}\n", pace.gflops, counted(staggered));
}

// Whether the last half of the iterations has lowered the residual by at least a tenth.
bool still_falls(const std::vector<double>& history) {
  return history.size() > 1 && history.back() < 0.9 * history[(history.size() - 1) / 2];
}

// Returns advice for a solve whose attempts all ended with a residual as small as requested, which the
// solution itself is too coarse to hold.
const char* out_of_precision(const QcdOptions& options) {
  if (options.precision != "single")
    return "double precision holds no less for this equation; ask for a larger --tolerance";
  if (options.solver == "bicgstab")
    return "single precision holds no less for this equation; ask for --precision double";
  return "single precision holds no less for this equation; ask for --precision mixed";
}

// Returns what may help a solve that has not converged.
std::string advice(const QcdOptions& options, const qcd::Inversion& inversion) {
  if (!std::isfinite(qcd::largest(inversion.true_residuals))) {
    return fmt::format(
        "the residual is no finite number, and more iterations do not help; ask for another {}{}",
        is_staggered(options) ? "mass" : "kappa",
        options.precision == "double" ? "" : ", or for --precision double");
  }
  if (inversion.solution.iterations < options.max_iterations) return out_of_precision(options);
  if (still_falls(inversion.solution.history))
    return "the residual still falls; allow more with --max-iterations";
  if (is_staggered(options)) return "iterations grow as 1 / mass; allow more, or ask for a larger mass";
  return "kappa may be at or beyond its critical value (0.125 without a gauge field, about 0.157 at beta "
         "6.0)";
}

// Prints about ten of the residuals on the way, to show where it went.
void print_history(const std::vector<double>& history) {
  constexpr std::size_t shown = 10;
  fmt::print("history  ");
  const std::size_t step = std::max<std::size_t>(1, history.size() / shown);
  for (std::size_t i = step - 1; i < history.size(); i += step) fmt::print(" {}: {:.1e}", i + 1, history[i]);
  fmt::print(" (as the iterations know it)\n");
}

}  // namespace

void print_setting(const QcdSetting& setting, const std::string& what) {
  const QcdOptions& options = setting.options;
  const int ranks = setting.job.ranks;
  fmt::print("QCD {}: {} sites, {} rank{}, grid {}\n", what, qcd::describe(setting.extents), ranks,
             ranks == 1 ? "" : "s", setting.grid);
  print_job(setting.job, options.compare && !on_gpus(options) ? apps::mpi_version() : "");
  fmt::print("links     {}; plaquette {:.10f}, link trace {:.10f}\n", setting.links,
             setting.averages.plaquette, setting.averages.link_trace);
}

void print_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace) {
  const QcdOptions& options = setting.options;
  const qcd::Solution& solution = inversion.solution;
  fmt::print("equation  {}, {} in time, {}, {}, {}, links of {} reals\n", equation(options), options.time,
             lives_on(options, "even-odd"), options.solver, options.precision, options.links);
  fmt::print("solved    {} after {} iteration{}", solution.converged ? "converged" : "NOT CONVERGED",
             solution.iterations, solution.iterations == 1 ? "" : "s");
  if (solution.updates > 0) fmt::print(" and {} reliable updates", solution.updates);
  fmt::print(", {:.3f} s\n", inversion.seconds);
  fmt::print("residual  {:.3e} |b - D x| / |b|, recomputed in double on all sites\n",
             fmt::join(inversion.true_residuals, " "));
  if (!solution.converged) {
    print_history(solution.history);
    fmt::print("          {}\n", advice(options, inversion));
  }
  print_pace(pace, "iteration", true, is_staggered(options));
}

void print_dslash(const QcdSetting& setting, const QcdPace& pace) {
  const QcdOptions& options = setting.options;
  fmt::print("operator  {}, {}, {}, links of {} reals, {} right-hand side{}\n", equation(options),
             lives_on(options, "even-odd preconditioned (two hops of half the sites)"), options.precision,
             options.links, options.rhs, options.rhs == 1 ? "" : "s");
  print_pace(pace, "apply", false, is_staggered(options));
}

void print_peer(const QcdPace& own, const QcdPace& peer, const char* unit, bool sums) {
  const bool mpi = peer.peer == "mpi", in_parts = mpi && peer.gpus.empty();
  fmt::print("{}:\n", mpi ? apps::mpi_version() : "NCCL " + peer.libraries.value("nccl", std::string()));
  print_pace(peer, unit, sums);
  fmt::print("{} / OpenTCA: ", mpi ? "MPI" : "NCCL");
  // Together: what one library waits for in the halo, the other may wait for in the sums.
  const double own_us = own.wait_us + own.sums_us, peer_us = peer.wait_us + peer.sums_us;
  if (in_parts && own_us > 0)
    fmt::print("halo wait{} {:.2f}, ", sums ? " and sums together" : "", peer_us / own_us);
  const auto whole = bench::ratio_by_round(peer.samples_us, own.samples_us);
  fmt::print("whole {} {}\n", unit, whole ? bench::to_string(*whole) : "not known");
}

void print_pion(const qcd::Pion& pion) {
  fmt::print("solved    12 equations, {} iterations, {:.2f} s, true residuals up to {:.1e}\n",
             pion.iterations, pion.seconds, qcd::largest(pion.true_residuals));
  fmt::print("\n{:>4}{:>20}{:>16}\n", "t", "correlator", "effective mass");
  for (std::size_t t = 0; t < pion.correlator.size(); ++t) {
    fmt::print("{:>4}{:>20.10e}", t, pion.correlator[t]);
    if (std::isnan(pion.mass[t])) {
      fmt::print("{:>16}\n", "-");
    } else {
      fmt::print("{:>16.6f}\n", pion.mass[t]);
    }
  }
}

void append_inversion(const QcdSetting& setting, const qcd::Inversion& inversion, const QcdPace& pace,
                      const std::string& explain) {
  Record line = record(setting, pace, bench_name(setting.options, setting.options.solver), explain);
  if (pace.gpus.empty()) line.extra["sums_us"] = rounded(pace.sums_us);
  line.extra["iterations"] = inversion.solution.iterations;
  line.extra["converged"] = inversion.solution.converged;
  // JSON turns what is no number into null.
  line.extra["true_residual"] = qcd::largest(inversion.true_residuals);
  append_line(setting.options.json, line.line());
}

void append_dslash(const QcdSetting& setting, const QcdPace& pace, const std::string& explain) {
  append_line(setting.options.json,
              record(setting, pace, bench_name(setting.options, "dslash"), explain).line());
}

void append_links(const QcdSetting& setting, const LinksMeasured& measured) {
  const QcdOptions& options = setting.options;
  Record line{.bench = "qcd_" + options.action,
              .fabric = options.fabric,
              .layout = "grid " + setting.grid,
              .ranks = setting.job.ranks,
              .n = setting.extents[0],
              .samples_us = measured.samples_us,
              .model = setting.job.model};
  line.extra = {{"extents", setting.extents},
                {"links", setting.links},
                {"plaquette", measured.averages.plaquette},
                {"link_trace", measured.averages.link_trace}};
  line.extra.update(measured.extra);
  if (!setting.job.placement.empty()) line.extra["placement"] = setting.job.placement;
  append_line(options.json, line.line());
}

std::string pion_line(const QcdSetting& setting, const qcd::Pion& pion, QcdPace pace) {
  pace.samples_us = {pion.seconds * 1e6 / std::max(1, pion.iterations)};
  Record line = record(setting, pace, "qcd_pion", "");
  line.extra.erase("operator_us");
  line.extra.erase("wait_us");
  line.extra.erase("gflops");
  line.extra["iterations"] = pion.iterations;
  line.extra["links"] = setting.links;
  line.extra["correlator"] = pion.correlator;
  line.extra["effective_mass"] = pion.mass;  // JSON turns what is no number into null
  return line.line();
}

}  // namespace tca::tool
