// A rank's compiled share of a chain on a GPU.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fabric/accelerator.hpp"
#include "fabric/cuda/compile/compile.hpp"
#include "fabric/cuda/engine/engine.hpp"
#include "fabric/cuda/launch/launch_throttle.hpp"
#include "fabric/cuda/launch/own_stream.hpp"
#include "fabric/cuda/timeout_report.hpp"

namespace tca::cuda {

class CudaProgram;

// The resources that a rank's programs share.
struct Runner {
  Inbox& inbox;
  Engine& engine;
  cudaStream_t stream;  // the host's own starts run here
  // The host's own starts that must not wait run here, as attempts.
  cudaStream_t attempts;
  // The copy engine's part of a step runs on one of these. The copies of one chain, which wait for the
  // partners' permission, must not queue ahead of another's: ranks may start the two in different orders.
  ChainStreams& copies;
  unsigned block_limit;  // so that the kernels of all ranks on this GPU can run at once
  LaunchThrottle throttle;
  std::function<void()> check;
  std::map<Word, CudaProgram*> programs = {};  // by id
  // The programs whose step the host has started and not seen finished. Kernels that wait would keep each
  // other from running if the ranks started their chains in different orders, so only one program at a time
  // waits; the others advance by attempts.
  CudaProgram* waiting = nullptr;
  std::vector<CudaProgram*> attempting = {};
};

class CudaProgram final : public fabric::Program, public fabric::AcceleratorProgram {
 public:
  CudaProgram(Runner& runner, std::string name, std::unique_ptr<Compiled> compiled);
  ~CudaProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;

  fabric::AcceleratorProgram* on_accelerator() override { return this; }
  void start_on(Stream stream) override;
  void wait_on(Stream stream) override;
  void run_on(Stream stream) override;
  const DeviceProducedChain* device_chain() const override {
    others_run_it_ = true;
    return &compiled_->chain;
  }

  const DeviceTimedChain* timed_device_chain() const override {
    others_run_it_ = true;
    return compiled_->timed ? &*compiled_->timed : nullptr;
  }

  const DeviceDoorbell* doorbell() override;

  void tell_of_arrivals() override {
    if (compiled_->times) compiled_->times->tell();
  }

  // A kernel that still waits gives up by itself at the chain's time limit.
  bool end() override { return finished() || device::load_relaxed(&runner_.inbox.abort()) != 0; }

  bool is_empty() const override { return compiled_->partners.empty(); }

  // Makes another attempt, if the last one is over and has not finished the step.
  void attempt();

  const std::string& name() const { return name_; }
  int partner(Word link) const { return compiled_->partners.at(link); }
  Word id() const { return compiled_->chain.limits.chain; }

  // Returns the latest long wait of any of its kernels, with the ranks that the kernel waits for or has
  // waited for.
  LatestWait late() const;

 private:
  // Where the copy engine's part runs: a stream beside that of the start, between two events.
  struct Branch {
    explicit Branch(ChainStreams& all) : streams(all) {}
    Branch(const Branch&) = delete;
    ~Branch() { streams.give_back(stream); }
    ChainStreams& streams;
    OwnEvent fork, join;
    cudaStream_t stream = streams.take();
  };

  static std::optional<Branch> branch_of(const Compiled& compiled, Runner& runner);
  Grid grid(Word chunks, Word segments) const;
  bool finished() const;
  void forget_waits() const;
  const TimedLengths& lengths(cudaStream_t stream);
  void start_copies(Stream stream);
  void wait_on(Stream stream, Done done);

  Runner& runner_;
  std::string name_;
  std::unique_ptr<Compiled> compiled_;
  std::optional<Branch> branch_;  // if the chain has copies
  // A kernel that only waits for stores needs few threads, and leaves room for kernels that run meanwhile.
  Grid exchange_grid_, start_grid_, wait_grid_;
  Word ticket_ = 0;                         // of the last step given to a kernel
  Word posted_ = 0;                         // the number of the last command to the engine
  Word engine_chain_;                       // the engine's handle of the chain
  bool suits_engine_;                       // whether the engine runs the host's own starts
  std::optional<DeviceDoorbell> doorbell_;  // set once `doorbell` has been called
  // How the last started step is run.
  enum class Way { kernel, attempts, engine } way_ = Way::kernel;
  mutable bool others_run_it_ = false;  // whether kernels other than the engine's may have run the chain
  bool sent_ = false;                   // whether an attempt has sent the step
  unsigned polls_ = 0;
};

}  // namespace tca::cuda
