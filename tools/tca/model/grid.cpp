#include "model/grid.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "cli/options/extents.hpp"
#include "himeno/cli/size.hpp"
#include "tca/grid.hpp"

namespace tca::tool {

namespace {

using Extents = std::array<std::int64_t, 3>;

// Returns the grid that follows the topology, when the ranks fill it: then all neighbours are adjacent.
std::optional<Extents> along_topology(const net::Machine& machine, std::uint32_t ranks) {
  const DirectWay way = find_way(machine);
  if (way.way == Way::none || way.way == Way::stores || ranks != way.nodes) return std::nullopt;
  const net::Topology& topology = machine.network.interconnects[way.interconnect].topology;
  if (topology.kind == net::TopologyKind::double_ring) return Extents{2, topology.size[0], 1};
  if (topology.kind != net::TopologyKind::torus) return std::nullopt;
  Extents grid{1, 1, 1};
  for (std::size_t i = 0; i < topology.size.size(); ++i) grid[2 - i] = topology.size[i];
  return grid;
}

bool fits(const Extents& grid, const Extents& cells) {
  for (std::size_t i = 0; i < 3; ++i)
    if (grid[i] > cells[i]) return false;
  return true;
}

Extents choose_grid(const net::Machine& machine, std::uint32_t ranks, const Extents& cells) {
  const std::optional<Extents> natural = along_topology(machine, ranks);
  if (natural && fits(*natural, cells)) return *natural;
  try {
    const Grid grid = Grid::choose(static_cast<int>(ranks), cells);
    return {grid.extent(0), grid.extent(1), grid.extent(2)};
  } catch (const Error&) {
    base::fail(Errc::invalid_argument, "{} ranks: no grid of so many fits {}x{}x{} cells", ranks, cells[0],
               cells[1], cells[2]);
  }
}

Extents read_grid(const ModelOptions& options, std::uint32_t ranks) {
  const std::vector<int> grid = parse_grid(options.grid, 3, static_cast<int>(ranks));
  return {grid[0], grid[1], grid[2]};
}

// Default number of ranks where puts reach no other rank: as many as a sub-cluster of PEACH2 has.
constexpr std::uint64_t ranks_without_a_way = 16;

Extents grid_by_layout(const std::string& layout, std::uint32_t ranks) {
  if (layout == "block") return {ranks, 1, 1};
  if (layout == "block-stride") return {1, ranks, 1};
  return {1, 1, ranks};
}

}  // namespace

std::uint32_t count_ranks(const net::Machine& machine, const ModelOptions& options) {
  const DirectWay way = find_way(machine);
  const std::uint64_t most = machine.max_ranks();
  if (options.ranks == 0) {
    if (options.program == "pingpong") return most < 2 ? 1 : 2;
    const std::uint64_t reached = std::uint64_t{way.nodes} * machine.places.size();
    return static_cast<std::uint32_t>(std::min(most, reached > 1 ? reached : ranks_without_a_way));
  }
  if (options.ranks < 0) base::fail(Errc::invalid_argument, "--ranks {}: give 1 or more", options.ranks);
  net::check_ranks(machine, static_cast<std::uint64_t>(options.ranks));
  return static_cast<std::uint32_t>(options.ranks);
}

Scheme scheme_named(std::string_view name) {
  if (name == "direct") return Scheme::direct;
  if (name == "mpi") return Scheme::mpi;
  if (name == "rma") return Scheme::rma;
  if (name == "hybrid") return Scheme::hybrid;
  base::fail(Errc::invalid_argument, "there is no scheme `{}`; there are direct, mpi, rma, hybrid", name);
}

Scheme find_scheme(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks) {
  const std::vector<std::string> schemes = schemes_of(machine);
  if (schemes.empty())
    base::fail(Errc::invalid_argument, "nothing carries data between the ranks of {}", machine.name);
  const std::string& name = options.scheme.empty() ? schemes.front() : options.scheme;
  if (std::ranges::find(schemes, name) == schemes.end())
    base::fail(Errc::invalid_argument, "{} has no scheme `{}`; it has {}", machine.name, name,
               fmt::join(schemes, ", "));
  if (name == "rma" && !exchanges_faces(options.program))
    base::fail(Errc::invalid_argument, "rma is for himeno and halo; {} has {}", options.program,
               schemes.size() > 2 && schemes.front() == "direct" ? "direct, mpi, hybrid" : "mpi");
  if (name != "direct") return scheme_named(name);
  const DirectWay way = find_way(machine);
  const std::uint64_t reached = std::uint64_t{way.nodes} * machine.places.size();
  if (ranks > reached)
    base::fail(Errc::invalid_argument, "direct: on {} it reaches {} ranks, not {}; further ones {}",
               machine.name, reached, ranks,
               schemes.size() > 1 ? "take mpi, rma or hybrid" : "have no other way");
  return Scheme::direct;
}

Exchange make_exchange(const net::Machine& machine, const ModelOptions& options, std::uint32_t ranks) {
  const bool himeno = options.program == "himeno";
  const bool automatic = options.grid == "auto";
  Exchange exchange{
      .periodic = !himeno, .computes = himeno, .iterations = static_cast<std::uint64_t>(options.iterations)};
  exchange.element = static_cast<std::uint64_t>(options.element > 0 ? options.element : himeno ? 4 : 8);
  Extents cells{options.extent, options.extent, options.extent};
  Extents grid{};
  if (himeno) {
    cells = parse_himeno_size(options.size.empty() ? "M" : options.size);
    grid = automatic ? choose_grid(machine, ranks, cells) : read_grid(options, ranks);
    if (!fits(grid, cells))
      base::fail(Errc::invalid_argument,
                 "the grid {}x{}x{} has more ranks along a dimension than the {} cells", grid[0], grid[1],
                 grid[2], fmt::join(cells, "x"));
  } else {
    grid = automatic ? grid_by_layout(options.layout, ranks) : read_grid(options, ranks);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    exchange.grid[i] = static_cast<std::uint32_t>(grid[i]);
    const std::int64_t parts = himeno ? grid[i] : 1;
    exchange.cells[i] = static_cast<std::uint64_t>((cells[i] + parts - 1) / parts);
  }
  exchange.faces = faces_of(exchange.cells, exchange.element);
  return exchange;
}

std::string describe(const std::vector<std::uint32_t>& grid) {
  return fmt::format("{}", fmt::join(grid, "x"));
}

}  // namespace tca::tool
