// Sums of a few numbers in GPU memory over all ranks.
#pragma once

#include <memory>
#include <string>

#include "tca/coll.hpp"
#include "tca/team.hpp"
#include "tca/world.hpp"

namespace tca::apps {

// Returns whether kernels reach every rank's memory, as kernels that communicate by themselves must.
bool is_one_sub_cluster(const World& world);

// Adds up by a team where kernels reach every rank, and otherwise by a collective across sub-clusters.
class GpuSum {
 public:
  // Collective. Sums of up to `most` values.
  GpuSum(World& world, const std::string& name, int most);

  // Collective; ordered on a stream. Replaces each of `count` values by its sum over all ranks.
  void add_up(double* values, int count, Stream stream) const;

  // Returns the team for kernels that add up by themselves, or null where kernels do not reach every rank.
  const Team* team() const { return team_.get(); }

 private:
  std::unique_ptr<Team> team_;
  std::unique_ptr<AllReduce<double>> across_;
};

}  // namespace tca::apps
