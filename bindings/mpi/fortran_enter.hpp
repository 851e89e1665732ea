// The way of an entry for Fortran: its arguments are turned into C's where the call is served, and otherwise left as they are.
#pragma once

#include "mpi/enter.hpp"
#include "mpi/fortran_arguments.hpp"
#include "mpi/p2p/fortran_arguments.hpp"

namespace tca::interposer::fortran {

// Of an array, it takes the length, which comes first or is the number of neighbours of the communicator, which comes last.
template <Kind kind>
Argument<kind> argument(void* pointer, const void* first, [[maybe_unused]] const void* last) {
  if constexpr (kind == Kind::K || kind == Kind::L)
    return Argument<kind>(pointer, comm_of(number(last)));
  else if constexpr (std::is_constructible_v<Argument<kind>, void*, int>)
    return Argument<kind>(pointer, number(first));
  else
    return Argument<kind>(pointer);
}

template <Call call, Kind... kind, class First, class... Pointers>
int serve(Kinds<kind...>, First first, Pointers... pointers) {
  return [&](Argument<kind>&&... arguments) {
    return Served<call>::serve(arguments.value()...);
  }(argument<kind>(pointers, first, last_of(pointers...))...);
}

// What the census reads of the arguments.
template <Kind... kind>
census::What what(Kinds<kind...>, auto... pointers) {
  [[maybe_unused]] const auto read = []<Kind one>(std::integral_constant<Kind, one>, void* pointer) {
    if constexpr (one == Kind::B || one == Kind::N || one == Kind::T || one == Kind::C)
      return Argument<one>(pointer).value();
    else
      return pointer;
  };
  return census::detail::what(Kinds<kind...>(), read(std::integral_constant<Kind, kind>(), pointers)...);
}

// `pass` calls MPI's own function for Fortran, with the arguments as they are.
template <Call call, class Pass, class... Pointers>
void past_census(MPI_Fint* error, const Pass& pass, Pointers... pointers) {
  if constexpr (makes_communicator<call>) {
    MPI_Fint code = MPI_SUCCESS;
    pass(&code);
    if (code == MPI_SUCCESS) adopt(pointers...);
    if (error != nullptr) *error = code;
  } else if constexpr (requires { &Served<call>::serve; }) {
    int code = MPI_SUCCESS;
    if constexpr (sizeof...(pointers) == 0)
      code = Served<call>::serve();
    else
      code = serve<call>(Hooked<call>::kinds(), first_of(pointers...), pointers...);
    if (error != nullptr) *error = code;
  } else {
    pass(error);
  }
}

template <Call call, class Pass, class... Pointers>
void enter(MPI_Fint* error, const Pass& pass, Pointers... pointers) {
  if (census::is_on()) [[unlikely]] {
    const census::Measure measure(call, what(Hooked<call>::kinds(), pointers...));
    past_census<call>(error, pass, pointers...);
  } else {
    past_census<call>(error, pass, pointers...);
  }
}

}  // namespace tca::interposer::fortran
