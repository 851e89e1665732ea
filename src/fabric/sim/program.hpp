// A SimProgram is a rank's share of a chain on the modelled machine.
#pragma once

#include <memory>
#include <vector>

#include "fabric/sim/model.hpp"

namespace tca::sim {

class SimProgram final : public fabric::Program {
 public:
  using Flows = std::vector<std::shared_ptr<Flow>>;
  SimProgram(std::shared_ptr<Model> model, control::Control& control, bool guarded, std::uint32_t number,
             Flows outgoing, Flows incoming);
  ~SimProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;
  std::optional<fabric::Guard> guard() const override;

  // Called by a flow when something has left or landed.
  void on_progress();
  // Called by a flow whose path has failed.
  void look_again();

  int rank() const { return rank_; }
  const Flows& incoming() const { return shared_->incoming; }

 private:
  // The state that outlives the program while a step is under way.
  struct Shared {
    Model& model;
    bool guarded;
    std::uint32_t number;  // of the chain
    Flows outgoing, incoming;
  };

  bool finished() const;
  void check_ways(bool starts) const;
  // `ways` are the paths that the outgoing flows took when the step was started.
  static des::Task run(std::shared_ptr<Shared> shared, std::uint64_t step, des::Time begin,
                       std::vector<std::size_t> ways);
  static des::Task send_permitted(std::shared_ptr<Shared> shared, std::shared_ptr<Flow> flow,
                                  std::uint64_t step, std::uint32_t turn, std::size_t way);
  static des::Task receive_departed(std::shared_ptr<Flow> flow, std::uint64_t step);
  static des::Time announce_costs(const Shared& shared);

  std::shared_ptr<Model> model_;
  control::Control& control_;
  int rank_;
  std::shared_ptr<Shared> shared_;
  std::uint64_t step_ = 0;
  bool running_ = false;
};

// Returns when the receiver knows that the last step to land has arrived.
des::Time known_at(const Flow& flow);

}  // namespace tca::sim
