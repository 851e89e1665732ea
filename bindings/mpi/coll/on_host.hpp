// A buffer of a collective that is left to an MPI which may not know of GPUs: where it is in memory of one, MPI gets a copy.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi/engine/request.hpp"

namespace tca::interposer {

class OnHost {
 public:
  OnHost(const void* buffer, std::int64_t count, MPI_Datatype type, bool is_written)
      : buffer_(const_cast<void*>(buffer)), count_(count), type_(type), is_written_(is_written) {}
  // All bytes of a region that begins so far behind the buffer.
  OnHost(const void* buffer, MPI_Aint begin, std::size_t bytes, bool is_written)
      : buffer_(const_cast<void*>(buffer)),
        count_(bytes > 0 ? 1 : 0),
        type_(MPI_BYTE),
        is_written_(is_written),
        begin_(begin),
        bytes_(bytes) {}
  OnHost(const OnHost&) = delete;
  // Puts what MPI has written where the program wants it.
  ~OnHost();

  // What MPI gets in the buffer's place. Copies.
  void* for_mpi();

 private:
  void* buffer_;
  std::int64_t count_;
  MPI_Datatype type_;
  bool is_written_;
  MPI_Aint begin_ = 0;
  std::size_t bytes_ = 0;
  std::shared_ptr<const p2p::Scattering> gpu_;
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace tca::interposer
