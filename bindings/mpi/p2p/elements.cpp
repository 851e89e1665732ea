#include "mpi/p2p/elements.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "mpi/gpu/gpu.hpp"

namespace tca::interposer {

namespace {

// MPI counts packed bytes by an int.
constexpr std::size_t most_packed = std::size_t{1} << 30;

// Calls `pack` with a buffer, a number of elements and their datatype. MPICH packs nothing from MPI_BOTTOM, which is null there: the
// elements are then described as seen from another place.
template <class Pack>
void at_an_address(std::byte* buffer, int count, MPI_Datatype type, const Pack& pack) {
  if (buffer != nullptr || count == 0) {
    pack(static_cast<void*>(buffer), count, type);
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

int as_int(std::size_t number) { return static_cast<int>(number); }

// The last of MPI's own datatypes that lay in a row: what most messages have.
struct InARow {
  MPI_Datatype type = MPI_BYTE;
  std::size_t size = 1;
};
thread_local InARow last;

// Absolute addresses begin at null.
std::byte* further(std::byte* buffer, MPI_Aint bytes) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(buffer) + bytes);
}

}  // namespace

Elements::Elements(const void* buffer, MPI_Count count, MPI_Datatype type)
    : buffer_(static_cast<std::byte*>(const_cast<void*>(buffer))), count_(count), type_(type) {
  is_valid_ = count >= 0 && type != MPI_DATATYPE_NULL;
  if (!is_valid_) return;
  if (type != last.type) {
    MPI_Count size = 0;
    PMPI_Type_size_x(type, &size);
    size_ = static_cast<std::size_t>(size);
    map_ = TypeMap::of(type);
    is_in_a_row_ = map_ != nullptr && map_->is_in_a_row(count);
    if (is_in_a_row_) {
      buffer_ = further(buffer_, map_->offset());
      if (map_->is_in_a_row(2) && combiner_of(type) == MPI_COMBINER_NAMED) last = {type, size_};
      map_.reset();
    }
  } else {
    size_ = last.size;
  }
  bytes_ = static_cast<std::size_t>(count) * size_;
  const bool is_described = is_in_a_row_ || map_ != nullptr;
  if (gpu::may_be_there && bytes_ > 0 && is_described) gpu_ = gpu::find(buffer_, bytes_, size_, map_);
}

void Elements::keep() {
  if (!is_packed_by_mpi()) return;
  PMPI_Type_dup(type_, &type_);
  is_kept_ = true;
}

void Elements::let_go() {
  if (is_kept_) PMPI_Type_free(&type_);
  is_kept_ = false;
  map_.reset();
  gpu_.reset();
}

p2p::Source Elements::source(Packed& packed) const {
  if (!is_packed_by_mpi()) return {buffer_, bytes_, scattering()};
  packed = copied();
  return {packed.get(), bytes_};
}

p2p::Target Elements::target(Packed& packed) const {
  if (!is_packed_by_mpi()) return {buffer_, bytes_, scattering()};
  packed = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  return {packed.get(), bytes_};
}

void Elements::take_in(const Packed& packed, std::size_t bytes) const {
  if (packed) unpack(packed.get(), bytes);
}

Elements::Packed Elements::copied() const {
  auto copy = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  read_into(copy.get());
  return copy;
}

void Elements::read_into(std::byte* row) const {
  if (is_packed_by_mpi())
    pack(row);
  else if (scattering() != nullptr)
    scattering()->gather(buffer_, 0, bytes_, row);
  else if (bytes_ > 0)
    std::memcpy(row, buffer_, bytes_);
}

void Elements::write_from(const std::byte* row) const {
  if (is_packed_by_mpi())
    unpack(row, bytes_);
  else if (scattering() != nullptr)
    scattering()->scatter(buffer_, 0, bytes_, row);
  else if (bytes_ > 0)
    std::memcpy(buffer_, row, bytes_);
}

// Calls `work(buffer, elements, position in the packed bytes)` for as many elements at a time as MPI can count the bytes of.
template <class Work>
void Elements::for_pieces(std::size_t elements, const Work& work) const {
  if (size_ > most_packed) throw std::length_error("an element that MPI cannot pack");
  MPI_Aint begin = 0, extent = 0;
  PMPI_Type_get_extent(type_, &begin, &extent);
  const std::size_t at_once = most_packed / size_;
  for (std::size_t done = 0; done < elements; done += at_once) {
    work(further(buffer_, static_cast<MPI_Aint>(done) * extent), as_int(std::min(at_once, elements - done)),
         done * size_);
  }
}

void Elements::pack(std::byte* into) const {
  for_pieces(static_cast<std::size_t>(count_), [&](std::byte* from, int elements, std::size_t position) {
    at_an_address(from, elements, type_, [&](const void* buffer, int count, MPI_Datatype type) {
      int at = 0;
      PMPI_Pack(buffer, count, type, into + position, elements * as_int(size_), &at, MPI_COMM_SELF);
    });
  });
}

void Elements::unpack(const std::byte* message, std::size_t bytes) const {
  const auto unpack_from = [&](const std::byte* from, std::size_t there) {
    return [=](void* buffer, int count, MPI_Datatype type) {
      int at = 0;
      PMPI_Unpack(from, as_int(there), &at, buffer, count, type, MPI_COMM_SELF);
    };
  };
  const std::size_t whole = bytes / size_, rest = bytes % size_;
  for_pieces(whole, [&](std::byte* into, int elements, std::size_t position) {
    at_an_address(into, elements, type_,
                  unpack_from(message + position, static_cast<std::size_t>(elements) * size_));
  });
  if (rest == 0) return;
  // A part of an element: the rest of it stays as it was.
  Elements last_one = *this;
  last_one.is_kept_ = false;
  MPI_Aint begin = 0, extent = 0;
  PMPI_Type_get_extent(type_, &begin, &extent);
  last_one.buffer_ = further(buffer_, static_cast<MPI_Aint>(whole) * extent);
  last_one.count_ = 1;
  last_one.bytes_ = size_;
  const Packed element = last_one.copied();
  std::memcpy(element.get(), message + bytes - rest, rest);
  last_one.unpack(element.get(), size_);
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
