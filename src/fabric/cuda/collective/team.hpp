// The signals and packets behind a team.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "fabric/accelerator.hpp"
#include "fabric/cuda/launch/launch_throttle.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/timeout_report.hpp"
#include "tca/device/team.hpp"

namespace tca::cuda {

class CudaTeam;
using Teams = std::map<Word, const CudaTeam*>;  // by id

class CudaTeam final : public fabric::Team {
 public:
  CudaTeam(Teams& teams, Inbox& inbox, std::string name, LaunchThrottle throttle);
  ~CudaTeam() override;

  const DeviceTeam& device() const override { return view; }
  void allreduce_sum_on(double* values, std::size_t count, Stream stream) override;

  TimeoutReport late() const;
  // Returns the number of blocks of a grid that had more than the team was made for; 0 if none had.
  Word excess_blocks() const { return device::load_relaxed(view.limits.waiting + view.size + 1); }
  const std::string& name() const { return name_; }

  DeviceTeam view;
  Room room;

 private:
  Teams& teams_;
  std::string name_;
  LaunchThrottle throttle_;
};

// Collective over the members. `id` is not 0.
std::unique_ptr<CudaTeam> make_team(Teams& teams, std::string name, std::size_t max_values,
                                    std::size_t max_blocks, std::chrono::milliseconds time_limit, Word id,
                                    const control::Members& members, Inbox& inbox, cudaStream_t stream,
                                    LaunchThrottle throttle);

}  // namespace tca::cuda
