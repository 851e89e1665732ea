// Broadcast and allgather: by PEACH2, as in the benchmarks of HA-PACS/TCA, by an MPI library, and by both, in
// which case the largest step goes over InfiniBand (S3, 5.4 and 5.5).
#include "model/program.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

using Program = void (*)(Stage&, const Messages&);

double run(const net::Machine& machine, const RunSettings& settings, Program program) {
  const auto ranks = static_cast<std::uint32_t>(settings.ranks);
  Stage stage(machine, {.places = place_ranks(machine, ranks, {}, settings.gpu),
                        .fidelity = net::Fidelity::tlp,
                        .library = settings.library,
                        .keeps_spans = false});
  program(stage,
          {.scheme = scheme_named(settings.scheme), .bytes = static_cast<std::uint64_t>(settings.bytes)});
  return des::to_us(stage.simulator().now());
}

}  // namespace

double run_bcast(const net::Machine& machine, const RunSettings& settings) {
  return run(machine, settings, run_bcast);
}

double run_allgather(const net::Machine& machine, const RunSettings& settings) {
  return run(machine, settings, run_allgather);
}

}  // namespace tca::tool
