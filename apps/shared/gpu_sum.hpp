// Sums over all ranks of a few numbers in GPU memory.
#pragma once

#include <memory>
#include <string>

#include "tca/coll.hpp"
#include "tca/team.hpp"
#include "tca/world.hpp"

namespace tca::apps {

// Whether kernels reach every rank's memory, as those that communicate by themselves must.
bool is_one_sub_cluster(const World& world);

// By a team where kernels reach every rank, by a collective across sub-clusters.
class GpuSum {
 public:
  // Collective. Of up to `most` values.
  GpuSum(World& world, const std::string& name, int most);

  // Collective: the sums over all ranks in place of `count` values, ordered on a stream.
  void add_up(double* values, int count, Stream stream) const;

  // For kernels that add up by themselves; null where they do not reach every rank.
  const Team* team() const { return team_.get(); }

 private:
  std::unique_ptr<Team> team_;
  std::unique_ptr<AllReduce<double>> across_;
};

}  // namespace tca::apps
