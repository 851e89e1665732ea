// `tca fft`: Fourier transforms of an array that is spread over ranks, which write what they have transformed straight to where
// the next step needs it; checked by what is known of transforms and, if asked, timed against MPI in the same job.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "fft/cli/report.hpp"
#include "fft/cli/solve.hpp"
#include "fft/fftw.hpp"
#include "fft/plan.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// Throws Error{out_of_memory} when the arrays of all ranks do not fit: one for each stage, and in the benchmark another.
void check_arrays(const FftOptions& options, const fft::Field& field,
                  const fft::Decomposition& decomposition) {
  const double numbers = static_cast<double>(decomposition.extents()[0]) *
                         static_cast<double>(decomposition.extents()[1]) *
                         static_cast<double>(decomposition.extents()[2]);
  const double arrays = static_cast<double>(decomposition.stages().size()) + (options.name.empty() ? 0 : 1);
  check_memory("a transform of " + fft::describe(field.extents) + " numbers",
               arrays * numbers * 2 * (options.single ? sizeof(float) : sizeof(double)),
               boot::needs_mpi(options.fabric) ? decomposition.ranks() : 1);
}

// Refuses everything that can be wrong, once, before any rank begins.
void check_job(const FftOptions& options, int ranks) {
  if (options.start == "graph" && !on_gpus(options)) refuse("--start graph needs --fabric cuda or cuda+mpi");
  if (!options.name.empty() && (options.real || options.single))
    refuse(
        "--class {}: the benchmark is of complex numbers in double precision; leave --real and --single out",
        options.name);
  const fft::Field field = field_of(options);
  const fft::Decomposition decomposition = fft::decompose(field.extents, ranks, plan_options(options, ranks));
  check_messages(options, fft::messages, ranks);
  if (on_gpus(options)) return;
  if (const std::string missing = fft::missing_fftw(); !missing.empty()) refuse("{}", missing);
  check_arrays(options, field, decomposition);
}

int run_rank(World& world, const FftOptions& options) {
  const FftReport report = solve_fft(world, options);
  if (world.rank() == 0) {
    print(report, options);
    keep(report, options);
  }
  return report.fault().empty() ? 0 : 1;
}

int fft_command(const FftOptions& options) {
  return run_as_ranks(
      "tca fft", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_job(options, ranks); }, [&](World& world) { return run_rank(world, options); });
}

}  // namespace

void add_fft(Subcommands& tca) {
  auto options = std::make_shared<FftOptions>();
  CLI::App& app = tca.add("fft", "Transforms a three-dimensional array on several ranks (Fourier)",
                          "tca fft --ranks 2 --extent 128\n"
                          "tca fft --ranks 2 --extent 100x60x42 --real --single\n"
                          "tca fft --ranks 4 --extent 64 --grid 2x2\n"
                          "tca fft --ranks 2 --class S\n"
                          "tca fft --ranks 2 --extent 128 --compare",
                          [options] { return fft_command(*options); });
  add_rank_options(app, *options);
  auto* const extent =
      app.add_option("--extent", options->extent, "Extents of the array: one number, or three (x, y, z)")
          ->capture_default_str();
  app.add_option(
         "--class", options->name,
         "Run FT of the NAS Parallel Benchmarks in this class, S, W, A or B, instead of transforming random "
         "numbers")
      ->excludes(extent);
  app.add_option("--grid", options->grid,
                 "Rows and columns of ranks: Nx1 for slabs, RxC for pencils, of which there are more; auto "
                 "is Nx1 where there are planes enough")
      ->capture_default_str();
  app.add_flag("--real", options->real, "Real numbers: half of the work, and half to send");
  app.add_flag("--single", options->single, "Single precision");
  app.add_option("--batches", options->batches,
                 "Number of batches in which a rank works, so that one is sent while the next is computed; "
                 "chosen when not given")
      ->check(between(1, 1'000'000));
  app.add_option("--samples", options->samples,
                 "Number of samples, with --class of runs, with --compare each way; as many as fit into a "
                 "second when not given, of runs and on sim one")
      ->check(between(1, 1'000'000));
  app.add_option("--start", options->start,
                 "What starts the steps on GPUs: the host, or a CUDA graph; auto is the graph")
      ->check(one_of({"auto", "host", "graph"}))
      ->capture_default_str();
  app.add_flag(
      "--compare", options->compare,
      "Measure the same with MPI's exchanges (on GPUs with NCCL's, by a graph) too, in the same job");
  add_message_options(app, *options);
  add_json_option(app, *options);
}

}  // namespace tca::tool
