// What is known of each hooked call, out of the list in hooks.def, and the way that every entry takes: to the census, or to
// whoever serves the call, or on to MPI.
//
// Whoever serves a call says so by a specialisation, which the entries' sources include (serve.hpp):
//
//   template <>
//   struct Served<Call::Barrier> {
//     static int serve(MPI_Comm comm);  // the parameters of MPI_Barrier
//   };
#pragma once

#include <dlfcn.h>
#include <mpi.h>

#include <cstddef>
#include <tuple>

#include "mpi/macros.hpp"
#include "mpi/settings.hpp"

namespace tca::interposer {

enum class Call {
#define HOOK(name, fortran, ...) name,
#include "mpi/hooks.def"
#undef HOOK
};
inline constexpr std::size_t calls = 0
#define HOOK(name, fortran, ...) +1
#include "mpi/hooks.def"
#undef HOOK
    ;

enum class Kind { B, N, T, O, C, I, V, P, K, L, Q, S, A, Z, F, D, J, M, R, U, X };

template <Kind... kind>
struct Kinds {};

template <Call>
struct Hooked;
#define HOOK(call, fortran, ...)                      \
  template <>                                         \
  struct Hooked<Call::call> {                         \
    static constexpr const char* name = "MPI_" #call; \
    static auto kinds() {                             \
      using enum Kind;                                \
      return Kinds<__VA_ARGS__>();                    \
    }                                                 \
    using Function = decltype(&PMPI_##call);          \
    static Function pmpi() { return PMPI_##call; }    \
  };
#include "mpi/hooks.def"
#undef HOOK

template <class Function>
struct Parameters;
template <class... Parameter>
struct Parameters<int (*)(Parameter...)> {
  template <std::size_t index>
  using At = std::tuple_element_t<index, std::tuple<Parameter...>>;
  static constexpr std::size_t number = sizeof...(Parameter);
};
template <Call call, std::size_t index>
using Parameter = typename Parameters<typename Hooked<call>::Function>::template At<index>;

template <Call>
struct Served {};

// The call as it would have been without the library: of the next one that hooks it too, or of MPI itself.
template <Call call>
typename Hooked<call>::Function next() {
  using Function = typename Hooked<call>::Function;
  static const Function found = [] {
    void* const symbol = dlsym(RTLD_NEXT, Hooked<call>::name);
    return symbol != nullptr ? reinterpret_cast<Function>(symbol) : Hooked<call>::pmpi();
  }();
  return found;
}

template <Call call, class... Arguments>
int past_census(Arguments... arguments) {
  if constexpr (requires { Served<call>::serve(arguments...); })
    return Served<call>::serve(arguments...);
  else
    return next<call>()(arguments...);
}

}  // namespace tca::interposer
