// A buffer of a program, by its datatype, in memory of a host or of a GPU: elements that go into a row, and come from one.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "mpi/p2p/elements.hpp"

namespace tca::interposer {

class Moved {
 public:
  // The buffer may be MPI_IN_PLACE, and the datatype then anything, as long as neither is moved.
  Moved(const void* buffer, std::int64_t count, MPI_Datatype type);

  std::int64_t bytes() const { return count_ * size_; }
  void* buffer() const { return buffer_; }
  std::int64_t count() const { return count_; }
  MPI_Datatype type() const { return type_; }
  Moved block(std::int64_t number) const;  // as far again, that many times
  Moved blocks(int number) const;
  Moved first(std::int64_t bytes) const;  // or all, if that is less
  void read_into(std::byte* packed) const;
  void write_from(const std::byte* packed) const;

 private:
  std::byte* buffer_;
  std::int64_t count_;
  MPI_Datatype type_;
  MPI_Count size_ = 0;
};

}  // namespace tca::interposer
