// A rank's compiled share of a chain on a GPU.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "fabric/accelerator.hpp"
#include "fabric/cuda/compile.hpp"
#include "fabric/cuda/engine.hpp"
#include "fabric/cuda/late.hpp"
#include "fabric/cuda/own_stream.hpp"
#include "fabric/cuda/pace.hpp"

namespace tca::cuda {

class CudaProgram;

// What the programs of a rank share.
struct Runner {
  Inbox& inbox;
  Engine& engine;
  cudaStream_t stream;    // where the host's own starts run
  cudaStream_t attempts;  // and those of them that may not wait
  // And the copy engine's part of any step. The copies of one chain, which wait for the partners' permission, may not stand before
  // another's: ranks may start the two in different orders.
  ChainStreams& copies;
  unsigned block_limit;  // so that the kernels of all ranks on this GPU can run at once
  Pace pace;
  std::function<void()> check;
  std::map<Word, CudaProgram*> programs = {};  // by id
  // Of the steps that the host has started and that have not been seen finished. Kernels that wait would keep each other
  // from running if the ranks started their chains in different orders, so only one at a time waits; the others get
  // on by attempts.
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
  const DeviceChain* device_chain() const override {
    others_run_it_ = true;
    return &compiled_->chain;
  }

  const DeviceBell* bell() override;

  // What kernels still wait for is given up at the chain's time limit, and by them.
  bool end(bool /*in_order*/) override {
    return finished() || device::load_relaxed(&runner_.inbox.abort()) != 0;
  }

  bool is_empty() const override { return compiled_->partners.empty(); }

  // Another attempt, if the last one is over and has not finished the step.
  void attempt();

  const std::string& name() const { return name_; }
  Word id() const { return compiled_->chain.patience.chain; }

  // For whom the latest long wait of any of its kernels was or is.
  LatestWait late() const;

 private:
  // Where the copy engine's part runs: on a stream beside that of the start, between two events.
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
  void start_copies(Stream stream);
  void wait_on(Stream stream, Done done);

  Runner& runner_;
  std::string name_;
  std::unique_ptr<Compiled> compiled_;
  std::optional<Branch> branch_;  // where there are any
  // Whoever only waits for stores needs few threads, and leaves the others' place to kernels that run meanwhile.
  Grid exchange_grid_, start_grid_, wait_grid_;
  Word ticket_ = 0;
  Word rung_ = 0;
  Word engine_chain_;
  bool suits_engine_;                                              // which then runs the host's own starts
  std::optional<DeviceBell> bell_;                                 // once asked for
  enum class Way { kernel, attempts, engine } way_ = Way::kernel;  // of the step that was started last
  mutable bool others_run_it_ = false;
  bool sent_ = false;
  unsigned polls_ = 0;
};

}  // namespace tca::cuda
