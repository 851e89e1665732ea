#include "qcd/cli/options.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "qcd/files/configuration.hpp"
#include "shared/channels.hpp"
#include "tca/error.hpp"

namespace tca::tool {

qcd::Extents extents_of(const char* option, const std::string& text) {
  auto extents = parse_extents(option, text);
  if (extents && extents->size() == 1) extents->assign(qcd::dims, extents->front());
  if (!extents || extents->size() != qcd::dims)
    refuse("{} {}: give one extent, or four such as 8x8x8x16", option, text);
  return {(*extents)[0], (*extents)[1], (*extents)[2], (*extents)[3]};
}

qcd::Extents qcd_extents(const QcdOptions& options) {
  if (!options.config.empty()) return qcd::inspect_configuration(options.config).extents;
  return extents_of("--lattice", options.small ? "8" : options.large ? "16" : options.lattice);
}

Grid make_qcd_grid(const QcdOptions& options, const qcd::Extents& extents, int ranks) {
  const Grid grid = options.grid == "auto" ? qcd::choose_grid(ranks, extents)
                                           : Grid(ranks, parse_grid(options.grid, qcd::dims, ranks),
                                                  std::vector<bool>(qcd::dims, true));
  const qcd::Lattice lattice(grid, extents, 0);
  const bool solves = options.action != "generate" && options.action != "plaquette";
  if (is_staggered(options)) {
    qcd::require_even_extents(extents);
  } else if (solves && !options.no_even_odd) {
    lattice.require_even();
  }
  return grid;
}

std::vector<std::string_view> qcd_messages(const QcdOptions& options) {
  if (options.action == "dslash") return {"FACES"};
  return {"FACES", "SUMS"};
}

qcd::InverterOptions inverter_options(const QcdOptions& options) {
  qcd::InverterOptions how;
  how.wilson = {.kappa = options.kappa,
                .antiperiodic = options.time == "antiperiodic",
                .storage = options.links == 18 ? qcd::Storage::full : qcd::Storage::two_rows,
                .rhs = options.together || options.action != "invert" ? options.rhs : 1,
                .even_odd = !options.no_even_odd};
  if (is_staggered(options)) {
    how.staggered = {.mass = options.mass,
                     .antiperiodic = how.wilson.antiperiodic,
                     .storage = how.wilson.storage,
                     .rhs = how.wilson.rhs};
  }
  how.method = options.solver == "bicgstab" ? qcd::Method::bicgstab : qcd::Method::cg;
  how.precision = options.precision == "single"  ? qcd::Precision::single_only
                  : options.precision == "mixed" ? qcd::Precision::mixed
                                                 : qcd::Precision::double_only;
  const apps::Channels channels(options.channels, qcd_messages(options));
  how.wilson.channel = channels.of("FACES");
  if (how.staggered) how.staggered->channel = how.wilson.channel;
  how.sums_channel = channels.of("SUMS");
  how.solve = {.tolerance = options.tolerance, .max_iterations = options.max_iterations};
  if (options.action == "dslash") how.solve.tolerance = 1;  // nothing is solved
  return how;
}

}  // namespace tca::tool
