#include "cg/gpu/one_kernel_way.hpp"

#include <chrono>
#include <cmath>

namespace tca::cg {

Step OneKernelWay::run(int steps, std::vector<double>& step_us, const Tick& tick) {
  const auto begin = std::chrono::steady_clock::now();
  launch(static_cast<Word>(steps), stream_.get());
  stream_.synchronize("running the benchmark");
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  world_.check();
  step_us.push_back(took.count() / steps);
  if (tick) tick(steps);
  const Found last = found_.read(stream_)[static_cast<std::size_t>(steps - 1)];
  return {.zeta = problem_.shift + 1 / last.xz, .residual = std::sqrt(last.squares)};
}

}  // namespace tca::cg
