// A chain as one rank sees it: its descriptors before the commit, its compiled programs afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/codec.hpp"
#include "base/poll.hpp"
#include "base/waited.hpp"
#include "core/chain/detour.hpp"
#include "core/world/window_state.hpp"
#include "tca/counted.hpp"
#include "tca/device/produced.hpp"
#include "tca/timing.hpp"

namespace tca::core {

class MessageTimes;

// One put, in bytes. A bare signal has no shape.
struct Descriptor {
  std::int32_t to = 0;
  std::uint32_t to_window = 0;
  std::uint32_t from_window = 0;
  std::uint16_t fabric = 0;
  std::uint16_t protocol = 0;
  std::int64_t to_offset = 0;
  std::int64_t from_offset = 0;
  const base::Shape* shape = nullptr;
  bool counted = false;
  // The channel of the second path of a rerouted chain, if it has one to this rank.
  bool has_spare = false;
  std::uint16_t spare_fabric = 0;
  std::uint16_t spare_protocol = 0;
  // For a produced put, which has no shape; a produced signal has no elements.
  bool produced = false;
  std::uint32_t elements = 0;
  std::uint32_t element_bytes = 0;
};

// Return what a put between this rank and a partner needs on its first path, and on its second.
inline Need need_of(int partner, const Descriptor& put) {
  return {partner, put.fabric,
          put.shape != nullptr ? std::optional<std::size_t>(put.protocol) : std::nullopt};
}
inline Need spare_need_of(int partner, const Descriptor& put) {
  return {partner, put.spare_fabric,
          put.shape != nullptr ? std::optional<std::size_t>(put.spare_protocol) : std::nullopt};
}

// Returns how many puts go to each rank.
std::map<int, std::size_t> count_puts(std::span<const Descriptor> descriptors);

// This rank's ends of a chain's counted puts, in order of declaration.
struct CountedEnds {
  std::vector<std::shared_ptr<CountedEnd>> puts, arrivals;
};

// One end of a produced put. The commit has the fabric fill the view.
struct ProducedEnd {
  std::string chain;
  int partner = 0;
  std::uint32_t elements = 0, element_bytes = 0;
  bool committed = false;
  device::Produced view = {};
};

// This rank's ends of a chain's produced puts, in order of declaration.
struct ProducedEnds {
  std::vector<std::shared_ptr<ProducedEnd>> puts, arrivals;
};

// This rank's declarations for a chain that is not yet committed.
struct Draft {
  std::vector<Descriptor> descriptors;
  std::vector<int> expected;
};

// What a chain without a second path needs, and the paths of one that has a second.
struct Ways {
  std::vector<Need> needs;
  std::vector<Detour> detours;
};

// A ChainState is kept small, since there may be thousands of them: the world owns the texts, and the
// commit destroys the draft.
class ChainState {
 public:
  ChainState(std::shared_ptr<WorldState> world, std::string name, ChainOptions options);
  ChainState(const ChainState&) = delete;
  ~ChainState();

  void add(const Descriptor& descriptor, std::shared_ptr<WindowState> source);
  void signal(int rank);
  void expect(int rank);
  std::shared_ptr<CountedEnd> add_counted(const Descriptor& descriptor, std::shared_ptr<WindowState> source);
  std::shared_ptr<CountedEnd> expect_counted(int rank);
  std::shared_ptr<ProducedEnd> add_produced(int rank, std::int64_t elements, std::size_t element_bytes);
  std::shared_ptr<ProducedEnd> expect_produced(int rank, std::int64_t elements, std::size_t element_bytes);
  void commit();

  void start();
  bool test();
  void wait();
  bool wait_for(std::chrono::nanoseconds duration);

  // Moves a rerouted chain, and its step, on to other paths.
  void drive_detours() {
    for (Detour& detour : detours()) detour.drive();
  }

  // Begins a step that the world has held back.
  void begin_deferred();

  // Order steps on a stream. They are counted, but the host does not follow them.
  void start_on(Stream stream);
  void wait_on(Stream stream);
  void run_on(Stream stream);
  const DeviceChain& device() const;
  const DeviceProducedChain& device_produced() const;
  const DeviceTimedChain& device_timed() const;
  const DeviceDoorbell& doorbell() const;

  std::string explain() const;
  Timing timing() const;
  void clear_timing();
  const std::string& name() const { return name_; }
  WorldState& world() const { return *world_; }
  void require_uncommitted(const char* call) const;

 private:
  friend class Commit;
  class StepWait;

  void check_rank(const char* call, int rank) const;
  // These checks cost each step a flag or two; the messages are built out of line.
  void require_committed(const char* call) const {
    if (!committed_) fail_uncommitted(call);
  }
  void require_startable(const char* call) const {
    require_committed(call);
    if (running_) fail_running(call);
    if (produced_ != nullptr) fail_produced(call);
  }
  void require_waitable(const char* call) const {
    if (running_) return;
    require_committed(call);
    if (on_stream_) fail_on_stream(call);
    require_started(call);
  }
  // If steps are checked, throws unless a step was started that has not been waited for yet.
  void require_started(const char* call) const {
    if (awaited_ && world_->checks_steps()) fail_not_started(call);
  }
  void require_streams(const char* call) const;
  [[noreturn]] void fail_uncommitted(const char* call) const;
  [[noreturn]] void fail_running(const char* call) const;
  [[noreturn]] void fail_produced(const char* call) const;
  [[noreturn]] void fail_on_stream(const char* call) const;
  [[noreturn]] void fail_not_started(const char* call) const;
  CountedEnds& counted();
  ProducedEnds& produced();
  std::shared_ptr<ProducedEnd> produced_end(const char* call, int rank, std::int64_t elements,
                                            std::size_t element_bytes) const;
  void take_lengths();
  void begin_step();
  void start_programs();
  std::span<Detour> detours() const { return ways_ == nullptr ? std::span<Detour>() : ways_->detours; }
  Ways& ways() {
    if (ways_ == nullptr) ways_ = std::make_unique<Ways>();
    return *ways_;
  }
  const Need* find_lost() const;
  const Need* find_lost_now() const;
  void fail_on_lost_path() const;
  void finish_step();
  template <class Call>
  void traced(const char* what, const Call& call);
  bool advance();
  bool look();
  std::vector<int> missing() const;
  ErrorFields about() const;
  bool wait_patiently(std::chrono::nanoseconds at_most);
  bool end_wait(std::chrono::duration<double> waited, std::chrono::nanoseconds at_most);
  void check_partners(std::chrono::nanoseconds waited);
  bool finishes_within(std::chrono::milliseconds patience);
  std::string explain_signals(const Draft& draft) const;

  std::shared_ptr<WorldState> world_;
  const std::string& name_;
  const std::string& route_;
  std::chrono::milliseconds time_limit_;
  base::TestLoop test_loop_;
  std::uint32_t id_ = 0;
  std::uint32_t step_ = 0;
  bool guarded_;
  bool committed_ = false;
  bool running_ = false;    // the host has started a step
  bool deferred_ = false;   // the step has not begun yet
  bool on_stream_ = false;  // the last step was ordered on a stream
  bool cut_ = false;        // the step has not begun, since a path had failed
  bool awaited_ = true;     // no step has been started since the last wait
  bool timed_;
  bool partners_only_;
  bool reroute_;
  Circle* circle_ = nullptr;              // the ranks that have committed it
  std::unique_ptr<Draft> draft_;          // null after the commit
  base::Blob record_;                     // after the commit: what was declared, packed, for `explain`
  std::unique_ptr<CountedEnds> counted_;  // null if there are none
  std::unique_ptr<ProducedEnds> produced_;
  std::vector<std::shared_ptr<WindowState>> windows_;
  std::vector<std::unique_ptr<fabric::Program>> programs_;
  std::unique_ptr<Ways> ways_;           // null if no path is to fail and nothing is rerouted
  std::unique_ptr<MessageTimes> times_;  // for a timed chain, from its commit on
};

}  // namespace tca::core
