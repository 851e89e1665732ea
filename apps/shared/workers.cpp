#include "shared/workers.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace tca::apps {

namespace {

// The processors of whoever started this process. One that knows more of them than a set holds gets no workers.
bool find_processors(cpu_set_t& set) {
  CPU_ZERO(&set);
  return sched_getaffinity(getppid(), sizeof set, &set) == 0;
}

}  // namespace

Workers Workers::for_each_of(int ranks) {
  cpu_set_t set;
  return Workers(find_processors(set) ? std::max(1, CPU_COUNT(&set) / ranks) : 1);
}

// A worker that is refused them stays on its rank's processor.
void Workers::run_anywhere() const {
  cpu_set_t set;
  if (find_processors(set)) sched_setaffinity(0, sizeof set, &set);
}

}  // namespace tca::apps
