// Where the bytes of a datatype lie, so that they are copied from and to their places by any thread, without MPI and without being
// packed before.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/engine/request.hpp"

namespace tca::interposer {

// So many pieces of as many bytes, `pitch` apart.
struct Run {
  MPI_Aint offset = 0;
  std::size_t bytes = 0;
  std::size_t count = 1;
  MPI_Aint pitch = 0;

  std::size_t all_bytes() const { return bytes * count; }
};

class TypeMap final : public p2p::Scattering {
 public:
  // Returns null for one that is not taken apart (darray, those of MPI 4's large counts, very many runs), which MPI has to pack.
  // It is made once for a datatype, and lives on where that is freed.
  static std::shared_ptr<const TypeMap> of(MPI_Datatype type);

  TypeMap(std::vector<Run> runs, MPI_Aint extent);

  // Of an element.
  std::size_t size() const { return begins_.back(); }
  MPI_Aint extent() const { return extent_; }
  const std::vector<Run>& runs() const { return runs_; }
  // Whether `count` elements are bytes in a row, from `offset` on.
  bool is_in_a_row(MPI_Count count) const;
  MPI_Aint offset() const { return runs_.empty() ? 0 : runs_.front().offset; }

  void gather(const std::byte* buffer, std::size_t at, std::size_t bytes, std::byte* into) const override;
  void scatter(std::byte* buffer, std::size_t at, std::size_t bytes, const std::byte* from) const override;

 private:
  // Calls `copy(offset in the buffer, bytes)` for all pieces in the order of the message.
  template <class Copy>
  void for_each(std::size_t at, std::size_t bytes, const Copy& copy) const;

  std::vector<Run> runs_;
  std::vector<std::size_t> begins_;  // of each run in the element's bytes, and their end
  MPI_Aint extent_;
};

// How a datatype was made: MPI_COMBINER_NAMED for MPI's own.
int combiner_of(MPI_Datatype type);

}  // namespace tca::interposer
