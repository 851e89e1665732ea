#include "mpi/coll/on_host.hpp"

#include <dlfcn.h>

#include "mpi/gpu/gpu.hpp"

namespace tca::interposer {

namespace {

bool mpi_knows_gpus() {
  static const bool knows = [] {
    auto* const query = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support"));
    return query != nullptr && query() == 1;
  }();
  return knows;
}

}  // namespace

void* OnHost::for_mpi() {
  if (!gpu::may_be_there || buffer_ == MPI_IN_PLACE || count_ <= 0 || type_ == MPI_DATATYPE_NULL ||
      mpi_knows_gpus())
    return buffer_;
  if (bytes_ == 0) {
    MPI_Aint lower = 0, extent = 0, true_extent = 0;
    PMPI_Type_get_extent(type_, &lower, &extent);
    PMPI_Type_get_true_extent(type_, &begin_, &true_extent);
    bytes_ = static_cast<std::size_t>((count_ - 1) * extent + true_extent);
  }
  auto* const first = static_cast<std::byte*>(buffer_) + begin_;
  if (bytes_ > 0) gpu_ = gpu::find(first, bytes_, 1, nullptr);
  if (gpu_ == nullptr) return buffer_;
  // What lies between the elements stays as it is.
  copy_ = std::make_unique_for_overwrite<std::byte[]>(bytes_);
  gpu_->gather(first, 0, bytes_, copy_.get());
  return copy_.get() - begin_;
}

OnHost::~OnHost() {
  if (copy_ && is_written_) gpu_->scatter(nullptr, 0, bytes_, copy_.get());
}

}  // namespace tca::interposer
