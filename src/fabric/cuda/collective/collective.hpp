// A collective that kernels run: by packets if it is small, by moves otherwise.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "fabric/cuda/collective/collective_kernels.hpp"
#include "fabric/cuda/launch/launch_throttle.hpp"
#include "fabric/cuda/launch/own_stream.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/timeout_report.hpp"

namespace tca::cuda {

class CudaCollective;

// The resources that a rank's collectives share.
struct CollectiveRunner {
  Inbox& inbox;
  // The host's own starts run here. They wait for nobody except a broadcast's readers.
  cudaStream_t starts;
  // The waits that follow those starts run here.
  cudaStream_t waits;
  cudaStream_t setup;
  unsigned block_limit;  // the same on every rank, so that the kernels of all ranks on a GPU can run at once
  LaunchThrottle throttle;
  std::function<void()> check;
  std::map<Word, const CudaCollective*> collectives = {};  // by id
};

class CudaCollective final : public fabric::Collective {
 public:
  // Collective over the task's members.
  CudaCollective(CollectiveRunner& runner, const fabric::CollectiveTask& task, Word id);
  ~CudaCollective() override;

  void start() override;
  bool test() override;
  void start_on(Stream stream) override { launch_on(Phase::start, stream); }
  void wait_on(Stream stream) override { launch_on(Phase::wait, stream); }
  void run_on(Stream stream) override { launch_on(Phase::run, stream); }

  TimeoutReport late() const;

 private:
  std::vector<std::uint64_t> exchange_room(std::size_t bytes);
  void set_up(device::CollectivePackets packets, int root);
  void set_up(device::CollectiveMoves moves);
  void launch(Phase phase, Done done, cudaStream_t stream) const;
  void launch_on(Phase phase, cudaStream_t stream) const;

  CollectiveRunner& runner_;
  std::string name_;
  control::Members members_;
  Word ranks_;
  MaybeReduction reduction_;
  Room room_;
  Grid grid_;
  device::WaitLimits limits_;
  std::variant<device::CollectivePackets, device::CollectiveMoves> view_;
  // These serve the steps that the host itself starts.
  Word* done_ = nullptr;  // pinned: the ticket of the last step that has finished
  Word ticket_ = 0;       // of the last step started
  bool waits_ = false;    // whether the part after that start has been launched
  unsigned polls_ = 0;
  std::optional<OwnEvent> started_;
};

}  // namespace tca::cuda
