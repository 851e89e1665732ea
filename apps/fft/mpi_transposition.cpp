// The exchange by MPI, for comparison: packed, as libraries do it, or by derived datatypes that say where numbers lie. No other
// file of the application calls MPI.
#include "fft/mpi_transposition.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "shared/mpi_session.hpp"
#include "tca/error.hpp"

namespace tca::fft {

namespace {

// The ranks among which a hop exchanges.
class GroupComm {
 public:
  explicit GroupComm(const std::vector<int>& ranks) {
    MPI_Comm_split(MPI_COMM_WORLD, ranks.front(), 0, &comm_);
  }
  GroupComm(const GroupComm&) = delete;
  GroupComm& operator=(const GroupComm&) = delete;
  ~GroupComm() { MPI_Comm_free(&comm_); }

  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// An exchange's pieces in one array: where they lie in it.
struct Side {
  Box whole;
  std::vector<Piece> pieces;
};

// Calls act(place in the array, count) for every row of every piece. Rows that follow each other are one.
template <class Act>
void each_row(const Side& side, const Act& act) {
  const Extents &first = side.whole.first, &size = side.whole.size;
  for (const Piece& piece : side.pieces) {
    const Box& box = piece.box;
    const bool follow = box.size[2] == size[2];
    for (std::int64_t x = 0; x < box.size[0]; ++x) {
      for (std::int64_t y = 0; y < (follow ? 1 : box.size[1]); ++y) {
        const std::int64_t line = (box.first[0] - first[0] + x) * size[1] + box.first[1] - first[1] + y;
        act(line * size[2] + box.first[2] - first[2], follow ? box.size[1] * box.size[2] : box.size[2]);
      }
    }
  }
}

// A side whose pieces lie one behind the other in a buffer, as MPI_Alltoallv is told.
struct PackedSide {
  PackedSide(Side of, std::size_t number_bytes) : side(std::move(of)) {
    std::int64_t at = 0;
    for (const Piece& piece : side.pieces) {
      const std::int64_t bytes_of_piece = piece.box.elements() * static_cast<std::int64_t>(number_bytes);
      first.push_back(static_cast<int>(at));
      count.push_back(static_cast<int>(bytes_of_piece));
      at += bytes_of_piece;
    }
    if (at > std::numeric_limits<int>::max())
      throw Error(
          Errc::invalid_argument,
          fmt::format("MPI counts up to 2 GiB, and a rank would exchange {} bytes at once: to compare, take "
                      "smaller extents, more ranks or more batches",
                      at));
    bytes = static_cast<std::size_t>(at);
  }
  Side side;
  std::vector<int> count, first;
  std::size_t bytes;
};

template <class Real>
class Packed : public Transposition {
 public:
  Packed(World& world, const Decomposition& decomposition, const Arrays<Real>& arrays, const Hop& hop)
      : comm_(decomposition.group(hop, world.rank())),
        from_(arrays[hop.from].data()),
        to_(arrays[hop.to].data()) {
    const int rank = world.rank();
    for (int batch = 0; batch < hop.batches; ++batch) {
      sent_.emplace_back(Side{decomposition.box(hop.from, rank), decomposition.sent(hop, rank, batch)},
                         sizeof *from_);
      received_.emplace_back(Side{decomposition.box(hop.to, rank), decomposition.received(hop, rank, batch)},
                             sizeof *from_);
      out_.resize(std::max(out_.size(), sent_.back().bytes));
      in_.resize(std::max(in_.size(), received_.back().bytes));
    }
  }

  void start(int batch) override {
    const PackedSide& sent = sent_[static_cast<std::size_t>(batch)];
    const PackedSide& received = received_[static_cast<std::size_t>(batch)];
    std::byte* at = out_.data();
    each_row(sent.side, [&](std::int64_t place, std::int64_t count) {
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *from_;
      std::memcpy(at, from_ + place, bytes);
      at += bytes;
    });
    MPI_Alltoallv(out_.data(), sent.count.data(), sent.first.data(), MPI_BYTE, in_.data(),
                  received.count.data(), received.first.data(), MPI_BYTE, comm_.get());
    const std::byte* from = in_.data();
    each_row(received.side, [&](std::int64_t place, std::int64_t count) {
      const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *from_;
      std::memcpy(to_ + place, from, bytes);
      from += bytes;
    });
  }
  void wait(int) override {}

 private:
  GroupComm comm_;
  std::complex<Real>*from_, *to_;
  std::vector<PackedSide> sent_, received_;  // by batch
  std::vector<std::byte> out_, in_;
};

// A datatype for each piece of a side.
class Types {
 public:
  Types(const Side& side, MPI_Datatype number) {
    for (const Piece& piece : side.pieces) {
      std::array<int, 3> extents{}, size{}, first{};
      for (std::size_t d = 0; d < 3; ++d) {
        extents[d] = static_cast<int>(side.whole.size[d]);
        size[d] = static_cast<int>(piece.box.size[d]);
        first[d] = static_cast<int>(piece.box.first[d] - side.whole.first[d]);
      }
      MPI_Type_create_subarray(3, extents.data(), size.data(), first.data(), MPI_ORDER_C, number,
                               &all_.emplace_back());
      MPI_Type_commit(&all_.back());
    }
  }
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types() {
    for (MPI_Datatype& type : all_) MPI_Type_free(&type);
  }
  const MPI_Datatype* data() const { return all_.data(); }

 private:
  std::vector<MPI_Datatype> all_;
};

template <class Real>
class ByDatatype : public Transposition {
 public:
  ByDatatype(World& world, const Decomposition& decomposition, const Arrays<Real>& arrays, const Hop& hop)
      : comm_(decomposition.group(hop, world.rank())),
        from_(arrays[hop.from].data()),
        to_(arrays[hop.to].data()) {
    const MPI_Datatype number = sizeof(Real) == sizeof(float) ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX;
    for (int batch = 0; batch < hop.batches; ++batch) {
      const Side sent{decomposition.box(hop.from, world.rank()),
                      decomposition.sent(hop, world.rank(), batch)};
      const Side received{decomposition.box(hop.to, world.rank()),
                          decomposition.received(hop, world.rank(), batch)};
      sent_.push_back(std::make_unique<Types>(sent, number));
      received_.push_back(std::make_unique<Types>(received, number));
      one_.assign(sent.pieces.size(), 1);
      none_.assign(sent.pieces.size(), 0);
    }
  }

  void start(int batch) override {
    const auto which = static_cast<std::size_t>(batch);
    MPI_Alltoallw(from_, one_.data(), none_.data(), sent_[which]->data(), to_, one_.data(), none_.data(),
                  received_[which]->data(), comm_.get());
  }
  void wait(int) override {}

 private:
  GroupComm comm_;
  std::complex<Real>*from_, *to_;
  std::vector<std::unique_ptr<Types>> sent_, received_;
  std::vector<int> one_, none_;
};

}  // namespace

template <class Real>
std::unique_ptr<Transposition> mpi_transposition(World& world, const Decomposition& decomposition,
                                                 const Arrays<Real>& arrays, const Hop& hop, bool packed) {
  if (packed) return std::make_unique<Packed<Real>>(world, decomposition, arrays, hop);
  return std::make_unique<ByDatatype<Real>>(world, decomposition, arrays, hop);
}

}  // namespace tca::fft

#else

namespace tca::fft {

template <class Real>
std::unique_ptr<Transposition> mpi_transposition(World&, const Decomposition&, const Arrays<Real>&,
                                                 const Hop&, bool) {
  return nullptr;
}

}  // namespace tca::fft

#endif

namespace tca::fft {

template std::unique_ptr<Transposition> mpi_transposition(World&, const Decomposition&, const Arrays<float>&,
                                                          const Hop&, bool);
template std::unique_ptr<Transposition> mpi_transposition(World&, const Decomposition&, const Arrays<double>&,
                                                          const Hop&, bool);

}  // namespace tca::fft
