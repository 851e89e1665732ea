// A program's buffer by its datatype, as the bytes in a row that travel. What does not lie in a row is packed by MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>

namespace tca::interposer {

class Elements {
 public:
  Elements() = default;
  Elements(const void* buffer, int count, MPI_Datatype type);

  // A number of elements or a datatype that MPI refuses.
  bool is_valid() const { return is_valid_; }
  bool are_in_a_row() const { return are_in_a_row_; }
  std::size_t bytes() const { return bytes_; }
  void* data() const { return buffer_; }

  // Keeps the datatype though the program may free it.
  void keep();
  void let_go();

  std::unique_ptr<std::byte[]> packed() const;
  // Stores the first `bytes` bytes of a message.
  void unpack(std::byte* message, std::size_t bytes) const;

 private:
  void* buffer_ = nullptr;
  int count_ = 0;
  MPI_Datatype type_ = MPI_BYTE;
  int size_ = 1;
  std::size_t bytes_ = 0;
  bool is_valid_ = false, are_in_a_row_ = true, is_kept_ = false;
};

// Whether this MPI packs elements as the bytes that they are, without anything before or between them.
bool packs_plainly();

}  // namespace tca::interposer
