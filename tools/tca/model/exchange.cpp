// Exchanges of faces: those of the Himeno benchmark, with its kernels, and bare ones in any grid of one to
// three dimensions.
#include <algorithm>

#include "model/program.hpp"
#include "model/walk.hpp"
#include "tca/grid.hpp"

namespace tca::tool {

namespace {

// Elements moved for a cell in the Jacobi step. It reads p, the four arrays of a, three of b and of c, bnd
// and wrk1, and writes wrk2; then wrk2 is copied to p.
constexpr double elements_moved = 1 + 4 + 3 + 3 + 1 + 1 + 1 + 2;
constexpr double elements_copied = 2;
constexpr double flops_of_a_cell = 34;
// Bytes that a GPU's memory moves to access a single element.
constexpr double sector_bytes = 32;

// One of a rank's faces. A plane of constant i is contiguous, one of constant j consists of rows of k, and
// one of constant k of single elements.
struct Face {
  std::uint32_t to;  // rank
  std::size_t dimension, side;
  net::Rows rows;
};

Grid grid_of(const Exchange& exchange) {
  std::vector<int> shape(exchange.grid.begin(), exchange.grid.end());
  int ranks = 1;
  for (const int extent : shape) ranks *= extent;
  return {ranks, shape, std::vector<bool>(shape.size(), exchange.periodic)};
}

// Calls take(rank, face) for all faces along the divided dimensions, first those that ranks exchange first.
// In pairs, ranks at even places begin with the lower neighbour and those at odd places with the upper one.
// Either way no two send to the same rank at a time.
template <class Take>
void for_each_face(const Exchange& exchange, Take take) {
  const Grid grid = grid_of(exchange);
  for (std::size_t d = 0; d < exchange.grid.size(); ++d) {
    for (const std::size_t turn : {0U, 1U}) {
      for (int rank = 0; rank < grid.ranks() && exchange.grid[d] > 1; ++rank) {
        const bool odd = grid.coordinates(rank)[d] % 2 != 0;
        const std::size_t side = exchange.in_pairs && odd ? 1 - turn : turn;
        Grid::Coordinates step{};
        step[d] = side == 0 ? -1 : 1;
        if (const std::optional<int> to = grid.neighbour(rank, step))
          take(static_cast<std::uint32_t>(rank),
               Face{static_cast<std::uint32_t>(*to), d, side, exchange.faces[d]});
      }
    }
  }
}

// Returns the bytes that the kernel which packs a face moves; each single element costs a sector.
double packing_bytes(const Face& face) {
  const auto total = static_cast<double>(face.rows.total());
  if (static_cast<double>(face.rows.bytes) >= sector_bytes) return 2 * total;
  return total + total / static_cast<double>(face.rows.bytes) * sector_bytes;
}

class Exchanger {
 public:
  Exchanger(Stage& stage, const Exchange& exchange)
      : stage_(stage), exchange_(exchange), steps_(stage), packings_(stage.ranks()) {
    for_each_face(exchange, [this](std::uint32_t rank, const Face& face) { add(rank, face); });
    if (exchange.ends_together) barrier_ = sum_of_a_word(stage);
    if (exchange.computes) residual_ = sum_of_a_word(stage);
  }

  des::Task iterate(std::uint32_t rank) {
    for (std::uint64_t step = 0; step < exchange_.iterations; ++step) {
      if (exchange_.computes) {
        des::Task computed = compute(rank);
        co_await computed;
      }
      des::Task exchanged = exchange(rank, step + 1);
      co_await exchanged;
      if (exchange_.computes) {
        des::Task reduced = reduce(rank, step + 1);
        co_await reduced;
      }
      stage_.end_iteration(step);
    }
  }

 private:
  // The hybrid scheme sends blocks by MPI and everything else by chains, as Odajima et al. do. In boxes,
  // whose GPUs store into each other, MPI carries only what has no other way.
  bool by_mpi(std::uint32_t rank, const Face& face) const {
    if (exchange_.scheme != Scheme::hybrid) return exchange_.scheme != Scheme::direct;
    if (!stage_.reaches(rank, face.to)) return true;
    return find_way(stage_.machine()).way != Way::stores && face.dimension == 0;
  }

  void add(std::uint32_t rank, const Face& face) {
    const bool message = by_mpi(rank, face);
    const bool packed = face.rows.count > 1 && (face.dimension == 2 || message || !stage_.puts_rows());
    if (packed) packings_[rank].push_back(packing_bytes(face));
    const Carrier carrier = !message                          ? Carrier::chain
                            : exchange_.scheme == Scheme::rma ? Carrier::rma
                                                              : Carrier::mpi;
    const net::Rows rows = packed ? net::Rows{.bytes = face.rows.total()} : face.rows;
    // The face through which a message leaves tells the messages of a pair of ranks apart.
    steps_.put({rank, 0}, {face.to, 0}, rows, carrier,
               static_cast<std::uint32_t>(2 * face.dimension + face.side));
  }

  des::Task compute(std::uint32_t rank) {
    const auto& cells = exchange_.cells;
    const auto count = static_cast<double>(cells[0] * cells[1] * cells[2]);
    const double bytes = count * static_cast<double>(exchange_.element);
    des::Task jacobi =
        stage_.kernel(rank, "jacobi", bytes * (elements_moved - elements_copied), count * flops_of_a_cell);
    co_await jacobi;
    des::Task back = stage_.kernel(rank, "copy back", bytes * elements_copied, 0);
    co_await back;
  }

  des::Task pack(std::uint32_t rank, std::string_view what) {
    for (const double bytes : packings_[rank]) {
      des::Task kernel = stage_.kernel(rank, what, bytes, 0);
      co_await kernel;
    }
  }

  des::Task exchange(std::uint32_t rank, std::uint64_t time) {
    des::Task packed = pack(rank, "pack");
    co_await packed;
    des::Task exchanged = steps_.run({rank, 0}, time);
    co_await exchanged;
    if (barrier_) {
      des::Task together = barrier_->play(rank, time, false);
      co_await together;
    }
    des::Task unpacked = pack(rank, "unpack");
    co_await unpacked;
  }

  // The residual is copied out of the GPU first. The processors' additions cost nothing.
  des::Task reduce(std::uint32_t rank, std::uint64_t time) {
    des::Task out = stage_.spend(rank, "copy", stage_.machine().host.copy_start);
    co_await out;
    des::Task summed = residual_->play(rank, time, false);
    co_await summed;
  }

  Stage& stage_;
  Exchange exchange_;
  Steps steps_;
  // Bytes moved by each kernel that packs before the exchange, and again by the one that unpacks after it.
  std::vector<std::vector<double>> packings_;  // by rank
  std::unique_ptr<Walk> barrier_, residual_;
};

}  // namespace

std::array<net::Rows, 3> faces_of(const std::array<std::uint64_t, 3>& cells, std::uint64_t element) {
  return {net::Rows{.bytes = cells[1] * cells[2] * element},
          net::Rows{.bytes = cells[2] * element, .count = cells[0]},
          net::Rows{.bytes = element, .count = cells[0] * cells[1]}};
}

void run_exchange(Stage& stage, const Exchange& exchange) {
  Exchanger exchanger(stage, exchange);
  for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank)
    stage.simulator().spawn(exchanger.iterate(rank), {"rank", rank});
  stage.simulator().run();
}

std::uint64_t bytes_of(const Exchange& exchange) {
  std::uint64_t bytes = 0;
  for_each_face(exchange, [&bytes](std::uint32_t, const Face& face) { bytes += face.rows.total(); });
  return bytes;
}

}  // namespace tca::tool
