// The costs of this world's puts: from a table measured on this machine if there is one, otherwise from the
// built-in one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/layout/shape.hpp"
#include "control/per_rank.hpp"
#include "fabric/fabric.hpp"
#include "route/tuning_table.hpp"

namespace tca::route {

class Costs {
 public:
  // Takes the costs of puts of `rank` from the built-in table. `sub_clusters` holds the number of each
  // rank's sub-cluster; if it is empty, all ranks are in one.
  explicit Costs(int rank = 0, control::PerRank sub_clusters = {})
      : rank_(rank), sub_clusters_(std::move(sub_clusters)) {}

  // Returns the same costs for a group, in which this rank is number `rank`.
  Costs of_group(int rank, control::PerRank sub_clusters) const {
    Costs costs = *this;
    costs.rank_ = rank;
    costs.sub_clusters_ = std::move(sub_clusters);
    return costs;
  }

  // Selects the processor whose built-in costs apply. All ranks select the same one, since collectives must
  // choose alike.
  void assume(Processor processor) { processor_ = processor; }

  // Declares that every fabric predicts its own costs, so no table is consulted.
  void leave_to_fabrics() { by_fabrics_ = true; }

  // From now on `table`, which was read from the file `path`, is used wherever it has costs.
  void use(TuningTable table, std::string path) {
    measured_ = std::make_shared<const TuningTable>(std::move(table));
    path_ = std::move(path);
  }

  // Predicts the time of one of `puts` puts of this rank in a step; empty if no table has the channel.
  std::optional<double> predict_us(const fabric::Fabric& fabric, std::size_t protocol, int target,
                                   const base::Shape& shape, std::size_t puts) const {
    return predict_us(fabric, protocol, rank_, target, shape, puts);
  }

  // Does the same for a put of any rank.
  std::optional<double> predict_us(const fabric::Fabric& fabric, std::size_t protocol, int from, int to,
                                   const base::Shape& shape, std::size_t puts) const;

  // Returns how far away a rank is: by the time that a cache line takes to cross, if the fabric measures
  // it. Otherwise ranks of the same sub-cluster are near, and others far.
  Distance distance_to(const fabric::Fabric& fabric, int target) const {
    return distance_between(fabric, rank_, target);
  }
  Distance distance_between(const fabric::Fabric& fabric, int from, int to) const;

  // Returns whether the measured table decides between the channels of this fabric at this distance.
  bool measured(const fabric::Fabric& fabric, Distance distance) const;

  // Returns "the built-in table", "the table of 2026-11-21 14:03 UTC" or "the model of the machine".
  std::string origin() const;

  // The path of the measured table; empty for the built-in one.
  const std::string& path() const { return path_; }

 private:
  int rank_;
  control::PerRank sub_clusters_;
  Processor processor_ = Processor::other;
  bool by_fabrics_ = false;
  std::shared_ptr<const TuningTable> measured_ = std::make_shared<const TuningTable>();
  std::string path_;
};

}  // namespace tca::route
