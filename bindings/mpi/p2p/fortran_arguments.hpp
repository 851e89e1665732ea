// What MPI's Fortran passes to calls of requests, messages and flags, turned into what C takes.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/fortran_arguments.hpp"
#include "mpi/p2p/channel.hpp"

namespace tca::interposer::fortran {

inline void* first_of(void* first, ...) { return first; }
template <class... Pointers>
void* last_of(Pointers... pointers) {
  void* last = nullptr;
  ((last = pointers), ...);
  return last;
}

template <>
class Argument<Kind::R> {
 public:
  explicit Argument(void* pointer) : value_(PMPI_Request_f2c(number(pointer))) {}
  MPI_Request value() { return value_; }

 private:
  MPI_Request value_;
};

template <>
class Argument<Kind::M> {
 public:
  explicit Argument(void* pointer)
      : number_(static_cast<MPI_Fint*>(pointer)), value_(PMPI_Message_f2c(*number_)) {}
  Argument(const Argument&) = delete;
  ~Argument() { *number_ = PMPI_Message_c2f(value_); }
  MPI_Message* value() { return &value_; }

 private:
  MPI_Fint* number_;
  MPI_Message value_;
};

// A LOGICAL: both MPIs are built for compilers whose .true. is 1.
template <>
class Argument<Kind::F> {
 public:
  explicit Argument(void* pointer) : value_(static_cast<int*>(pointer)) {}
  int* value() { return value_; }

 private:
  int* value_;
};

template <>
class Argument<Kind::U> : public Argument<Kind::F> {
  using Argument<Kind::F>::Argument;
};

template <>
class Argument<Kind::D> {
 public:
  explicit Argument(void* pointer) : there_(static_cast<MPI_Fint*>(pointer)) {}
  Argument(const Argument&) = delete;
  ~Argument() { *there_ = value_ >= 0 ? value_ + 1 : value_; }
  int* value() { return &value_; }

 private:
  MPI_Fint* there_;
  int value_ = MPI_UNDEFINED;
};

// Indices that are not given back are left as they are.
template <>
class Argument<Kind::J> {
 public:
  Argument(void* pointer, int count)
      : there_(static_cast<MPI_Fint*>(pointer)), values_(static_cast<std::size_t>(count), -1) {}
  Argument(const Argument&) = delete;
  ~Argument() {
    for (std::size_t each = 0; each < values_.size() && values_[each] >= 0; ++each)
      there_[each] = values_[each] + 1;
  }
  int* value() { return values_.data(); }

 private:
  MPI_Fint* there_;
  std::vector<int> values_;
};

template <>
class Argument<Kind::A> {
 public:
  Argument(void* pointer, int count) : there_(static_cast<MPI_Fint*>(pointer)) {
    for (int each = 0; each < count; ++each) values_.push_back(PMPI_Request_f2c(there_[each]));
  }
  Argument(const Argument&) = delete;
  ~Argument() {
    for (std::size_t each = 0; each < values_.size(); ++each) there_[each] = PMPI_Request_c2f(values_[each]);
  }
  MPI_Request* value() { return values_.data(); }

 private:
  MPI_Fint* there_;
  std::vector<MPI_Request> values_;
};

template <>
class Argument<Kind::Z> {
 public:
  Argument(void* pointer, int count) : there_(static_cast<MPI_Fint*>(pointer)) {
    if (there_ != statuses_ignore()) values_.resize(static_cast<std::size_t>(count));
  }
  Argument(const Argument&) = delete;
  ~Argument() {
    constexpr std::size_t length = sizeof(MPI_Status) / sizeof(MPI_Fint);
    for (std::size_t each = 0; each < values_.size(); ++each)
      PMPI_Status_c2f(&values_[each], there_ + each * length);
  }
  MPI_Status* value() { return values_.empty() ? MPI_STATUSES_IGNORE : values_.data(); }

 private:
  MPI_Fint* there_;
  std::vector<MPI_Status> values_;
};

// Calls that make a communicator of their first argument, as their last: MPI's own function for Fortran makes it.
template <Call call>
inline constexpr bool makes_communicator =
    call == Call::Comm_dup || call == Call::Comm_dup_with_info || call == Call::Comm_split ||
    call == Call::Comm_split_type || call == Call::Comm_create || call == Call::Comm_create_group ||
    call == Call::Cart_create || call == Call::Cart_sub || call == Call::Graph_create ||
    call == Call::Dist_graph_create || call == Call::Dist_graph_create_adjacent;

template <class... Pointers>
void adopt(Pointers... pointers) {
  const void* const all[] = {pointers...};
  if (Channel::engine() != nullptr)
    Channel::adopt(PMPI_Comm_f2c(number(all[0])), PMPI_Comm_f2c(number(all[sizeof...(pointers) - 1])));
}

}  // namespace tca::interposer::fortran
