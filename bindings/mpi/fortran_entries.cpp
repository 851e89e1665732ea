// The entries for Fortran in Open MPI, whose own functions for it do not call those of C: mpi_x_ is what mpif.h and the module mpi
// call, ompi_x_f what mpi_f08 does.
#include "mpi/enter.hpp"
#include "mpi/fortran_arguments.hpp"
#include "mpi/macros.hpp"

namespace tca::interposer::fortran {

template <Call call, Kind... kind, class... Pointers>
int serve(Kinds<kind...>, Pointers... pointers) {
  return [](auto&&... arguments) {
    return Served<call>::serve(arguments.value()...);
  }(Argument<kind>(pointers)...);
}

// What the census reads of the arguments.
template <Kind... kind>
census::What what(Kinds<kind...>, auto... pointers) {
  [[maybe_unused]] const auto read = []<Kind one>(std::integral_constant<Kind, one>, void* pointer) {
    if constexpr (one == Kind::Q || one == Kind::S || one == Kind::X)
      return pointer;
    else
      return Argument<one>(pointer).value();
  };
  return census::detail::what(Kinds<kind...>(), read(std::integral_constant<Kind, kind>(), pointers)...);
}

// `pass` calls MPI's own function for Fortran, with the arguments as they are.
template <Call call, class Pass, class... Pointers>
void past_census(MPI_Fint* error, const Pass& pass, Pointers... pointers) {
  if constexpr (requires { &Served<call>::serve; }) {
    const int code = serve<call>(Hooked<call>::kinds(), pointers...);
    if (error != nullptr) *error = code;
  } else {
    pass();
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

using tca::interposer::Call;
namespace fortran = tca::interposer::fortran;

#define ENTRY extern "C" __attribute__((visibility("default"))) void
#define POINTER(call, i) void* argument_##i
#define PASSED(call, i) argument_##i
#define HOOK(call, name, ...)                                                                              \
  extern "C" __attribute__((weak)) void pmpi_##name##_(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) \
                                                           MPI_Fint* error);                               \
  ENTRY mpi_##name##_(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error) {               \
    const auto pass = [=] { pmpi_##name##_(TCA_LIST(PASSED, call, __VA_ARGS__) __VA_OPT__(, ) error); };   \
    fortran::enter<Call::call>(error, pass __VA_OPT__(, ) TCA_LIST(PASSED, call, __VA_ARGS__));            \
  }                                                                                                        \
  ENTRY mpi_##name##__(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error)                \
      __attribute__((alias("mpi_" #name "_")));                                                            \
  ENTRY ompi_##name##_f(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error)               \
      __attribute__((alias("mpi_" #name "_")));
#include "mpi/hooks.def"

// Beginnings have no arguments of the program's in Fortran.
extern "C" int MPI_Init(int*, char***);
extern "C" int MPI_Init_thread(int*, char***, int, int*);

ENTRY mpi_init_(MPI_Fint* error) {
  const int code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}
ENTRY mpi_init__(MPI_Fint* error) __attribute__((alias("mpi_init_")));
ENTRY ompi_init_f(MPI_Fint* error) __attribute__((alias("mpi_init_")));

ENTRY mpi_init_thread_(MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}
ENTRY mpi_init_thread__(MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_init_thread_")));
ENTRY ompi_init_thread_f(MPI_Fint*, MPI_Fint*, MPI_Fint*) __attribute__((alias("mpi_init_thread_")));
