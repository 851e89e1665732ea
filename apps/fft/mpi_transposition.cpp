// The exchange by MPI, for comparison: packed, as libraries do it, or by derived datatypes that say where numbers lie. No other
// file of the application calls MPI.
#include "fft/mpi_transposition.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <algorithm>
#include <cstring>

#include "shared/mpi_session.hpp"

namespace tca::fft {

namespace {

// The ranks among which a hop exchanges.
class GroupComm {
 public:
  GroupComm(const std::vector<int>& ranks) { MPI_Comm_split(MPI_COMM_WORLD, ranks.front(), 0, &comm_); }
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

// Calls act(place in the array, count) for every row of a piece.
template <class Act>
void each_row(const Box& whole, const Box& piece, const Act& act) {
  for (std::int64_t x = 0; x < piece.size[0]; ++x) {
    for (std::int64_t y = 0; y < piece.size[1]; ++y) {
      const std::int64_t line =
          (piece.first[0] - whole.first[0] + x) * whole.size[1] + piece.first[1] - whole.first[1] + y;
      act(line * whole.size[2] + piece.first[2] - whole.first[2], piece.size[2]);
    }
  }
}

// What MPI_Alltoallv is told of a side whose pieces lie one behind the other in a buffer.
struct Counts {
  explicit Counts(const Side& side, std::size_t number_bytes) {
    int at = 0;
    for (const Piece& piece : side.pieces) {
      count.push_back(static_cast<int>(piece.box.elements() * static_cast<std::int64_t>(number_bytes)));
      first.push_back(at);
      at += count.back();
    }
    bytes = static_cast<std::size_t>(at);
  }
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
    for (int batch = 0; batch < hop.batches; ++batch) {
      sides_.push_back(
          {Side{decomposition.box(hop.from, world.rank()), decomposition.sent(hop, world.rank(), batch)},
           Side{decomposition.box(hop.to, world.rank()), decomposition.received(hop, world.rank(), batch)}});
      for (const Side& side : sides_.back())
        buffer_.resize(std::max(buffer_.size(), Counts(side, sizeof *from_).bytes));
    }
    received_.resize(buffer_.size());
  }

  void start(int batch) override {
    const auto& [sent, received] = sides_[static_cast<std::size_t>(batch)];
    std::byte* at = buffer_.data();
    for (const Piece& piece : sent.pieces)
      each_row(sent.whole, piece.box, [&](std::int64_t place, std::int64_t count) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *from_;
        std::memcpy(at, from_ + place, bytes);
        at += bytes;
      });
    const Counts out(sent, sizeof *from_), in(received, sizeof *from_);
    MPI_Alltoallv(buffer_.data(), out.count.data(), out.first.data(), MPI_BYTE, received_.data(),
                  in.count.data(), in.first.data(), MPI_BYTE, comm_.get());
    const std::byte* from = received_.data();
    for (const Piece& piece : received.pieces)
      each_row(received.whole, piece.box, [&](std::int64_t place, std::int64_t count) {
        const std::size_t bytes = static_cast<std::size_t>(count) * sizeof *from_;
        std::memcpy(to_ + place, from, bytes);
        from += bytes;
      });
  }
  void wait(int) override {}

 private:
  GroupComm comm_;
  std::complex<Real>*from_, *to_;
  std::vector<std::array<Side, 2>> sides_;
  std::vector<std::byte> buffer_, received_;
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
