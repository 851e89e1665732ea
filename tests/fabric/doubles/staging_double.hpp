// The test double of an accelerator's staging. Host memory plays the accelerator's memory, and threads play
// its streams, as slow and uneven as streams may be. Messages pass through host memory in small chunks.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <random>
#include <thread>

#include "fabric/staging.hpp"

namespace tca::test {

// A stream: a thread that runs work in the order in which it was enqueued.
class DoubleStream {
 public:
  explicit DoubleStream(unsigned seed);
  DoubleStream(const DoubleStream&) = delete;
  ~DoubleStream();

  void enqueue(std::function<void()> work);
  // Returns once all work is done.
  void synchronize();

  // Called by the work itself: lets some time pass. Work that waits for something in a loop also checks
  // closing(), since the double may be destroyed before that comes.
  void pause();
  bool closing() const { return closing_.load(std::memory_order_relaxed); }
  void close() { closing_.store(true, std::memory_order_relaxed); }

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::queue<std::function<void()>> queue_;
  bool busy_ = false, over_ = false;
  std::atomic<bool> closing_ = false;
  std::mt19937 random_;
  std::thread thread_;
};

class StagingDouble final : public fabric::Stager {
 public:
  explicit StagingDouble(unsigned seed) : own(seed), users(seed + 1000) {}

  std::unique_ptr<fabric::Stage> make_stage(std::string chain,
                                            std::span<const fabric::StagedMessage> messages,
                                            fabric::StageMemory memory,
                                            std::chrono::milliseconds time_limit) override;
  bool can_be_carried(const Carry& carry) override;
  void bind_thread() override {}
  void gather(std::byte* row, const std::byte* from, const base::Shape& shape) override {
    base::gather(row, from, shape);
  }
  void scatter(std::byte* to, const std::byte* row, const base::Shape& shape) override {
    base::scatter(to, row, shape);
  }
  void write(std::byte* to, std::span<const std::byte> from) override;

  // `own` runs the host's own steps, which never wait. `users` runs the steps that are ordered on a stream,
  // whichever stream that is.
  DoubleStream own, users;

  std::atomic<int> taken = 0;                              // chunks that a message has carried off
  int kept = 0;                                            // calls of Stage::keep_memory
  bool is_full = false;                                    // there is no memory for another stage
  bool is_busy = false;                                    // what the host starts never completes
  bool loses_bytes = false;                                // the trial of its memory fails
  fabric::StageMemory latest = fabric::StageMemory::host;  // of the stage made last
};

}  // namespace tca::test
