// The test double of an accelerator's staging: host memory plays the accelerator's, and threads its streams, which are as slow
// and as uneven as streams may be. What is gathered and what has come passes through host memory in small chunks.
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

// Work in the order in which it was given, by a thread of its own.
class DoubleStream {
 public:
  explicit DoubleStream(unsigned seed);
  DoubleStream(const DoubleStream&) = delete;
  ~DoubleStream();

  void enqueue(std::function<void()> work);
  // All of it is done.
  void synchronize();

  // By the work itself: some time passes. Without end where nothing comes any more, but that the double goes.
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
  void write(std::byte* to, std::span<const std::byte> from) override;

  // Where the host's own steps run, none of which waits, and those that are ordered on a stream, whichever.
  DoubleStream own, users;

  int kept = 0;                                            // calls of Stage::keep_memory
  bool is_full = false;                                    // it has no memory for another stage
  bool is_busy = false;                                    // what the host starts is never done
  bool loses_bytes = false;                                // where its memory is tried
  fabric::StageMemory latest = fabric::StageMemory::host;  // of which a stage was made
};

}  // namespace tca::test
