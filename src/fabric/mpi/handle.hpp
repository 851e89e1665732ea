// MPI handles that are released with their objects.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "control/mpi/call.hpp"

namespace tca::mpi {

// `none` is a function because not every MPI has null handles that are constant expressions.
template <class T, T (*none)(), int (*give_back)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() {
    if (*this && is_up()) give_back(&handle_);
  }

  explicit operator bool() const { return handle_ != none(); }
  T get() const { return handle_; }
  T release() { return std::exchange(handle_, none()); }
  // Returns the address where an MPI call stores the handle that it makes.
  T* out() { return &handle_; }

 private:
  T handle_ = none();
};

inline MPI_Request no_request() { return MPI_REQUEST_NULL; }
inline MPI_Group no_group() { return MPI_GROUP_NULL; }
inline MPI_Datatype no_datatype() { return MPI_DATATYPE_NULL; }

using Request = Handle<MPI_Request, no_request, MPI_Request_free>;
using Group = Handle<MPI_Group, no_group, MPI_Group_free>;
using OwnDatatype = Handle<MPI_Datatype, no_datatype, MPI_Type_free>;

// Requests in an array, as MPI's calls for several requests expect them. An element is a persistent
// request, or one that each start makes anew.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  ~Requests() {
    for (const MPI_Request request : all_) const Request owned(request);
  }

  void add(Request request) {
    all_.push_back(request.get());
    request.release();
  }
  std::size_t size() const { return all_.size(); }
  bool empty() const { return all_.empty(); }
  MPI_Request* data() { return all_.data(); }
  MPI_Request& operator[](std::size_t i) { return all_[i]; }

 private:
  std::vector<MPI_Request> all_;
};

}  // namespace tca::mpi
