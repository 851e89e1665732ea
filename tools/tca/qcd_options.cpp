#include "qcd_options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <vector>

#include "qcd/configuration.hpp"
#include "refuse.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

// "8x8x8x16"; nothing for anything but one or four positive numbers.
std::optional<std::vector<std::int64_t>> parse_extents(const std::string& text) {
  std::vector<std::int64_t> extents;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    int extent = 0;
    const auto [rest, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1) return std::nullopt;
    extents.push_back(extent);
    if (rest == end) break;
    if (*rest != 'x') return std::nullopt;
    at = rest + 1;
  }
  if (extents.size() == 1) extents.assign(qcd::dims, extents.front());
  return extents.size() == qcd::dims ? std::optional(extents) : std::nullopt;
}

Grid parse_grid(const std::string& text, int ranks) {
  const auto shape = parse_extents(text);
  if (!shape || text.find('x') == std::string::npos)
    refuse("--grid {}: give four numbers of ranks, such as 1x1x2x2, or auto", text);
  const std::int64_t held = (*shape)[0] * (*shape)[1] * (*shape)[2] * (*shape)[3];
  if (held != ranks) refuse("--grid {} holds {} ranks, not {}", text, held, ranks);
  return Grid(ranks, {shape->begin(), shape->end()}, std::vector<bool>(qcd::dims, true));
}

}  // namespace

qcd::Extents qcd_extents(const QcdOptions& options) {
  if (!options.config.empty()) return qcd::inspect_configuration(options.config).extents;
  const auto extents = parse_extents(options.small ? "8" : options.large ? "16" : options.lattice);
  if (!extents) refuse("--lattice {}: give one extent, or four such as 8x8x8x16", options.lattice);
  return {(*extents)[0], (*extents)[1], (*extents)[2], (*extents)[3]};
}

Grid make_qcd_grid(const QcdOptions& options, const qcd::Extents& extents, int ranks) {
  const Grid grid =
      options.grid == "auto" ? qcd::choose_grid(ranks, extents) : parse_grid(options.grid, ranks);
  const qcd::Lattice lattice(grid, extents, 0);
  const bool solves = options.action != "generate" && options.action != "plaquette";
  if (solves && !options.no_even_odd) lattice.require_even();
  return grid;
}

qcd::InverterOptions inverter_options(const QcdOptions& options) {
  qcd::InverterOptions how;
  how.wilson = {.kappa = options.kappa,
                .antiperiodic = options.time == "antiperiodic",
                .storage = options.links == 18 ? qcd::Storage::full : qcd::Storage::two_rows,
                .rhs = options.together || options.action != "invert" ? options.rhs : 1,
                .even_odd = !options.no_even_odd};
  how.method = options.solver == "bicgstab" ? qcd::Method::bicgstab : qcd::Method::cg;
  how.precision = options.precision == "single"  ? qcd::Precision::single_only
                  : options.precision == "mixed" ? qcd::Precision::mixed
                                                 : qcd::Precision::double_only;
  how.solve = {.tolerance = options.tolerance, .max_iterations = options.max_iterations};
  return how;
}

}  // namespace tca::tool
