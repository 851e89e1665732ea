// The entries for C. In MPICH the functions of Fortran call these too.
#include "mpi/enter.hpp"
#include "mpi/macros.hpp"

using tca::interposer::Call;

#define PARAMETER(call, i) tca::interposer::Parameter<Call::call, i> argument_##i
#define ARGUMENT(call, i) argument_##i
#define HOOK(call, fortran, ...)                                                                             \
  extern "C" __attribute__((visibility("default"))) int MPI_##call(TCA_LIST(PARAMETER, call, __VA_ARGS__)) { \
    return tca::interposer::enter<Call::call>(TCA_LIST(ARGUMENT, call, __VA_ARGS__));                        \
  }
#include "mpi/hooks.def"
