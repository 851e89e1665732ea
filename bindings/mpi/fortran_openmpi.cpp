// The entries for Fortran in Open MPI, whose own functions for it do not call those of C: mpi_x_ is what mpif.h and the module mpi
// call, ompi_x_f what mpi_f08 does, or pmpi_x_ where there is a LOGICAL among the arguments. MPI's own are called by another of
// their names, pmpi_x__.
#include "mpi/fortran_enter.hpp"
#include "mpi/macros.hpp"

using tca::interposer::Call;
namespace fortran = tca::interposer::fortran;

#define ENTRY extern "C" __attribute__((visibility("default"))) void
#define POINTER(call, i) void* argument_##i
#define PASSED(call, i) argument_##i
#define HOOK(call, name, ...)                                                                               \
  extern "C" __attribute__((weak)) void pmpi_##name##__(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) \
                                                            MPI_Fint* error);                               \
  ENTRY mpi_##name##_(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error) {                \
    const auto pass = [=](MPI_Fint* code) {                                                                 \
      pmpi_##name##__(TCA_LIST(PASSED, call, __VA_ARGS__) __VA_OPT__(, ) code);                             \
    };                                                                                                      \
    fortran::enter<Call::call>(error, pass __VA_OPT__(, ) TCA_LIST(PASSED, call, __VA_ARGS__));             \
  }                                                                                                         \
  ENTRY pmpi_##name##_(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error)                 \
      __attribute__((alias("mpi_" #name "_")));                                                             \
  ENTRY mpi_##name##__(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error)                 \
      __attribute__((alias("mpi_" #name "_")));                                                             \
  ENTRY ompi_##name##_f(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error)                \
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
