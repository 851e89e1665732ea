// The signals and lines behind a team.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "fabric/accelerator.hpp"
#include "fabric/cuda/late.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/pace.hpp"
#include "tca/device_team.hpp"

namespace tca::cuda {

class CudaTeam;
using Teams = std::map<Word, const CudaTeam*>;  // by id

class CudaTeam final : public fabric::Team {
 public:
  CudaTeam(Teams& teams, Inbox& inbox, std::string name, Pace pace);
  ~CudaTeam() override;

  const DeviceTeam& device() const override { return view; }
  void allreduce_sum_on(double* values, std::size_t count, Stream stream) override;

  Late late() const;

  DeviceTeam view;
  Room room;

 private:
  Teams& teams_;
  std::string name_;
  Pace pace_;
};

// Collective. `id` is not 0.
std::unique_ptr<CudaTeam> make_team(Teams& teams, std::string name, std::size_t max_values,
                                    std::chrono::milliseconds time_limit, Word id, control::Control& control,
                                    Inbox& inbox, cudaStream_t stream, Pace pace);

}  // namespace tca::cuda
