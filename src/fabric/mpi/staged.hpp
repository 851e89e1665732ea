// Chains over an accelerator's memory: MPI carries what a stage gathers, and the stage scatters what has come.
//
// A step may begin on a stream, of which no host learns, so a thread of the rank's carries the messages: it looks for
// steps that have begun, and drives their requests. MPI must allow that (MPI_THREAD_MULTIPLE), because the rank's own
// thread meets the others over MPI meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "fabric/accelerator.hpp"
#include "fabric/control.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

class StagedProgram;

class Carrier {
 public:
  Carrier(Runner& runner, base::Cores cores, fabric::Stager& stager)
      : runner_(runner), cores_(cores), stager_(stager), thread_([this] { run(); }) {}
  Carrier(const Carrier&) = delete;
  ~Carrier() { stop(); }

  // Keeps the thread from all that it drives, the runner's immediate puts among it.
  [[nodiscard]] std::unique_lock<std::mutex> hold();

  // Throws what the thread has met. No lock, no system call.
  void check() {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  }

  // Until everything that steps have begun to send has gone, to ranks that are still there, or for so long.
  void finish(const fabric::Control& control, std::chrono::milliseconds limit);

  // At once.
  void stop();

 private:
  void run();
  friend class StagedProgram;

  bool carry();
  bool is_owed(const fabric::Control& control);

  Runner& runner_;
  base::Cores cores_;
  fabric::Stager& stager_;
  std::mutex mutex_;
  std::atomic<int> wanted_ = 0;  // by the rank's own thread
  std::atomic<bool> over_ = false;
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false;
  std::vector<StagedProgram*> programs_;
  std::thread thread_;
};

class StagedProgram final : public fabric::Program, public fabric::AcceleratorProgram {
 public:
  // Without messages there is no stage, and nothing happens in a step.
  StagedProgram(Carrier& carrier, Runner& runner, std::vector<fabric::StagedMessage> messages,
                std::unique_ptr<fabric::Stage> stage, Operations operations);
  ~StagedProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;
  bool is_empty() const override { return stage_ == nullptr; }
  bool end(bool in_order) override;
  fabric::AcceleratorProgram* on_accelerator() override { return this; }
  void start_on(Stream stream) override {
    if (!is_empty()) stage_->gather_on(stream);
  }
  void wait_on(Stream stream) override {
    if (!is_empty()) stage_->scatter_on(stream);
  }
  void run_on(Stream stream) override {
    start_on(stream);
    wait_on(stream);
  }

  // By the carrier's thread: whether there is something to do.
  bool carry();
  // With the carrier held: whom this rank still owes what a step has begun to send.
  std::vector<int> creditors() const;

 private:
  bool has_begun() const;

  Carrier& carrier_;
  std::vector<fabric::StagedMessage> messages_;
  std::unique_ptr<fabric::Stage> stage_;
  std::uint32_t step_ = 0;  // the last that the host began
  bool scattering_ = false;
  // What follows is the carrier's.
  bool carrying_ = false;
  std::optional<MpiProgram> program_;
};

}  // namespace tca::mpi
