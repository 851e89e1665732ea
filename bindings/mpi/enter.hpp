// What an entry does, whatever language it is for.
#pragma once

#include "mpi/census/measure.hpp"
#include "mpi/serve.hpp"

namespace tca::interposer {

template <Call call, class... Arguments>
int enter(Arguments... arguments) {
  if (census::is_on()) [[unlikely]] {
    const census::Measure measure(call, census::what<call>(arguments...));
    return past_census<call>(arguments...);
  }
  return past_census<call>(arguments...);
}

}  // namespace tca::interposer
