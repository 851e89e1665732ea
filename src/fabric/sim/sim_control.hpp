// The control plane of ranks on a modelled machine. It is not part of the model: a collective call takes no
// time beyond waiting for the last rank, as if every machine had a separate network for it.
#pragma once

#include <memory>

#include "control/control.hpp"
#include "fabric/sim/model.hpp"

namespace tca::sim {

class SimControl final : public control::Control {
 public:
  // Returns when the rank has its first turn.
  SimControl(std::shared_ptr<Model> model, int rank);
  ~SimControl() override;

  int rank() const override { return rank_; }
  int size() const override { return model_->ranks(); }
  std::optional<control::Loss> lost(int rank) override { return model_->scheduler().lost(rank); }
  void leave(const std::optional<control::Trouble>& why) override;
  base::Cores cores() const override { return base::Cores::crowded; }
  bool crowded() const override { return false; }
  std::unique_ptr<control::AllGather> begin_among(const control::Subset& subset,
                                                  const base::Blob& mine) override;
  bool wait_turn(const control::Wait& wait, std::chrono::nanoseconds at_most) override;
  std::chrono::duration<double> now() const override;

 private:
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override;
  std::shared_ptr<const std::vector<base::Blob>> gather_shared(const base::Blob& mine,
                                                               std::string_view what) override;
  Delivered deliver(const base::Blob& mine, std::span<const int> readers, const control::Ballot& ballot,
                    std::string_view what) override;

  std::shared_ptr<Model> model_;
  int rank_;
};

}  // namespace tca::sim
