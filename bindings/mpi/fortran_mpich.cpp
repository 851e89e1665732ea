// The entries for mpi_f08 in MPICH. What has buffers calls C's functions there, as all of mpif.h and of the module mpi does, but what
// has none goes past them by MPI's profiling names. MPI's own come next under the same names.
#include <dlfcn.h>

#include "mpi/fortran_enter.hpp"
#include "mpi/macros.hpp"

using tca::interposer::Call;
namespace fortran = tca::interposer::fortran;

namespace tca::interposer {

template <Kind... kind>
constexpr bool has_buffer(Kinds<kind...>) {
  return ((kind == Kind::B) || ...);
}

template <Call call, class Pass, class... Pointers>
void enter_without_buffer(MPI_Fint* error, const Pass& pass, Pointers... pointers) {
  if constexpr (!has_buffer(decltype(Hooked<call>::kinds())()))
    fortran::enter<call>(error, pass, pointers...);
  else
    pass(error);
}

}  // namespace tca::interposer

#define ENTRY extern "C" __attribute__((visibility("default"))) void
#define POINTER(call, i) void* argument_##i
#define PASSED(call, i) argument_##i
#define HOOK(call, name, ...)                                                                      \
  ENTRY mpi_##name##_f08_(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint* error) {   \
    const auto pass = [=](MPI_Fint* code) {                                                        \
      using Function = void (*)(TCA_LIST(POINTER, call, __VA_ARGS__) __VA_OPT__(, ) MPI_Fint*);    \
      static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "mpi_" #name "_f08_")); \
      next(TCA_LIST(PASSED, call, __VA_ARGS__) __VA_OPT__(, ) code);                               \
    };                                                                                             \
    tca::interposer::enter_without_buffer<Call::call>(                                             \
        error, pass __VA_OPT__(, ) TCA_LIST(PASSED, call, __VA_ARGS__));                           \
  }
#include "mpi/hooks.def"

extern "C" {
int MPI_Init(int*, char***);
int MPI_Init_thread(int*, char***, int, int*);
}

ENTRY mpi_init_f08_(MPI_Fint* error) {
  const int code = MPI_Init(nullptr, nullptr);
  if (error != nullptr) *error = code;
}
ENTRY mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  const int code = MPI_Init_thread(nullptr, nullptr, *required, provided);
  if (error != nullptr) *error = code;
}
