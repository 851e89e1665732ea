// A program's buffer by its datatype, as the bytes that travel: they lie in a row, or where the datatype's map says, or are packed by
// MPI where it has none.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

#include "mpi/engine/request.hpp"
#include "mpi/p2p/type_map.hpp"

namespace tca::interposer {

class Elements {
 public:
  using Packed = std::unique_ptr<std::byte[]>;

  Elements() = default;
  Elements(const void* buffer, MPI_Count count, MPI_Datatype type);

  // Not a number of elements or a datatype that MPI refuses.
  bool is_valid() const { return is_valid_; }
  std::size_t bytes() const { return bytes_; }

  // Keeps the datatype though the program may free it.
  void keep();
  void let_go();

  // What the engine reads or stores, in `packed` where MPI has to pack. Throw std::length_error where it cannot.
  p2p::Source source(Packed& packed) const;
  p2p::Target target(Packed& packed) const;
  // Once the first `bytes` bytes of a message have come into the target.
  void take_in(const Packed& packed, std::size_t bytes) const;

  // A copy of the bytes in a row, and the way back.
  Packed copied() const;
  void read_into(std::byte* row) const;
  void write_from(const std::byte* row) const;
  bool are_of_gpu() const { return gpu_ != nullptr; }

 private:
  bool is_packed_by_mpi() const { return bytes_ > 0 && scattering() == nullptr && !is_in_a_row_; }
  const p2p::Scattering* scattering() const {
    if (bytes_ == 0) return nullptr;
    return gpu_ ? gpu_.get() : map_.get();
  }
  template <class Work>
  void for_pieces(std::size_t elements, const Work& work) const;
  void pack(std::byte* into) const;
  void unpack(const std::byte* message, std::size_t bytes) const;

  std::byte* buffer_ = nullptr;
  MPI_Count count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  std::size_t size_ = 1, bytes_ = 0;  // of an element, and of all
  bool is_valid_ = false, is_in_a_row_ = true, is_kept_ = false;
  std::shared_ptr<const TypeMap> map_;          // null for bytes in a row
  std::shared_ptr<const p2p::Scattering> gpu_;  // null for a buffer in host memory
};

// Whether this MPI packs elements as the bytes that they are, without anything before or between them.
bool packs_plainly();

}  // namespace tca::interposer
