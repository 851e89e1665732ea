// The state that a rank's World, windows and chains share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/layout/shape.hpp"
#include "base/trace.hpp"
#include "boot/bring_up.hpp"
#include "control/members.hpp"
#include "core/chain/deferred_steps.hpp"
#include "core/chain/reroutes.hpp"
#include "core/world/circle.hpp"
#include "core/world/group_fabric.hpp"
#include "core/world/paths.hpp"
#include "core/world/reclaim.hpp"
#include "fabric/accelerator.hpp"
#include "fabric/messages.hpp"
#include "route/costs.hpp"
#include "tca/world.hpp"

namespace tca::core {

class Posting;

// What a rank asks for when a window is made.
struct WindowRequest {
  std::int64_t elements = 0;
  std::size_t element_bytes = 1;
  std::string title = {};    // in messages; empty: by its number
  void* existing = nullptr;  // the program's memory; without it, a fabric allocates
  bool registers = false;    // the program means to give its own
  bool on_host = false;      // in host memory, wherever other windows are
};

class WorldState : public std::enable_shared_from_this<WorldState>, public RetiredGroup {
 public:
  WorldState(boot::Connections connections, const WorldOptions& options);

  // Collective over `ranks`, among which this one is. Returns the state of a group of them, which shares the
  // fabrics of this world and keeps it alive. Throws Error{invalid_argument} for ranks that cannot be a group.
  std::shared_ptr<WorldState> make_group(std::span<const int> ranks);
  WorldState(const WorldState&) = delete;
  ~WorldState() override { quiesce(); }

  static World make_world(std::shared_ptr<WorldState> state) { return World(std::move(state)); }
  static WorldState& of(const World& world) { return world.state(); }

  int rank() const { return connections_.control->rank(); }
  int size() const { return connections_.control->size(); }
  control::Control& control() const { return *connections_.control; }
  const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics() const { return connections_.fabrics; }
  // The accelerator that this rank drives through its first fabric, and whose memory windows are; null without
  // one.
  fabric::Accelerator* accelerator() const { return fabrics().front()->accelerator(); }
  std::optional<fabric::Device> device() const { return fabrics().front()->device(); }
  const std::string& launcher() const { return connections_.launcher; }
  const route::Costs& costs() const { return costs_; }

  // Return the sub-cluster of each rank or of one, and how many there are; the same on every rank.
  std::span<const int> sub_cluster_of_ranks() const { return connections_.places.sub_cluster; }
  int sub_cluster(int rank) const { return connections_.places.sub_cluster[static_cast<std::size_t>(rank)]; }
  int sub_cluster_count() const;

  const control::Places& places() const { return connections_.places; }

  // Returns the first fabric, from number `from` on, that reaches a rank.
  std::size_t fabric_to(int rank, std::size_t from = 0) const;

  base::Trace* trace() {
    if (root_ != nullptr) return root_->trace();
    return trace_ ? &*trace_ : nullptr;
  }

  // See WorldOptions::check_steps.
  bool checks_steps() const { return checks_steps_; }

  // See WorldOptions::timing.
  bool times_chains() const { return times_chains_; }

  // See WorldOptions::reroute.
  bool reroutes_chains() const { return reroutes_chains_; }

  // Returns the path by which a channel leads to a rank, where that has failed by now; null otherwise. No protocol stands
  // for what needs none in particular.
  const Path* lost_path(int rank, std::size_t fabric, std::optional<std::size_t> protocol) const;
  // Returns the names of those to a rank that have failed by now.
  std::string lost_paths(int rank) const;
  // Returns whether paths are to fail at all.
  bool expects_lost_paths() const { return !paths_->empty(); }
  std::vector<KnownFault> known_faults() const;

  // The rerouted chains of this rank, in all groups.
  Reroutes& reroutes() { return root().reroutes_; }

  // Groups share those of their world, since signals of one may overtake puts of another.
  DeferredSteps& deferred_steps() { return root().deferred_steps_; }
  // Returns what this rank has for posts. Throws Error{invalid_argument} where the world carries none.
  Posting& posting();

  // Drives what this rank's started chains still owe to others. Every loop that waits for another rank calls
  // it.
  void progress_while_waiting() {
    deferred_steps().start_ready();
    reroutes().drive();
    for (const auto& fabric : connections_.fabrics) {
      fabric::Messages* const messages = fabric->messages();
      messages != nullptr ? messages->progress_while_waiting() : fabric->progress();
    }
  }

  // Does the same, for a rank that calls it only now and then.
  void progress() {
    deferred_steps().start_ready();
    reroutes().drive();
    for (const auto& fabric : connections_.fabrics) fabric->progress();
  }

  // See Messages::needs_polling.
  bool needs_polling() const {
    return std::ranges::any_of(connections_.fabrics, [](const auto& fabric) {
      const fabric::Messages* const messages = fabric->messages();
      return messages != nullptr && messages->needs_polling();
    });
  }

  // Throws the error that a step on a stream has met, if any has.
  void check() {
    for (const auto& fabric : connections_.fabrics) fabric->check();
  }

  // Ends all activity of this rank, which starts nothing more; see Fabric::quiesce. The last fabric comes
  // first, because it may still carry what those before it have gathered.
  void quiesce() {
    for (auto fabric = connections_.fabrics.rbegin(); fabric != connections_.fabrics.rend(); ++fabric)
      (*fabric)->quiesce();
  }

  // Those who make this world's windows and, unless they do so among partners, chains together.
  Circle& everyone() { return everyone_; }
  // The same, as its fabrics number ranks.
  const control::Members& members() const { return everyone_.members(); }

  // What ranks find out when they meet to make something.
  struct Met {
    std::vector<control::Letter> letters;
    bool is_same = false;     // they all make the same
    std::uint64_t worst = 0;  // the largest of what they say of themselves
  };

  // Collective over a circle. Exchanges letters, announces what was retired, and sets `number` to one that this rank has in
  // common with the others and never had before with any of them: that of a WindowSpec or a ChainSpec. `made` says what this
  // rank makes.
  Met meet(Circle& circle, const std::vector<control::Letter>& letters, const base::Blob& made,
           std::uint64_t of_mine, std::string_view what, std::uint32_t& number);

  // Returns the circle of these ranks, which are in rising order and this one among them.
  Circle& circle(const std::vector<int>& ranks);

  // Leaves out the next numbers that `meet` would give, which what has just been made uses as well.
  void skip_numbers(std::uint32_t count) { root().next_number_ += count; }

  // Returns a window of a world that this one is a group of, as the group sees it.
  std::shared_ptr<WindowState> view(const std::shared_ptr<WindowState>& window);

  // Makes a window. Collective.
  std::shared_ptr<WindowState> make_window(const WindowRequest& request);

  // Returns what messages call a window of this number, whose handles on this rank may be gone: "window 'u'",
  // "window 3", "the scratch of allreduce 'sum'".
  std::string window_title(std::uint32_t id) const;

  // Returns a window by its number; null once the last handle of this rank is gone.
  std::shared_ptr<WindowState> find_window(std::uint32_t id) const;

  // Returns the first fabric that reaches the memory of both windows; all fabrics behind it do so as well. A
  // window whose last handle is gone does not count.
  std::size_t first_fabric(std::uint32_t window, std::uint32_t other) const;

  // Returns a copy of the shape that lives as long as the world. Chains of the same pattern share one.
  const base::Shape* intern(const base::Shape& shape) { return &*shapes_.insert(shape).first; }

  const std::string& intern(std::string text) { return *texts_.insert(std::move(text)).first; }

  // Takes the next number for an object that is made collectively. Numbers are the same on every rank if each
  // is taken once all ranks have agreed to make the object; a call that is refused takes none.
  std::uint32_t next_id() { return everyone_.next_id(); }

  // Collective over a circle. Frees what its last call of Reclaimer::announce has released, and forgets the windows that no
  // rank has a handle of any more. Meets the others first if there is anything to free.
  void free_released(Circle& circle, std::string_view what);

  // Notes that this rank's last handle of an object is gone.
  void retire(std::uint32_t id, Retired object) { everyone_.reclaimer().retire(id, std::move(object)); }

 private:
  // A window as far as this rank remembers it. One without a title is called by its number.
  struct Known {
    std::weak_ptr<WindowState> window;
    const std::string* title = nullptr;
  };

  // What ranks agree on before they make a window.
  struct Agreed {
    std::uint32_t number = 0;
    bool registered = false;  // some rank registers memory of its own
  };

  WorldState(WorldState& root, boot::Connections connections, GroupRanks ranks, std::uint64_t key);

  WorldState& root() { return root_ == nullptr ? *this : *root_; }
  static void retire_group(WorldState* group);
  bool end_chains() override;
  void require_group(std::span<const int> ranks) const;
  void drive_while_waiting();
  std::string titled(const WindowRequest& request) const;
  Agreed agree_on_window(const WindowRequest& request, const std::string& title);
  std::vector<std::unique_ptr<fabric::Memory>> expose(fabric::WindowSpec window, bool registered);

  // Of a group: the world around it, which it keeps until its last handle is gone.
  std::shared_ptr<WorldState> keeps_root_;
  WorldState* root_ = nullptr;
  std::uint64_t key_ = 0;
  boot::Connections connections_;
  GroupRanks ranks_;  // of a group
  route::Costs costs_;
  DeferredSteps deferred_steps_{connections_.fabrics};
  Reroutes reroutes_;
  std::optional<base::Trace> trace_;
  bool checks_steps_, times_chains_, reroutes_chains_;
  std::shared_ptr<const Paths> paths_;  // that of the root
  std::set<base::Shape> shapes_;
  std::set<std::string> texts_;
  std::uint32_t next_number_ = 0;                     // of the root, which all groups of it use
  std::map<std::vector<int>, std::uint32_t> groups_;  // of the root: how many were made of these ranks
  std::map<std::uint32_t, Known> windows_;            // those that some rank may still have a handle of
  Circle everyone_{*connections_.control, ranks_};
  std::map<std::vector<int>, std::unique_ptr<Circle>> circles_;  // by their ranks
  std::shared_ptr<Posting> posting_;                             // null before the first call
};

// Returns the time limit, capped to what a clock that counts nanoseconds can wait for. Throws
// Error{invalid_argument}, which names `whose`, for a limit of zero or less.
std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose);

// During a commit the control plane waits as long as the committed chain's time limit. This object sets the
// limit, and its destructor restores the previous one.
class TimeLimit {
 public:
  TimeLimit(control::Control& control, std::chrono::milliseconds limit)
      : control_(control), before_(std::exchange(control.time_limit, limit)) {}
  TimeLimit(const TimeLimit&) = delete;
  ~TimeLimit() { control_.time_limit = before_; }

 private:
  control::Control& control_;
  std::chrono::milliseconds before_;
};

}  // namespace tca::core
