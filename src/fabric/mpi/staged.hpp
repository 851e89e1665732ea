// Chains on an accelerator's memory: MPI carries what a stage gathers, and the stage scatters what has
// arrived.
//
// A step may begin on a stream, and the host does not learn of that. So a thread of the rank, the proxy,
// carries the messages: it looks for steps that have begun and drives their requests. MPI must allow that
// (MPI_THREAD_MULTIPLE), because the rank's own thread meets the other ranks over MPI meanwhile.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/system/worker.hpp"
#include "control/control.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/mpi/program.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

class StagedProgram;

class ProxyThread {
 public:
  ProxyThread(Runner& runner, base::Cores cores, fabric::Stager& stager)
      : runner_(runner),
        cores_(cores),
        stager_(stager),
        thread_("carrying GPU memory over MPI", [this](const std::stop_token& stop) { run(stop); }) {}
  ProxyThread(const ProxyThread&) = delete;

  // Keeps the thread off everything that it drives, including the runner's immediate puts.
  [[nodiscard]] std::unique_lock<std::mutex> hold();

  // Throws the error that the thread has hit, if any. Takes no lock and makes no system call.
  void check() {
    if (failed_.load(std::memory_order_acquire)) std::rethrow_exception(error_);
  }

  // Ends the thread once everything that begun steps have to send to ranks that are still there has been
  // sent, and after `limit` in any case.
  void finish(const control::Control& control, std::chrono::milliseconds limit);

  // Ends the thread at once.
  void stop() { thread_.stop(); }

 private:
  void run(const std::stop_token& stop);
  friend class StagedProgram;

  bool carry();
  bool is_owed(const control::Control& control);

  Runner& runner_;
  base::Cores cores_;
  fabric::Stager& stager_;
  std::mutex mutex_;
  std::atomic<int> wanted_ = 0;  // above 0 while the rank's own thread wants the mutex
  std::exception_ptr error_;
  std::atomic<bool> failed_ = false;
  std::vector<StagedProgram*> programs_;
  base::Worker thread_;
};

class StagedProgram final : public fabric::Program, public fabric::AcceleratorProgram {
 public:
  // Without messages there is no stage, and a step does nothing.
  StagedProgram(ProxyThread& proxy, Runner& runner, std::vector<fabric::StagedMessage> messages,
                std::unique_ptr<fabric::Stage> stage, Operations operations);
  ~StagedProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;
  std::optional<fabric::Guard> guard() const override { return fabric::Guard{{}, {}, free_guard}; }
  bool is_empty() const override { return stage_ == nullptr; }
  bool end() override;
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

  // Called by the proxy's thread. Advances a step that has begun; returns whether there is one.
  bool carry();
  // Returns the ranks to which a step that has begun still has to send something. The caller holds the
  // proxy.
  std::vector<int> creditors() const;

 private:
  bool has_begun() const;

  ProxyThread& proxy_;
  std::vector<fabric::StagedMessage> messages_;
  std::unique_ptr<fabric::Stage> stage_;
  std::uint32_t step_ = 0;  // the last one that the host began
  bool scattering_ = false;
  // The members from here on belong to the proxy.
  bool carrying_ = false;
  std::optional<MpiProgram> program_;
};

}  // namespace tca::mpi
