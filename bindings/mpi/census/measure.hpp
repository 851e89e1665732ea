// The census: how often each call was made, of how much, on what, and how long it took.
#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <tuple>
#include <utility>

#include "mpi/hook.hpp"

namespace tca::interposer::census {

inline bool on = false;
inline bool is_on() { return on; }

// What a call is about, as far as its parameters say.
struct What {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::int64_t count = 0;
};

namespace detail {

template <Kind... kind, class... Arguments>
What what(Kinds<kind...>, const Arguments&... arguments) {
  constexpr std::array<Kind, sizeof...(kind)> kinds{kind...};
  const std::tuple<const Arguments&...> all(arguments...);
  What what;
  bool has_count = false;
  const auto look_at = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
    if constexpr (kinds[i] == Kind::C) what.comm = std::get<i>(all);
    if constexpr (kinds[i] == Kind::N && kinds[i > 0 ? i - 1 : 0] == Kind::B) {
      // What is in place is said by the second pair.
      if (!has_count && std::get<i - 1>(all) != MPI_IN_PLACE) {
        what.count = std::get<i>(all);
        what.type = std::get<i + 1>(all);
        has_count = true;
      }
    }
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    (look_at(std::integral_constant<std::size_t, i>()), ...);
  }
  (std::make_index_sequence<sizeof...(kind)>());
  return what;
}

}  // namespace detail

template <Call call, class... Arguments>
What what(const Arguments&... arguments) {
  return detail::what(Hooked<call>::kinds(), arguments...);
}

// Lives as long as the call that it measures.
class Measure {
 public:
  Measure(Call call, const What& what);
  Measure(const Measure&) = delete;
  ~Measure();

 private:
  Call call_;
  What what_;
  std::chrono::steady_clock::time_point begin_;
};

void begin();  // once MPI is up
void end();    // collective: prints and writes what all ranks have counted, on rank 0

}  // namespace tca::interposer::census
