// Exchanges of halos: those of the Himeno benchmark, with its kernels, and those of lattice QCD without
// kernels.
#include "base/fail.hpp"
#include "model/program.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

std::vector<std::uint32_t> grid_of(const net::Machine& machine, const RunSettings& settings) {
  std::vector<std::uint32_t> grid;
  std::uint64_t ranks = 1;
  for (const std::int64_t extent : settings.grid) {
    grid.push_back(static_cast<std::uint32_t>(extent));
    ranks *= grid.back();
  }
  net::check_ranks(machine, ranks);
  grid.resize(3, 1);
  return grid;
}

std::uint32_t ranks_in(const std::vector<std::uint32_t>& grid) { return grid[0] * grid[1] * grid[2]; }

// Places a lattice, whose dimensions are periodic. Unless the rungs of a double ring form one of the
// dimensions already, a circle of four ranks is folded: it takes two adjacent places of either ring and the
// rungs between them, and the next circle is beside it. So bytes travel as few hops as the rings allow.
std::vector<net::RankPlace> places_on_lattice(const net::Machine& machine,
                                              const std::vector<std::uint32_t>& grid, std::int64_t gpu) {
  std::vector<net::RankPlace> places = place_ranks(machine, ranks_in(grid), grid, gpu);
  const DirectWay way = find_way(machine);
  if (way.way != Way::chains) return places;
  const net::Topology& topology = machine.network.interconnects[way.interconnect].topology;
  const std::uint32_t ring = topology.size.front(), columns = grid[1];
  const bool folds = topology.kind == net::TopologyKind::double_ring && columns == 4 && grid[0] > 2 &&
                     2 * grid[0] <= ring && grid[2] == 1;
  for (std::uint32_t rank = 0; folds && rank < places.size(); ++rank) {
    const std::uint32_t row = rank / columns, column = rank % columns;
    const std::uint32_t along = 2 * row + (column == 1 || column == 2 ? 1 : 0);
    const std::uint32_t place = column < 2 ? along : ring + along;
    places[rank].node = topology.order.empty() ? place : topology.order.at(place);
  }
  return places;
}

double run(const net::Machine& machine, const RunSettings& settings, const Exchange& exchange,
           std::vector<net::RankPlace> places) {
  Stage stage(machine, {.places = std::move(places),
                        .fidelity = net::Fidelity::tlp,
                        .library = settings.library,
                        .keeps_spans = false});
  run_exchange(stage, exchange);
  return des::to_us(stage.simulator().now()) / static_cast<double>(exchange.iterations);
}

}  // namespace

double run_himeno(const net::Machine& machine, const RunSettings& settings) {
  Exchange exchange{.scheme = scheme_named(settings.scheme),
                    .grid = grid_of(machine, settings),
                    .ends_together = settings.barrier,
                    .computes = true};
  exchange.element = static_cast<std::uint64_t>(settings.element);
  for (std::size_t i = 0; i < 3; ++i) {
    exchange.cells[i] = static_cast<std::uint64_t>(settings.extents[i]) / exchange.grid[i];
    if (exchange.cells[i] == 0)
      base::fail(Errc::invalid_argument, "the grid has {} ranks along a dimension of {} cells",
                 exchange.grid[i], settings.extents[i]);
  }
  exchange.faces = faces_of(exchange.cells, exchange.element);
  return run(machine, settings, exchange,
             place_ranks(machine, ranks_in(exchange.grid), exchange.grid, settings.gpu));
}

// Exchanges two messages along each divided dimension, which is periodic. `bytes` is the face of the whole
// lattice, which is shared by the ranks side by side in the other dimensions. In QUDA all ranks send backwards
// first and then forwards.
double run_qcd_halo(const net::Machine& machine, const RunSettings& settings) {
  Exchange exchange{.scheme = scheme_named(settings.scheme),
                    .grid = grid_of(machine, settings),
                    .periodic = true,
                    .in_pairs = false,
                    .iterations = 1};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint32_t sharing = ranks_in(exchange.grid) / exchange.grid[i];
    exchange.faces[i] = {.bytes = static_cast<std::uint64_t>(settings.bytes) / sharing};
  }
  return run(machine, settings, exchange, places_on_lattice(machine, exchange.grid, settings.gpu));
}

}  // namespace tca::tool
