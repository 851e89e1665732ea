#include "shared/gpu_sum.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "shared/gpu_call.hpp"

namespace tca::apps {

bool is_one_sub_cluster(const World& world) {
  const std::vector<int> all = world.sub_cluster_of_ranks();
  return std::all_of(all.begin(), all.end(), [&](int one) { return one == all.front(); });
}

GpuSum::GpuSum(World& world, const std::string& name, int most) {
  if (is_one_sub_cluster(world)) {
    team_ = std::make_unique<Team>(world.team(name, most));
  } else {
    across_ = std::make_unique<AllReduce<double>>(world, name, most);
  }
}

// A collective works on its own memory, and always on all of it. The values behind the first `count` are
// stale sums that are added up again and that nobody reads.
void GpuSum::add_up(double* values, int count, Stream stream) const {
  if (team_) return team_->allreduce_sum(values, count, stream);
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(double);
  cuda_ok(cudaMemcpyAsync(across_->from().data(), values, bytes, cudaMemcpyDeviceToDevice, stream),
          "adding up");
  across_->run(stream);
  cuda_ok(cudaMemcpyAsync(values, across_->to().data(), bytes, cudaMemcpyDeviceToDevice, stream),
          "adding up");
}

}  // namespace tca::apps
