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

// What a rank requests when a window is made.
struct WindowRequest {
  std::int64_t elements = 0;
  std::size_t element_bytes = 1;
  std::string title = {};    // in messages; if empty, the window's number is used
  void* existing = nullptr;  // the program's memory; if null, a fabric allocates
  bool registers = false;    // the program intends to provide its own
  bool on_host = false;      // in host memory, wherever other windows are
};

class WorldState : public std::enable_shared_from_this<WorldState>, public RetiredGroup {
 public:
  WorldState(boot::Connections connections, const WorldOptions& options);

  // Collective over `ranks`, which include this one. Returns the state of a group of them, which shares
  // this world's fabrics and keeps it alive. Throws Error{invalid_argument} if they cannot form a group.
  std::shared_ptr<WorldState> make_group(std::span<const int> ranks);
  WorldState(const WorldState&) = delete;
  ~WorldState() override { quiesce(); }

  static World make_world(std::shared_ptr<WorldState> state) { return World(std::move(state)); }
  static WorldState& of(const World& world) { return world.state(); }

  int rank() const { return connections_.control->rank(); }
  int size() const { return connections_.control->size(); }
  control::Control& control() const { return *connections_.control; }
  const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics() const { return connections_.fabrics; }
  // The accelerator that this rank drives through its first fabric, and in whose memory windows are; null
  // if there is none.
  fabric::Accelerator* accelerator() const { return fabrics().front()->accelerator(); }
  std::optional<fabric::Device> device() const { return fabrics().front()->device(); }
  const std::string& launcher() const { return connections_.launcher; }
  const route::Costs& costs() const { return costs_; }

  // Return the sub-cluster of each rank, or of one rank, and how many there are; the same on every rank.
  std::span<const int> sub_cluster_of_ranks() const { return connections_.places.sub_cluster; }
  int sub_cluster(int rank) const { return connections_.places.sub_cluster[static_cast<std::size_t>(rank)]; }
  int sub_cluster_count() const;

  const control::Places& places() const { return connections_.places; }

  // Returns the first fabric, starting at number `from`, that reaches a rank.
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

  // Returns the path that a channel to a rank uses, if it has failed by now; null otherwise. Pass no
  // protocol for what needs none in particular.
  const Path* lost_path(int rank, std::size_t fabric, std::optional<std::size_t> protocol) const;
  // Returns the names of all paths to a rank that have failed by now.
  std::string lost_paths(int rank) const;
  // Returns whether any paths are to fail.
  bool expects_lost_paths() const { return !paths_->empty(); }
  std::vector<KnownFault> known_faults() const;

  // The rerouted chains of this rank, in all groups.
  Reroutes& reroutes() { return root().reroutes_; }

  // Groups share those of their world, since signals of one may overtake puts of another.
  DeferredSteps& deferred_steps() { return root().deferred_steps_; }
  // Returns this rank's state for posts. Throws Error{invalid_argument} if the world carries none.
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

  // Does the same, for a rank that calls it only occasionally.
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

  // Throws the error that a step on a stream has hit, if any.
  void check() {
    for (const auto& fabric : connections_.fabrics) fabric->check();
  }

  // Ends all activity of this rank, which starts nothing more; see Fabric::quiesce. The last fabric is
  // first, because it may still carry what those before it have gathered.
  void quiesce() {
    for (auto fabric = connections_.fabrics.rbegin(); fabric != connections_.fabrics.rend(); ++fabric)
      (*fabric)->quiesce();
  }

  // The ranks that make this world's windows together, and its chains unless those are committed among
  // partners.
  Circle& everyone() { return everyone_; }
  // The same, with ranks numbered as its fabrics do.
  const control::Members& members() const { return everyone_.members(); }

  // What ranks learn when they meet to make something.
  struct Met {
    std::vector<control::Letter> letters;
    bool is_same = false;     // they all make the same
    std::uint64_t worst = 0;  // the largest of the values that they report
  };

  // Collective over a circle. Exchanges letters, announces what was retired, and sets `number` to one that
  // this rank shares with the others and has never before had in common with any of them: that of a
  // WindowSpec or a ChainSpec. `made` describes what this rank makes.
  Met meet(Circle& circle, const std::vector<control::Letter>& letters, const base::Blob& made,
           std::uint64_t of_mine, std::string_view what, std::uint32_t& number);

  // Returns the circle of these ranks, which are in ascending order and include this one.
  Circle& circle(const std::vector<int>& ranks);

  // Skips the next numbers that `meet` would assign, which what has just been made uses as well.
  void skip_numbers(std::uint32_t count) { root().next_number_ += count; }

  // Returns the group's view of a window, for a world that is a group of the window's world.
  std::shared_ptr<WindowState> view(const std::shared_ptr<WindowState>& window);

  // Makes a window. Collective.
  std::shared_ptr<WindowState> make_window(const WindowRequest& request);

  // Returns what messages call the window with this number, whose handles on this rank may be gone: "window
  // 'u'", "window 3", "the scratch of allreduce 'sum'".
  std::string window_title(std::uint32_t id) const;

  // Returns a window by its number; null once the last handle of this rank is gone.
  std::shared_ptr<WindowState> find_window(std::uint32_t id) const;

  // Returns the first fabric that reaches the memory of both windows; all fabrics after it do so as well. A
  // window whose last handle is gone does not count.
  std::size_t first_fabric(std::uint32_t window, std::uint32_t other) const;

  // Returns a copy of the shape that lives as long as the world. Chains with the same pattern share one.
  const base::Shape* intern(const base::Shape& shape) { return &*shapes_.insert(shape).first; }

  const std::string& intern(std::string text) { return *texts_.insert(std::move(text)).first; }

  // Takes the next number for an object that is made collectively. Numbers are the same on every rank if each
  // is taken once all ranks have agreed to make the object; a call that is refused takes none.
  std::uint32_t next_id() { return everyone_.next_id(); }

  // Collective over a circle. Frees what its last call of Reclaimer::announce has released, and forgets the
  // windows that no rank has a handle to any more. Meets the others first if there is anything to free.
  void free_released(Circle& circle, std::string_view what);

  // Notes that this rank's last handle of an object is gone.
  void retire(std::uint32_t id, Retired object) { everyone_.reclaimer().retire(id, std::move(object)); }

 private:
  // A window as far as this rank remembers it. One without a title is named by its number.
  struct Known {
    std::weak_ptr<WindowState> window;
    const std::string* title = nullptr;
  };

  // What ranks agree on before they make a window.
  struct Agreed {
    std::uint32_t number = 0;
    bool registered = false;  // some rank registers its own memory
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

  // For a group: the surrounding world, kept alive until the group's last handle is gone.
  std::shared_ptr<WorldState> keeps_root_;
  WorldState* root_ = nullptr;
  std::uint64_t key_ = 0;
  boot::Connections connections_;
  GroupRanks ranks_;  // for a group
  route::Costs costs_;
  DeferredSteps deferred_steps_{connections_.fabrics};
  Reroutes reroutes_;
  std::optional<base::Trace> trace_;
  bool checks_steps_, times_chains_, reroutes_chains_;
  std::shared_ptr<const Paths> paths_;  // the root's
  std::set<base::Shape> shapes_;
  std::set<std::string> texts_;
  std::uint32_t next_number_ = 0;                     // the root's, used by all of its groups
  std::map<std::vector<int>, std::uint32_t> groups_;  // the root's: how many were made of these ranks
  std::map<std::uint32_t, Known> windows_;            // those to which some rank may still have a handle
  Circle everyone_{*connections_.control, ranks_};
  std::map<std::vector<int>, std::unique_ptr<Circle>> circles_;  // by their ranks
  std::shared_ptr<Posting> posting_;                             // null before the first call
};

// Returns the time limit, capped at the longest wait that a nanosecond clock can represent. Throws
// Error{invalid_argument}, which names `whose`, for a limit of zero or less.
std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose);

// During a commit, the control plane waits as long as the committed chain's time limit. This object sets
// that limit, and its destructor restores the previous one.
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
