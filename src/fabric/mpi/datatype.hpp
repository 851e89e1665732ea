// Describes bytes in memory to MPI.
#pragma once

#include <cstddef>
#include <vector>

#include "base/layout/shape.hpp"
#include "fabric/mpi/handle.hpp"

namespace tca::mpi {

// A datatype that is freed with its object; requests made with it continue.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) {}
  // Returns MPI_BYTE if no datatype was made.
  MPI_Datatype get() const { return type_ ? type_.get() : MPI_BYTE; }

 private:
  OwnDatatype type_;
};

// The content of a message: `count` elements of `type`, starting at `address`.
struct Content {
  const void* address = nullptr;
  int count = 0;
  Datatype type;
};

std::uint64_t bytes_of(const Content& content);

// Returns the content of `bytes` in a row, which may be more than an int can count.
Content dense(const void* address, std::size_t bytes);

// One side of a put.
struct Piece {
  const std::byte* address;
  const base::Shape* shape;
};
enum class Side { to, from };

// Returns the content of one message with all pieces, without copying on our side.
Content scattered(const std::vector<Piece>& pieces, Side side);

}  // namespace tca::mpi
