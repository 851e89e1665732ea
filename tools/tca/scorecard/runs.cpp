#include "scorecard/runs.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

bool RunKind::takes(std::string_view setting) const {
  const auto has = [&](const std::vector<std::string_view>& settings) {
    return std::ranges::find(settings, setting) != settings.end();
  };
  return setting == "machine" || setting == "scheme" || has(needs) || has(further);
}

std::span<const RunKind> run_kinds() {
  static const std::vector<RunKind> kinds{
      {"pingpong", "direct", run_pingpong, {"bytes"}, {"gpu", "memory", "self_notify", "rate"}},
      {"pingpong", "mpi", run_pingpong, {"bytes"}, {"library", "gpu", "memory", "rate"}},
      {"face", "direct", run_face, {"n"}, {"plane", "gpu", "memory", "self_notify", "rate"}},
      {"face", "mpi", run_face, {"n"}, {"plane", "library", "gpu", "memory", "rate"}},
      {"hop", "direct", run_hop, {"bytes"}, {"gpu", "memory", "self_notify"}},
      {"inside", "direct", run_inside, {"from", "to", "bytes"}, {"gpu"}},
      {"inside", "cuda", run_inside, {"from", "to", "bytes"}, {}},
      {"bcast", "direct", run_bcast, {"bytes"}, {"ranks", "gpu"}},
      {"bcast", "mpi", run_bcast, {"bytes"}, {"ranks", "library", "gpu"}},
      {"bcast", "hybrid", run_bcast, {"bytes"}, {"ranks", "library", "gpu"}},
      {"allgather", "direct", run_allgather, {"bytes"}, {"ranks", "gpu", "own_copy"}},
      {"allgather", "mpi", run_allgather, {"bytes"}, {"ranks", "library", "gpu", "own_copy"}},
      {"allgather", "hybrid", run_allgather, {"bytes"}, {"ranks", "library", "gpu"}},
      // MPI's library carries the residual, whatever carries the faces.
      {"himeno", "direct", run_himeno, {"extents", "grid"}, {"library", "gpu", "element", "barrier"}},
      {"himeno", "mpi", run_himeno, {"extents", "grid"}, {"library", "gpu", "element"}},
      {"himeno", "rma", run_himeno, {"extents", "grid"}, {"library", "gpu", "element"}},
      {"himeno", "hybrid", run_himeno, {"extents", "grid"}, {"library", "gpu", "element", "barrier"}},
      {"qcd_halo", "direct", run_qcd_halo, {"bytes", "grid"}, {"gpu"}},
      {"qcd_halo", "mpi", run_qcd_halo, {"bytes", "grid"}, {"library", "gpu"}},
      {"qcd_halo", "rma", run_qcd_halo, {"bytes", "grid"}, {"library", "gpu"}},
      {"qcd_halo", "hybrid", run_qcd_halo, {"bytes", "grid"}, {"library", "gpu"}},
      {"qcd_balance", "direct", run_qcd_balance, {"lattice", "domain", "ranks", "gflops"}, {}},
      {"apenet",
       "direct",
       run_apenet,
       {"from", "to", "bytes"},
       {"gpu", "staged", "loop_back", "rate", "engines", "gpu_window", "translate_us", "translate_overlaps"}},
      {"apenet", "mpi", run_pingpong, {"bytes"}, {"library", "gpu", "memory", "rate"}},
      {"apenet_faces", "direct", run_apenet_faces, {"bytes"}, {"gpu", "staged", "staged_out"}},
      {"apenet_read", "direct", run_apenet_read, {"from"}, {"gpu", "engines", "gpu_window"}},
      {"npb_cg", "direct", run_npb_cg, {"size"}, {}},
      {"npb_cg", "mpi", run_npb_cg, {"size"}, {}},
      {"graph500_bfs", "direct", run_graph500_bfs, {"scale"}, {}},
      {"graph500_bfs", "mpi", run_graph500_bfs, {"scale"}, {}},
      {"kernel_pingpong", "direct", run_kernel_pingpong, {"library", "bytes"}, {}},
      {"kernel_halo", "direct", run_kernel_halo, {"library", "n"}, {"ranks", "element", "packed"}},
      {"packet_pingpong", "direct", run_packet_pingpong, {"library", "bytes"}, {}},
      {"packet_halo", "direct", run_packet_halo, {"library", "n"}, {"ranks", "element", "start", "scope"}},
      {"packet_allreduce", "direct", run_packet_allreduce, {"library", "bytes"}, {"ranks", "start"}}};
  return kinds;
}

const RunKind* find_run(std::string_view name, std::string_view scheme) {
  for (const RunKind& kind : run_kinds())
    if (kind.name == name && kind.scheme == scheme) return &kind;
  return nullptr;
}

double run(const std::string& name, const net::Machine& machine, const RunSettings& settings) {
  const RunKind* kind = find_run(name, settings.scheme);
  if (kind == nullptr)
    base::fail(Errc::invalid_argument, "the scorecard has no run `{}` by {}", name, settings.scheme);
  return kind->call(machine, settings);
}

}  // namespace tca::tool
