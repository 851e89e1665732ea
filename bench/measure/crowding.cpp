#include "crowding.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

namespace tca::bench {
namespace {

// The kernel's own threads come a few times a second. A program that computes comes hundreds of times.
constexpr double many_a_second = 40;

}  // namespace

long disturbances() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

std::string Crowding::in_words(int ranks, int processors) const {
  if (ranks > processors)
    return fmt::format(
        "{} ranks share {} processor{} and mostly wait for their turn; --ranks {} says more.\n", ranks,
        processors, processors == 1 ? "" : "s", processors);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
  const double often = static_cast<double>(disturbances() - before_) / took.count();
  if (often < many_a_second) return {};
  return fmt::format(
      "Something else ran on rank 0's processor too, {:.0f} times a second: these are times of a busy "
      "machine,\n"
      "and those of an idle one may be quite different.\n",
      often);
}

}  // namespace tca::bench
