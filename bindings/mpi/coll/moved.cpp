#include "mpi/coll/moved.hpp"

namespace tca::interposer {

Moved::Moved(const void* buffer, std::int64_t count, MPI_Datatype type)
    : buffer_(static_cast<std::byte*>(const_cast<void*>(buffer))), count_(count), type_(type) {
  if (type == MPI_DATATYPE_NULL) return;
  thread_local MPI_Datatype last = MPI_DATATYPE_NULL;
  thread_local MPI_Count last_size = 0;
  size_ = last_size;
  if (type == last) return;
  PMPI_Type_size_x(type, &size_);
  // What a program has made may go, and its handle become another's.
  if (combiner_of(type) != MPI_COMBINER_NAMED) return;
  last = type;
  last_size = size_;
}

Moved Moved::block(std::int64_t number) const {
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type_, &lower, &extent);
  Moved moved = *this;
  moved.buffer_ += number * count_ * extent;
  return moved;
}

Moved Moved::blocks(int number) const {
  Moved moved = *this;
  moved.count_ *= number;
  return moved;
}

Moved Moved::first(std::int64_t bytes) const {
  Moved moved = *this;
  if (bytes < moved.bytes()) moved.count_ = bytes / size_;
  return moved;
}

void Moved::read_into(std::byte* packed) const { Elements(buffer_, count_, type_).read_into(packed); }

void Moved::write_from(const std::byte* packed) const { Elements(buffer_, count_, type_).write_from(packed); }

}  // namespace tca::interposer
