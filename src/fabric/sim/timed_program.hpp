// A TimedProgram is a SimProgram that reports its arrivals, in virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "fabric/arrivals.hpp"
#include "fabric/sim/program.hpp"

namespace tca::sim {

class TimedProgram final : public fabric::Program {
 public:
  TimedProgram(std::unique_ptr<SimProgram> program, const Scheduler& scheduler, fabric::Arrivals& arrivals)
      : program_(std::move(program)), scheduler_(scheduler), arrivals_(arrivals) {}

  void start() override;
  bool test() override;
  std::vector<int> missing() const override { return program_->missing(); }
  std::optional<fabric::Guard> guard() const override { return program_->guard(); }

 private:
  void tell_of_step();

  std::unique_ptr<SimProgram> program_;
  const Scheduler& scheduler_;
  fabric::Arrivals& arrivals_;
  std::uint32_t step_ = 0;
  bool running_ = false;
  des::Time started_ = 0;
  std::optional<des::Time> looked_;  // in the current step
};

}  // namespace tca::sim
