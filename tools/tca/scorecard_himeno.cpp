// Exchanges of halos: those of the Himeno benchmark, with its kernels, and those of lattice QCD alone.
#include <algorithm>
#include <array>
#include <deque>

#include "base/fail.hpp"
#include "scorecard_lab.hpp"

namespace tca::tool {

namespace {

constexpr int iterations = 3;

// Of the Jacobi step: reads p, the four arrays of a, three of b and of c, bnd and wrk1, writes wrk2; then p becomes wrk2.
constexpr double elements_moved = 1 + 4 + 3 + 3 + 1 + 1 + 1 + 2;
constexpr double flops_of_a_cell = 34;

// One message of a rank in an exchange.
struct Face {
  std::uint32_t to = 0;  // rank
  net::Rows rows;
  bool strided = false;  // MPI packs it
};

// Ranks in a grid of two dimensions, the second along the rings of PEACH2 and the first across, so that neighbours are one
// hop apart; on a lattice, whose dimensions are circles, as few hops as the rings allow.
class Placing {
 public:
  Placing(const net::Machine& machine, const std::vector<std::int64_t>& grid, bool periodic) {
    if (grid.size() < 2) base::fail(Errc::invalid_argument, "a grid has two dimensions");
    rows_ = static_cast<std::uint32_t>(grid[0]);
    columns_ = static_cast<std::uint32_t>(grid[1]);
    net::check_ranks(machine, std::uint64_t{rows_} * columns_);
    const net::Topology& topology = machine.network.interconnects.front().topology;
    const std::uint32_t ring = topology.size.front();
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      const std::uint32_t place = place_of(rank / columns_, rank % columns_, ring, periodic);
      nodes_.push_back(topology.order.empty() ? place : topology.order.at(place));
    }
  }

  std::uint32_t size() const { return rows_ * columns_; }
  std::uint32_t rows() const { return rows_; }
  std::uint32_t columns() const { return columns_; }
  std::uint32_t node(std::uint32_t rank) const { return nodes_[rank]; }

  // Neighbours along a dimension, those below first for even places and last for odd ones, so that no two send to one
  // PEACH2 at a time. Periodic: as on a lattice of QCD.
  std::vector<std::uint32_t> neighbours(std::uint32_t rank, int dimension, bool periodic) const {
    const std::uint32_t extent = dimension == 0 ? rows_ : columns_;
    const std::uint32_t stride = dimension == 0 ? columns_ : 1;
    const std::uint32_t at = rank / stride % extent;
    std::vector<std::uint32_t> found;
    if (extent == 1) return found;
    if (at > 0 || periodic) found.push_back(at > 0 ? rank - stride : rank + stride * (extent - 1));
    if (at + 1 < extent || periodic)
      found.push_back(at + 1 < extent ? rank + stride : rank - stride * (extent - 1));
    if (at % 2 == 1) std::ranges::reverse(found);
    return found;
  }

 private:
  // Circles of four fold into two places of either ring and the rungs between them, side by side with the next circle.
  std::uint32_t place_of(std::uint32_t row, std::uint32_t column, std::uint32_t ring, bool periodic) const {
    if (periodic && columns_ == 4) {
      const std::uint32_t along = 2 * row + (column == 1 || column == 2 ? 1 : 0);
      return column < 2 ? along : ring + along;
    }
    return rows_ <= 2 ? row * ring + column : row * columns_ + column;
  }

  std::uint32_t rows_ = 0, columns_ = 0;
  std::vector<std::uint32_t> nodes_;
};

// A rank's share of an exchange.
struct Halo {
  Halo(des::Simulator& simulator, std::uint32_t rank)
      : arrived(simulator, {"a face for rank", rank}), sent(simulator, {"the flag of rank", rank}) {}
  des::Counter arrived, sent;
  std::vector<Face> direct, mpi;
  net::DmaChain chain;
  std::uint64_t expected = 0;  // of faces by chains, a step
};

void compile(Lab& lab, const Placing& placing, std::deque<Halo>& halos) {
  for (std::uint32_t rank = 0; rank < placing.size(); ++rank)
    for (const Face& face : halos[rank].direct) {
      halos[rank].chain.descriptors.push_back({.from = lab.gpu(placing.node(rank)),
                                               .to = lab.gpu(placing.node(face.to)),
                                               .rows = face.rows,
                                               .arrived = &halos[face.to].arrived});
      ++halos[face.to].expected;
    }
  for (Halo& halo : halos)
    if (!halo.chain.descriptors.empty()) halo.chain.descriptors.back().sent = &halo.sent;
}

des::Task pack(Lab& lab, const std::vector<Face>& faces) {
  for (const Face& face : faces) {
    if (!face.strided) continue;
    des::Task kernel = lab.run_kernel(2 * static_cast<double>(face.rows.total()), 0);
    co_await kernel;
  }
}

// One step of all of a rank's faces: MPI's and the chain's at the same time.
des::Task exchange(Lab& lab, const Placing& placing, std::deque<Halo>& halos, std::uint32_t rank,
                   std::uint64_t step) {
  Halo& own = halos[rank];
  const std::uint32_t node = placing.node(rank);
  des::Task packed = pack(lab, own.mpi);
  co_await packed;
  des::Group messages(lab.simulator(), {"the messages of rank", rank});
  for (const Face& face : own.mpi) {
    const std::uint32_t other = placing.node(face.to);
    messages.spawn(lab.mpi().receive(other, node, face.rows.total()), {"receive of rank", rank});
    messages.spawn(lab.mpi().send(node, other, face.rows.total()), {"send of rank", rank});
  }
  if (!own.chain.descriptors.empty()) {
    des::Task started = lab.ring(node, 0, own.chain);
    co_await started;
  }
  if (own.expected > 0) {
    des::Task came = lab.watch(own.arrived, own.expected * (step + 1));
    co_await came;
  }
  if (!own.chain.descriptors.empty()) {
    des::Task left = lab.watch(own.sent, step + 1);
    co_await left;
  }
  co_await messages.done();
  des::Task unpacked = pack(lab, own.mpi);
  co_await unpacked;
}

// The residual: out of the GPU, then added up by the processors, rank with rank ^ 1, ^ 2, ...
des::Task reduce(Lab& lab, const Placing& placing, std::uint32_t rank) {
  const net::HostKind& host = lab.machine().host;
  co_await lab.simulator().sleep(host.copy_start);
  constexpr std::uint64_t bytes = 8;
  for (std::uint32_t mask = 1; mask < placing.size(); mask *= 2) {
    const std::uint32_t other = rank ^ mask;
    if (other >= placing.size()) continue;
    des::Group both(lab.simulator(), {"an exchange of rank", rank});
    both.spawn(lab.host_mpi().send(placing.node(rank), placing.node(other), bytes), {"send of rank", rank});
    both.spawn(lab.host_mpi().receive(placing.node(other), placing.node(rank), bytes),
               {"receive of rank", rank});
    co_await both.done();
  }
}

struct Cells {
  std::array<std::uint64_t, 3> local{};  // of a rank
  std::uint64_t element = 8;

  double count() const { return static_cast<double>(local[0] * local[1] * local[2]); }
};

des::Task iterate(Lab& lab, const Placing& placing, std::deque<Halo>& halos, std::uint32_t rank,
                  Cells cells) {
  const double bytes = cells.count() * elements_moved * static_cast<double>(cells.element);
  // The copy back is a kernel of its own.
  const double copied = cells.count() * 2 * static_cast<double>(cells.element);
  for (std::uint64_t step = 0; step < iterations; ++step) {
    des::Task jacobi = lab.run_kernel(bytes - copied, cells.count() * flops_of_a_cell);
    co_await jacobi;
    des::Task back = lab.run_kernel(copied, 0);
    co_await back;
    des::Task exchanged = exchange(lab, placing, halos, rank, step);
    co_await exchanged;
    des::Task reduced = reduce(lab, placing, rank);
    co_await reduced;
  }
}

Cells cells_of(const RunSettings& settings) {
  if (settings.extents.size() != 3 || settings.grid.size() != 3 || settings.grid[2] != 1)
    base::fail(Errc::invalid_argument, "Himeno takes three extents and a grid whose last dimension is 1");
  Cells cells{.element = static_cast<std::uint64_t>(settings.element)};
  for (std::size_t i = 0; i < 3; ++i)
    cells.local[i] = static_cast<std::uint64_t>(settings.extents[i] / settings.grid[i]);
  return cells;
}

// Planes of constant i are contiguous, planes of constant j rows of k. Hybrid: the former by MPI, the latter by chains.
void add_faces(const Placing& placing, const RunSettings& settings, const Cells& cells,
               std::deque<Halo>& halos) {
  const net::Rows block{.bytes = cells.local[1] * cells.local[2] * cells.element};
  const net::Rows rows{.bytes = cells.local[2] * cells.element, .count = cells.local[0]};
  for (std::uint32_t rank = 0; rank < placing.size(); ++rank)
    for (const int dimension : {0, 1})
      for (const std::uint32_t other : placing.neighbours(rank, dimension, false)) {
        const Face face{other, dimension == 0 ? block : rows, dimension == 1};
        const bool by_mpi = settings.scheme == "mpi" || (settings.scheme == "hybrid" && dimension == 0);
        (by_mpi ? halos[rank].mpi : halos[rank].direct).push_back(face);
      }
}

std::deque<Halo> make_halos(Lab& lab, std::uint32_t ranks) {
  std::deque<Halo> halos;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) halos.emplace_back(lab.simulator(), rank);
  return halos;
}

// MPI's windows: whoever is written to says so first (post), and hears when all is there (complete).
des::Task epoch(Lab& lab, const Placing& placing, std::deque<Halo>& halos, std::uint32_t rank) {
  des::Group notices(lab.simulator(), {"the notices of rank", rank});
  const std::uint32_t node = placing.node(rank);
  for (const Face& face : halos[rank].mpi) {
    const std::uint32_t other = placing.node(face.to);
    notices.spawn(lab.host_mpi().send(node, other, 8), {"notice of rank", rank});
    notices.spawn(lab.host_mpi().receive(other, node, 8), {"notice to rank", rank});
  }
  co_await notices.done();
}

des::Task exchange_windows(Lab& lab, const Placing& placing, std::deque<Halo>& halos, std::uint32_t rank) {
  des::Task posted = epoch(lab, placing, halos, rank);
  co_await posted;
  des::Task data = exchange(lab, placing, halos, rank, 0);
  co_await data;
  des::Task completed = epoch(lab, placing, halos, rank);
  co_await completed;
}

}  // namespace

double run_himeno(const net::Machine& machine, const RunSettings& settings) {
  const Cells cells = cells_of(settings);
  const Placing placing(machine, settings.grid, false);
  Lab lab(machine, settings);
  std::deque<Halo> halos = make_halos(lab, placing.size());
  add_faces(placing, settings, cells, halos);
  compile(lab, placing, halos);
  for (std::uint32_t rank = 0; rank < placing.size(); ++rank)
    lab.simulator().spawn(iterate(lab, placing, halos, rank, cells), {"rank", rank});
  return lab.run() / iterations;
}

// Two messages a divided dimension, of `bytes` over its number of ranks (S0, 6.2); periodic.
double run_qcd_halo(const net::Machine& machine, const RunSettings& settings) {
  const Placing placing(machine, settings.grid, true);
  Lab lab(machine, settings);
  std::deque<Halo> halos = make_halos(lab, placing.size());
  for (std::uint32_t rank = 0; rank < placing.size(); ++rank)
    for (const int dimension : {0, 1})
      for (const std::uint32_t other : placing.neighbours(rank, dimension, true)) {
        const std::uint32_t extent = dimension == 0 ? placing.rows() : placing.columns();
        const Face face{other, {.bytes = static_cast<std::uint64_t>(settings.bytes) / extent}};
        (settings.scheme == "direct" ? halos[rank].direct : halos[rank].mpi).push_back(face);
      }
  compile(lab, placing, halos);
  for (std::uint32_t rank = 0; rank < placing.size(); ++rank) {
    if (settings.scheme == "rma")
      lab.simulator().spawn(exchange_windows(lab, placing, halos, rank), {"rank", rank});
    else
      lab.simulator().spawn(exchange(lab, placing, halos, rank, 0), {"rank", rank});
  }
  return lab.run();
}

}  // namespace tca::tool
