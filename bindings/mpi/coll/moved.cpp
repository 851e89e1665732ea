#include "mpi/coll/moved.hpp"

#include <cstring>

namespace tca::interposer {

namespace {

struct Known {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int size = 0;
  bool is_contiguous = false;
};

Known look_at(MPI_Datatype type) {
  Known known{.type = type};
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  MPI_Aint lower = 0, extent = 0;
  PMPI_Type_get_extent(type, &lower, &extent);
  PMPI_Type_size(type, &known.size);
  // What a program has made may have its elements in another order, and goes when the program says so.
  known.is_contiguous = combiner == MPI_COMBINER_NAMED && lower == 0 && extent == known.size;
  return known;
}

}  // namespace

Moved::Moved(const void* buffer, std::int64_t count, MPI_Datatype type)
    : buffer_(static_cast<std::byte*>(const_cast<void*>(buffer))), count_(count), type_(type) {
  thread_local Known last;
  if (type == MPI_DATATYPE_NULL) return;
  Known known = last;
  if (type != last.type) known = look_at(type);
  if (known.is_contiguous) last = known;
  size_ = known.size;
  is_contiguous_ = known.is_contiguous;
}

Moved Moved::block(int number) const {
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

void Moved::read_into(std::byte* packed) const {
  if (is_contiguous_) {
    std::memcpy(packed, buffer_, static_cast<std::size_t>(bytes()));
    return;
  }
  int position = 0;
  PMPI_Pack(buffer_, static_cast<int>(count_), type_, packed, static_cast<int>(bytes()), &position,
            MPI_COMM_SELF);
}

void Moved::write_from(const std::byte* packed) const {
  if (is_contiguous_) {
    std::memcpy(buffer_, packed, static_cast<std::size_t>(bytes()));
    return;
  }
  int position = 0;
  PMPI_Unpack(packed, static_cast<int>(bytes()), &position, buffer_, static_cast<int>(count_), type_,
              MPI_COMM_SELF);
}

}  // namespace tca::interposer
