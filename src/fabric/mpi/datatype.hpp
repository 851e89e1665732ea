// Bytes in memory as MPI describes them.
#pragma once

#include <cstddef>
#include <vector>

#include "base/shape.hpp"
#include "fabric/mpi/handle.hpp"

namespace tca::mpi {

// Freed with its object; requests made from it go on.
class Datatype {
 public:
  explicit Datatype(MPI_Datatype type) : type_(type) {}
  // Bytes where none was made.
  MPI_Datatype get() const { return type_ ? type_.get() : MPI_BYTE; }

 private:
  OwnDatatype type_;
};

// What a message is made of: `count` of `type` from `address` on.
struct Content {
  const void* address = nullptr;
  int count = 0;
  Datatype type;
};

std::uint64_t bytes_of(const Content& content);

// So many bytes in a row, also more than an int can count.
Content dense(const void* address, std::size_t bytes);

// One side of a put.
struct Piece {
  const std::byte* address;
  const base::Shape* shape;
};
enum class Side { to, from };

// All pieces in one message, without a copy of ours.
Content scattered(const std::vector<Piece>& pieces, Side side);

}  // namespace tca::mpi
