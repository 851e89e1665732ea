#include "mpi/p2p/elements.hpp"

#include <array>
#include <climits>
#include <cstring>

namespace tca::interposer {

namespace {

bool lies_in_a_row(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) {
    int size = 0;
    MPI_Aint begin = 0, extent = 0;
    PMPI_Type_size(type, &size);
    PMPI_Type_get_extent(type, &begin, &extent);
    return begin == 0 && extent == size;
  }
  if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP) return false;
  std::array<int, 1> count{};
  std::array<MPI_Datatype, 1> inner{};
  PMPI_Type_get_contents(type, integers, addresses, types, count.data(), nullptr, inner.data());
  const bool lies = lies_in_a_row(inner[0]);
  PMPI_Type_get_envelope(inner[0], &integers, &addresses, &types, &combiner);
  if (combiner != MPI_COMBINER_NAMED) PMPI_Type_free(inner.data());
  return lies;
}

// Calls `pack` with a buffer, a number of elements and their datatype. MPICH packs nothing from MPI_BOTTOM, which is null there: the
// elements are then described as seen from another place.
template <class Pack>
void at_an_address(void* buffer, int count, MPI_Datatype type, const Pack& pack) {
  if (buffer != nullptr || count == 0) {
    pack(buffer, count, type);
    return;
  }
  MPI_Aint back = 0;
  PMPI_Get_address(&back, &back);
  back = -back;
  MPI_Datatype seen_from_there = MPI_DATATYPE_NULL;
  PMPI_Type_create_hindexed(1, &count, &back, type, &seen_from_there);
  PMPI_Type_commit(&seen_from_there);
  pack(static_cast<void*>(&back), 1, seen_from_there);
  PMPI_Type_free(&seen_from_there);
}

int as_int(std::size_t bytes) { return static_cast<int>(bytes); }

}  // namespace

Elements::Elements(const void* buffer, int count, MPI_Datatype type)
    : buffer_(const_cast<void*>(buffer)), count_(count), type_(type) {
  is_valid_ = count >= 0 && type != MPI_DATATYPE_NULL;
  if (!is_valid_ || type == MPI_BYTE) {
    bytes_ = static_cast<std::size_t>(count);
    return;
  }
  PMPI_Type_size(type, &size_);
  bytes_ = static_cast<std::size_t>(count) * static_cast<std::size_t>(size_);
  are_in_a_row_ = bytes_ == 0 || lies_in_a_row(type);
  // MPI counts packed bytes by an int.
  is_valid_ = are_in_a_row_ || bytes_ < INT_MAX;
}

void Elements::keep() {
  if (are_in_a_row_) return;
  PMPI_Type_dup(type_, &type_);
  is_kept_ = true;
}

void Elements::let_go() {
  if (is_kept_) PMPI_Type_free(&type_);
  is_kept_ = false;
}

std::unique_ptr<std::byte[]> Elements::packed() const {
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  at_an_address(buffer_, count_, type_, [&](const void* buffer, int count, MPI_Datatype type) {
    int at = 0;
    PMPI_Pack(buffer, count, type, bytes.get(), as_int(bytes_), &at, MPI_COMM_SELF);
  });
  return bytes;
}

void Elements::unpack(std::byte* message, std::size_t bytes) const {
  const auto size = static_cast<std::size_t>(size_);
  const auto unpack_from = [&](const std::byte* from, std::size_t there) {
    return [=](void* buffer, int count, MPI_Datatype type) {
      int at = 0;
      PMPI_Unpack(from, as_int(there), &at, buffer, count, type, MPI_COMM_SELF);
    };
  };
  at_an_address(buffer_, as_int(bytes / size), type_, unpack_from(message, bytes));
  const std::size_t rest = bytes % size;
  if (rest == 0) return;
  // A part of an element: the rest of it stays as it was.
  MPI_Aint begin = 0, extent = 0;
  PMPI_Type_get_extent(type_, &begin, &extent);
  void* const last = static_cast<std::byte*>(buffer_) + static_cast<MPI_Aint>(bytes / size) * extent;
  const auto element = std::make_unique<std::byte[]>(size);
  at_an_address(last, 1, type_, [&](const void* buffer, int count, MPI_Datatype type) {
    int at = 0;
    PMPI_Pack(buffer, count, type, element.get(), size_, &at, MPI_COMM_SELF);
  });
  std::memcpy(element.get(), message + bytes - rest, rest);
  at_an_address(last, 1, type_, unpack_from(element.get(), size));
}

bool packs_plainly() {
  const std::array<short, 5> numbers{1, 2, 3, 4, 5};
  const std::array<short, 3> odd{1, 3, 5};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  PMPI_Type_vector(3, 1, 2, MPI_SHORT, &type);
  PMPI_Type_commit(&type);
  std::array<short, 8> packed{};
  int at = 0;
  PMPI_Pack(numbers.data(), 1, type, packed.data(), sizeof packed, &at, MPI_COMM_SELF);
  PMPI_Type_free(&type);
  return at == sizeof odd && std::memcmp(packed.data(), odd.data(), sizeof odd) == 0;
}

}  // namespace tca::interposer
