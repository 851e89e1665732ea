// Exchanges of faces: those of the Himeno benchmark, with its kernels, and bare ones in any grid of one to
// three dimensions.
#include <algorithm>
#include <deque>

#include "model/program.hpp"

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
  std::uint32_t to = 0;  // rank
  int dimension = 0, side = 0;
  net::Rows rows;
};

struct Grid3 {
  std::array<std::uint32_t, 3> shape{1, 1, 1};
  bool periodic = false;

  std::uint32_t stride(int dimension) const {
    return dimension == 0 ? shape[1] * shape[2] : dimension == 1 ? shape[2] : 1;
  }

  // Returns the faces along a dimension. Ranks at even places send to the lower neighbour first and those at
  // odd places to the upper one, so that no two send to the same rank at a time.
  std::vector<Face> faces(std::uint32_t rank, int dimension) const {
    const std::uint32_t extent = shape[static_cast<std::size_t>(dimension)];
    const std::uint32_t step = stride(dimension);
    const std::uint32_t at = rank / step % extent;
    std::vector<Face> found;
    if (extent == 1) return found;
    if (at > 0 || periodic)
      found.push_back({at > 0 ? rank - step : rank + step * (extent - 1), dimension, 0, {}});
    if (at + 1 < extent || periodic)
      found.push_back({at + 1 < extent ? rank + step : rank - step * (extent - 1), dimension, 1, {}});
    if (at % 2 == 1) std::ranges::reverse(found);
    return found;
  }
};

Grid3 grid_of(const Exchange& exchange) {
  Grid3 grid{.periodic = exchange.periodic};
  std::ranges::copy(exchange.grid, grid.shape.begin());
  return grid;
}

// Returns the bytes that the kernel which packs a face moves; each single element costs a sector.
double packing_bytes(const Face& face) {
  const auto total = static_cast<double>(face.rows.total());
  if (static_cast<double>(face.rows.bytes) >= sector_bytes) return 2 * total;
  return total + total / static_cast<double>(face.rows.bytes) * sector_bytes;
}

// A rank's share of the exchange.
struct Share {
  Share(Stage& stage, std::uint32_t rank) : chain(stage.simulator(), rank) {
    for (int i = 0; i < 6; ++i) arrived.emplace_back(stage.simulator(), des::Label{"a face for rank", rank});
  }
  std::deque<des::Counter> arrived;  // by dimension and side
  std::vector<des::Counter*> expected;
  std::vector<Face> messages;
  Chain chain;
  // Bytes moved by each kernel that packs before the exchange, and again by the one that unpacks after it.
  std::vector<double> packings;
};

class Exchanger {
 public:
  Exchanger(Stage& stage, const Exchange& exchange) : stage_(stage), exchange_(exchange) {
    for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank) shares_.emplace_back(stage, rank);
    const Grid3 grid = grid_of(exchange);
    for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank)
      for (const int dimension : {0, 1, 2})
        for (Face& face : grid.faces(rank, dimension)) add(rank, face);
    for (Share& share : shares_)
      if (!share.chain.puts.empty()) share.chain.puts.back().notifies = true;
  }

  des::Task iterate(std::uint32_t rank) {
    for (std::uint64_t step = 0; step < exchange_.iterations; ++step) {
      if (exchange_.computes) {
        des::Task computed = compute(rank);
        co_await computed;
      }
      des::Task exchanged = exchange(rank, step);
      co_await exchanged;
      if (exchange_.computes) {
        des::Task reduced = reduce(rank, step);
        co_await reduced;
      }
      stage_.end_iteration(step);
    }
  }

 private:
  // The hybrid scheme sends blocks by MPI and everything else by chains, as S3 does. In boxes, whose GPUs
  // store into each other, MPI carries only what has no other way.
  bool by_mpi(std::uint32_t rank, const Face& face) const {
    if (exchange_.scheme != Scheme::hybrid) return exchange_.scheme != Scheme::direct;
    if (!stage_.reaches(rank, face.to)) return true;
    return find_way(stage_.machine()).way != Way::stores && face.dimension == 0;
  }

  void add(std::uint32_t rank, Face& face) {
    face.rows = exchange_.faces[static_cast<std::size_t>(face.dimension)];
    const bool message = by_mpi(rank, face);
    const bool packed = face.rows.count > 1 && (face.dimension == 2 || message || !stage_.puts_rows());
    Share& share = shares_[rank];
    if (packed) share.packings.push_back(packing_bytes(face));
    if (message) {
      share.messages.push_back(face);
      return;
    }
    des::Counter& there =
        shares_[face.to].arrived[static_cast<std::size_t>(2 * face.dimension + (1 - face.side))];
    const net::Rows rows = packed ? net::Rows{.bytes = face.rows.total()} : face.rows;
    share.chain.puts.push_back({.to = face.to, .rows = rows, .arrived = &there});
    shares_[face.to].expected.push_back(&there);
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
    for (const double bytes : shares_[rank].packings) {
      des::Task kernel = stage_.kernel(rank, what, bytes, 0);
      co_await kernel;
    }
  }

  // MPI's messages and the chain are under way at the same time.
  des::Task exchange(std::uint32_t rank, std::uint64_t step) {
    Share& own = shares_[rank];
    des::Task packed = pack(rank, "pack");
    co_await packed;
    des::Group messages(stage_.simulator(), {"the messages of rank", rank});
    for (const Face& face : own.messages) add_messages(rank, face, messages);
    if (!own.chain.puts.empty()) {
      des::Task started = stage_.start(rank, 0, own.chain);
      co_await started;
    }
    des::Task came = stage_.watch(rank, own.expected, step + 1);
    co_await came;
    if (!own.chain.puts.empty()) {
      des::Task left = stage_.watch(rank, own.chain.sent, step + 1);
      co_await left;
    }
    des::Task finished = stage_.finish(rank, messages);
    co_await finished;
    des::Task unpacked = pack(rank, "unpack");
    co_await unpacked;
  }

  // Adds the message that leaves through a face and the one that arrives through it. The face through which a
  // message leaves tells the messages of a pair of ranks apart.
  void add_messages(std::uint32_t rank, const Face& face, des::Group& messages) {
    net::Mpi& mpi = stage_.mpi();
    const std::uint64_t bytes = face.rows.total();
    const auto out = static_cast<std::uint32_t>(2 * face.dimension + face.side);
    const auto in = static_cast<std::uint32_t>(2 * face.dimension + 1 - face.side);
    const bool one_sided = exchange_.scheme == Scheme::rma;
    messages.spawn(one_sided ? mpi.expose(face.to, rank, bytes, in) : mpi.receive(face.to, rank, bytes, in),
                   {"receive of rank", rank});
    messages.spawn(one_sided ? mpi.put(rank, face.to, bytes, out) : mpi.send(rank, face.to, bytes, out),
                   {"send of rank", rank});
  }

  // The residual is copied out of the GPU and added up by the processors, rank with rank ^ 1, ^ 2, ..., by
  // MPI or, without it, by stores.
  des::Task reduce(std::uint32_t rank, std::uint64_t step) {
    constexpr std::uint32_t bytes = 8;
    des::Task out = stage_.spend(rank, "copy", stage_.machine().host.copy_start);
    co_await out;
    std::size_t place = 0;
    for (std::uint32_t mask = 1; mask < stage_.ranks(); mask *= 2, ++place) {
      const std::uint32_t other = rank ^ mask;
      if (other >= stage_.ranks()) continue;
      if (stage_.has_mpi()) {
        des::Task swapped = stage_.swap(rank, stage_.host_mpi(), other, other, bytes);
        co_await swapped;
        continue;
      }
      des::Task stored = stage_.store(rank, other, bytes, residual(other, place));
      co_await stored;
      des::Task came = stage_.watch(rank, residual(rank, place), step + 1);
      co_await came;
    }
  }

  des::Counter& residual(std::uint32_t rank, std::size_t place) {
    if (residuals_.empty())
      for (std::uint32_t i = 0; i < stage_.ranks() * 32; ++i)
        residuals_.emplace_back(stage_.simulator(), des::Label{"a residual for rank", i / 32});
    return residuals_[rank * 32 + place];
  }

  Stage& stage_;
  Exchange exchange_;
  std::deque<Share> shares_;
  std::deque<des::Counter> residuals_;
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
  const Grid3 grid = grid_of(exchange);
  std::uint64_t bytes = 0;
  for (std::uint32_t rank = 0; rank < grid.shape[0] * grid.shape[1] * grid.shape[2]; ++rank)
    for (const int dimension : {0, 1, 2})
      bytes +=
          grid.faces(rank, dimension).size() * exchange.faces[static_cast<std::size_t>(dimension)].total();
  return bytes;
}

}  // namespace tca::tool
