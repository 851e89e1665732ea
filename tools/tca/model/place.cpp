// Places ranks on the nodes of a machine.
#include <optional>

#include "base/fail.hpp"
#include "model/program.hpp"

namespace tca::tool {

namespace {

// Places a grid on a double ring, where it fits: its second dimension along either ring, its first from ring
// to ring.
std::uint32_t place_on_rings(std::uint32_t rank, const net::Topology& topology,
                             const std::vector<std::uint32_t>& grid) {
  const std::uint32_t ring = topology.size.front();
  if (grid.size() < 2) return rank;
  const std::uint32_t columns = rank % (grid[1] * (grid.size() > 2 ? grid[2] : 1));
  const std::uint32_t row = rank / (grid[1] * (grid.size() > 2 ? grid[2] : 1));
  const bool flat = grid.size() < 3 || grid[2] == 1;
  return flat && grid[0] <= 2 && grid[1] <= ring ? row * ring + columns : rank;
}

// Places a grid on a torus, where it fits: its last dimension along x, the one before along y, and so on.
std::uint32_t place_on_torus(std::uint32_t rank, const net::Topology& topology,
                             const std::vector<std::uint32_t>& grid) {
  const std::size_t dimensions = topology.size.size();
  std::uint32_t place = 0, stride = 1, left = rank;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const std::uint32_t extent = grid[grid.size() - 1 - i];
    const std::uint32_t room = i < dimensions ? topology.size[i] : 1;
    if (extent > room) return rank;
    place += left % extent * stride;
    left /= extent;
    stride *= room;
  }
  return place;
}

// How many ranks of a grid a box of GPUs holds along each dimension: as near to a cube as the grid allows.
// Returns nothing where no brick of so many ranks fits it.
std::optional<std::vector<std::uint32_t>> brick_of(std::uint32_t places,
                                                   const std::vector<std::uint32_t>& grid) {
  std::vector<std::uint32_t> brick(grid.size(), 1);
  for (; places > 1; places /= 2) {
    std::optional<std::size_t> smallest;
    for (std::size_t d = grid.size(); d-- > 0;)
      if (grid[d] / brick[d] % 2 == 0 && (!smallest || brick[d] < brick[*smallest])) smallest = d;
    if (!smallest || places % 2 != 0) return std::nullopt;
    brick[*smallest] *= 2;
  }
  return brick;
}

// Returns the number of a rank of a grid when boxes are filled brick by brick.
std::uint32_t place_in_boxes(std::uint32_t rank, const std::vector<std::uint32_t>& brick,
                             const std::vector<std::uint32_t>& grid) {
  std::uint32_t box = 0, within = 0, boxes = 1, places = 1;
  for (std::size_t d = grid.size(); d-- > 0; rank /= grid[d]) {
    const std::uint32_t at = rank % grid[d];
    within += at % brick[d] * places;
    box += at / brick[d] * boxes;
    places *= brick[d];
    boxes *= grid[d] / brick[d];
  }
  return box * places + within;
}

}  // namespace

std::vector<net::RankPlace> place_ranks(const net::Machine& machine, std::uint32_t ranks,
                                        const std::vector<std::uint32_t>& grid, std::int64_t gpu) {
  net::check_ranks(machine, ranks);
  const bool single = machine.places.size() == 1;
  if (gpu != 0 && !single)
    base::fail(Errc::invalid_argument, "--gpu {}: on {} each GPU of a node has a rank of its own", gpu,
               machine.name);
  std::vector<net::RankPlace> places;
  const DirectWay way = find_way(machine);
  std::optional<std::vector<std::uint32_t>> brick;
  if (way.way == Way::stores && !grid.empty() && ranks > machine.places.size())
    brick = brick_of(static_cast<std::uint32_t>(machine.places.size()), grid);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    net::RankPlace& own =
        places.emplace_back(net::place_of_rank(machine, brick ? place_in_boxes(rank, *brick, grid) : rank));
    if (gpu != 0) own.unit = net::find_unit(machine.network.node, fmt::format("gpu{}", gpu));
    if (grid.empty() || !single || way.interconnect >= machine.network.interconnects.size()) continue;
    const net::Topology& topology = machine.network.interconnects[way.interconnect].topology;
    if (topology.kind == net::TopologyKind::torus) own.node = place_on_torus(rank, topology, grid);
    if (topology.kind == net::TopologyKind::double_ring && ranks <= way.nodes)
      own.node = place_on_rings(rank, topology, grid);
    if (!topology.order.empty())
      own.node = own.node / way.nodes * way.nodes + topology.order[own.node % way.nodes];
  }
  return places;
}

}  // namespace tca::tool
