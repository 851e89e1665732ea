// What MPI's Fortran passes, turned into what C takes: everything comes as a pointer, and handles as numbers.
#pragma once

#include <mpi.h>

#include <optional>
#include <type_traits>
#include <vector>

#include "mpi/coll/topology.hpp"
#include "mpi/hook.hpp"

// Where Fortran's constants are, by which they are known. In MPICH, where only calls without buffers have entries for Fortran, they are
// those of mpi_f08, which a program in C has not loaded.
#ifdef OPEN_MPI
extern "C" MPI_Fint mpi_fortran_bottom_, mpi_fortran_in_place_, mpi_fortran_status_ignore_,
    mpi_fortran_statuses_ignore_;
#else
extern "C" __attribute__((weak)) MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ,
    MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
#endif

namespace tca::interposer::fortran {

#ifdef OPEN_MPI
inline const void* bottom() { return &mpi_fortran_bottom_; }
inline const void* in_place() { return &mpi_fortran_in_place_; }
inline const void* status_ignore() { return &mpi_fortran_status_ignore_; }
inline const void* statuses_ignore() { return &mpi_fortran_statuses_ignore_; }
#else
inline const void* bottom() { return nullptr; }
inline const void* in_place() { return nullptr; }
inline const void* status_ignore() { return &MPIR_F08_MPI_STATUS_IGNORE_OBJ; }
inline const void* statuses_ignore() { return MPIR_F08_MPI_STATUSES_IGNORE_OBJ; }
#endif

inline MPI_Fint number(const void* pointer) { return *static_cast<const MPI_Fint*>(pointer); }

// An argument in C, for as long as the call takes; what the call returns in it goes back to Fortran at the end.
template <Kind>
class Argument;

template <>
class Argument<Kind::B> {
 public:
  explicit Argument(void* pointer) : pointer_(pointer) {
    if (pointer == bottom()) pointer_ = MPI_BOTTOM;
    if (pointer == in_place()) pointer_ = MPI_IN_PLACE;
  }
  void* value() { return pointer_; }

 private:
  void* pointer_;
};

template <class Value, Value (*from_number)(MPI_Fint)>
class Handle {
 public:
  explicit Handle(const void* pointer) : value_(from_number(number(pointer))) {}
  Value value() { return value_; }

 private:
  Value value_;
};
inline int as_it_is(MPI_Fint number) { return number; }
// Macros, in MPICH.
inline MPI_Datatype type_of(MPI_Fint number) { return PMPI_Type_f2c(number); }
inline MPI_Op operation_of(MPI_Fint number) { return PMPI_Op_f2c(number); }
inline MPI_Comm comm_of(MPI_Fint number) { return PMPI_Comm_f2c(number); }

template <>
struct Argument<Kind::N> : Handle<int, as_it_is> {
  using Handle::Handle;
};
template <>
struct Argument<Kind::I> : Handle<int, as_it_is> {
  using Handle::Handle;
};
template <>
struct Argument<Kind::T> : Handle<MPI_Datatype, type_of> {
  using Handle::Handle;
};
template <>
struct Argument<Kind::O> : Handle<MPI_Op, operation_of> {
  using Handle::Handle;
};
template <>
struct Argument<Kind::C> : Handle<MPI_Comm, comm_of> {
  using Handle::Handle;
};

template <>
class Argument<Kind::V> {
 public:
  explicit Argument(void* pointer) : numbers_(static_cast<const MPI_Fint*>(pointer)) {}
  const MPI_Fint* value() { return numbers_; }

 private:
  const MPI_Fint* numbers_;
};

template <>
class Argument<Kind::P> {
 public:
  explicit Argument(void* pointer) : places_(static_cast<const MPI_Aint*>(pointer)) {}
  const MPI_Aint* value() { return places_; }

 private:
  const MPI_Aint* places_;
};

// Datatypes, as many as the communicator has neighbours of a kind.
class TypesOfNeighbours {
 public:
  TypesOfNeighbours(const void* pointer, std::vector<int> Neighbours::*kind, MPI_Comm comm) {
    const auto* const numbers = static_cast<const MPI_Fint*>(pointer);
    const std::optional<Neighbours> neighbours = neighbours_of(comm);
    const std::size_t count = neighbours ? (*neighbours.*kind).size() : 0;
    for (std::size_t each = 0; each < count; ++each) values_.push_back(type_of(numbers[each]));
  }
  const MPI_Datatype* value() { return values_.data(); }

 private:
  std::vector<MPI_Datatype> values_;
};
template <>
struct Argument<Kind::K> : TypesOfNeighbours {
  Argument(void* pointer, MPI_Comm comm) : TypesOfNeighbours(pointer, &Neighbours::destinations, comm) {}
};
template <>
struct Argument<Kind::L> : TypesOfNeighbours {
  Argument(void* pointer, MPI_Comm comm) : TypesOfNeighbours(pointer, &Neighbours::sources, comm) {}
};

template <>
class Argument<Kind::Q> {
 public:
  explicit Argument(void* pointer)
      : number_(static_cast<MPI_Fint*>(pointer)), value_(PMPI_Request_f2c(*number_)) {}
  Argument(const Argument&) = delete;
  ~Argument() { *number_ = PMPI_Request_c2f(value_); }
  MPI_Request* value() { return &value_; }

 private:
  MPI_Fint* number_;
  MPI_Request value_;
};

template <>
class Argument<Kind::S> {
 public:
  explicit Argument(void* pointer) : there_(static_cast<MPI_Fint*>(pointer)) {}
  Argument(const Argument&) = delete;
  ~Argument() {
    if (!is_ignored()) PMPI_Status_c2f(&status_, there_);
  }
  MPI_Status* value() { return is_ignored() ? MPI_STATUS_IGNORE : &status_; }

 private:
  bool is_ignored() const { return there_ == status_ignore(); }
  MPI_Fint* there_;
  MPI_Status status_ = {};
};

// What nobody converts is passed as it is, and read by nobody: whoever serves a call with such arguments converts them.
template <>
class Argument<Kind::X> {
 public:
  explicit Argument(void* pointer) : pointer_(pointer) {}
  void* value() { return pointer_; }

 private:
  void* pointer_;
};

}  // namespace tca::interposer::fortran
