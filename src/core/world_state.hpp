// What a rank's World, windows and chains share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/shape.hpp"
#include "base/trace.hpp"
#include "fabric/accelerator.hpp"
#include "route/bring_up.hpp"
#include "route/costs.hpp"
#include "tca/world.hpp"

namespace tca::core {

class ChainState;

// A window's memory as each fabric knows it; null where one cannot reach it. The first that does may own it, so that its part is
// the last to go.
class Memories {
 public:
  explicit Memories(std::vector<std::unique_ptr<fabric::Memory>> by_fabric)
      : by_fabric_(std::move(by_fabric)) {}
  Memories(const Memories&) = delete;
  ~Memories() {
    while (!by_fabric_.empty()) by_fabric_.pop_back();
  }
  fabric::Memory* of(std::size_t fabric) const { return by_fabric_[fabric].get(); }
  fabric::Memory& last() const { return *by_fabric_.back(); }

 private:
  std::vector<std::unique_ptr<fabric::Memory>> by_fabric_;
};

// A committed chain whose last handle is gone, and the memory that its programs move.
class RetiredChain {
 public:
  RetiredChain(std::vector<std::unique_ptr<fabric::Program>> programs,
               std::vector<std::shared_ptr<Memories>> windows, bool in_order)
      : windows_(std::move(windows)), programs_(std::move(programs)), in_order_(in_order) {}
  RetiredChain(RetiredChain&&) = default;
  RetiredChain& operator=(RetiredChain&& other) noexcept {
    programs_ = std::move(other.programs_);  // before the memory that they move
    windows_ = std::move(other.windows_);
    in_order_ = other.in_order_;
    return *this;
  }
  // What a fabric is not through with by the end of a world stays as long as the process.
  ~RetiredChain() {
    if (!end(in_order_)) new std::vector(std::move(windows_));
  }

  // As Program::end, of all of them.
  bool end(bool in_order);

  // For who keeps the memory after the programs.
  std::vector<std::shared_ptr<Memories>> take_windows() { return std::move(windows_); }

  // Whether it went between two steps.
  bool in_order() const { return in_order_; }

 private:
  std::vector<std::shared_ptr<Memories>> windows_;
  std::vector<std::unique_ptr<fabric::Program>> programs_;
  bool in_order_;
};

// What other ranks may still write into.
using Retired = std::variant<std::shared_ptr<Memories>, RetiredChain, std::unique_ptr<fabric::Team>,
                             std::unique_ptr<fabric::Collective>>;

class WorldState : public std::enable_shared_from_this<WorldState> {
 public:
  WorldState(route::Ground ground, const WorldOptions& options);
  WorldState(const WorldState&) = delete;
  ~WorldState() { rest(); }

  static World make_world(std::shared_ptr<WorldState> state) { return World(std::move(state)); }
  static WorldState& of(const World& world) { return *world.state_; }

  int rank() const { return ground_.control->rank(); }
  int size() const { return ground_.control->size(); }
  fabric::Control& control() const { return *ground_.control; }
  const std::vector<std::unique_ptr<fabric::Fabric>>& fabrics() const { return ground_.fabrics; }
  // The accelerator that this rank drives through its first fabric; null without one.
  fabric::Accelerator* accelerator() const { return fabrics().front()->accelerator(); }
  const std::string& launcher() const { return ground_.launcher; }
  const route::Costs& costs() const { return costs_; }

  // Which sub-cluster a rank is in, and how many there are; the same on every rank.
  std::span<const int> sub_cluster_of_ranks() const { return ground_.places.sub_cluster; }
  int sub_cluster(int rank) const { return ground_.places.sub_cluster[static_cast<std::size_t>(rank)]; }
  int sub_clusters() const;

  // The first fabric from `from` on that reaches a rank.
  std::size_t fabric_to(int rank, std::size_t from = 0) const;

  base::Trace* trace() { return trace_ ? &*trace_ : nullptr; }

  // An immediate put takes another fabric than signals to the same rank, which must not overtake it: until it has arrived, steps
  // are held back.
  void put_past_signals() { put_past_signals_ = true; }
  bool holds_back() { return put_past_signals_ && still_holds_back(); }
  std::vector<int> unsettled() const;

  // Where there are several fabrics a committed chain may be held back: there is room for all, so that `hold` does not allocate. Twice
  // as much each time, or what is given back would lie in pieces between the chains.
  void count_chain(int by) {
    if (ground_.fabrics.size() < 2) return;
    chains_ += by;
    if (const auto chains = static_cast<std::size_t>(chains_); held_.capacity() < chains)
      held_.reserve(2 * chains);
  }
  void hold(ChainState& chain) { held_.push_back(&chain); }
  void let_go(ChainState& chain) { std::erase(held_, &chain); }

  // Drives what this rank's started chains still owe to others. Every loop that waits for another rank calls it.
  void progress_while_waiting() {
    if (!held_.empty()) begin_held();
    for (const auto& fabric : ground_.fabrics) fabric->progress_while_waiting();
  }

  // The same, where a rank calls it only now and then.
  void progress() {
    if (!held_.empty()) begin_held();
    for (const auto& fabric : ground_.fabrics) fabric->progress();
  }

  // See Fabric::needs_polling.
  bool needs_polling() const {
    return std::ranges::any_of(ground_.fabrics, [](const auto& fabric) { return fabric->needs_polling(); });
  }

  // Throws what a step on a stream has met.
  void check() {
    for (const auto& fabric : ground_.fabrics) fabric->check();
  }

  // This rank starts nothing more; see Fabric::rest.
  // The last first: it may still carry what those before it have gathered.
  void rest() {
    const bool in_order = std::ranges::all_of(retired_, [](const auto& part) {
      const auto* chain = std::get_if<RetiredChain>(&part.second);
      return chain == nullptr || chain->in_order();
    });
    for (auto fabric = ground_.fabrics.rbegin(); fabric != ground_.fabrics.rend(); ++fabric)
      (*fabric)->rest(in_order);
  }

  // What the next window to be made is called in messages.
  std::string next_window() const { return fmt::format("window {}", next_id_); }

  // Collective. `existing` null: memory of the fabric's.
  std::shared_ptr<WindowState> make_window(std::size_t bytes, std::byte* existing);

  // Null once the last handle of this rank is gone.
  std::shared_ptr<WindowState> find_window(std::uint32_t id) const;

  // The first fabric that reaches the memory of both; those that do not come before it. Of a window whose last handle is gone
  // nothing is known.
  std::size_t first_fabric(std::uint32_t window, std::uint32_t other) const;

  // A shape that lives as long as the world; chains of the same pattern share one.
  const base::Shape* intern(const base::Shape& shape) { return &*shapes_.insert(shape).first; }

  const std::string& intern(std::string text) { return *texts_.insert(std::move(text)).first; }

  // Numbers for objects made collectively: the same on every rank, if taken once all ranks have agreed to make the object. A call
  // that is refused takes none.
  std::uint32_t next_id() { return next_id_++; }

  // What this rank no longer needs is kept until every rank has said so, because a partner that is a step behind may still
  // store into it. Ranks say so with their next window or commit. `in_order`: no step of it was under way.
  void retire(std::uint32_t id, Retired part, bool in_order = true);
  // Control::all_gather that says so, and collects what every rank has now released.
  std::vector<base::Blob> gather_and_collect(const base::Blob& mine, std::string_view what);
  // Until every rank has been through it, a thread of another may still store into what this one has collected. Call it
  // after a further collective.
  void free_collected() {
    collected_.clear();
    collects_ = false;
  }

 private:
  std::vector<std::unique_ptr<fabric::Memory>> expose(std::size_t bytes, std::byte* existing, bool registered,
                                                      const std::string& what);

  void collect(base::Reader& theirs);
  bool still_holds_back();
  void begin_held();

  route::Ground ground_;
  route::Costs costs_;
  bool put_past_signals_ = false;
  int chains_ = 0;
  std::vector<ChainState*> held_;
  std::optional<base::Trace> trace_;
  std::set<base::Shape> shapes_;
  std::set<std::string> texts_;
  std::uint32_t next_id_ = 0;
  std::map<std::uint32_t, std::weak_ptr<WindowState>> windows_;
  struct Release {
    std::uint32_t id;
    bool in_order;
  };
  struct Released {
    int by_ranks = 0;
    bool in_order = true;
  };
  std::map<std::uint32_t, Retired> retired_;
  std::vector<Release> unannounced_;
  std::map<std::uint32_t, Released> announced_;  // by id
  std::vector<RetiredChain> ending_;             // released by all, but a fabric is not through with them
  std::vector<std::shared_ptr<Memories>> collected_;  // released by all, of whom some may not know yet
  // Whether all have released anything since `free_collected`; unlike what this rank keeps of it, the same on every rank.
  bool collects_ = false;
};

// As long as clocks that count nanoseconds can wait for. Throws Error{invalid_argument}, naming `whose`, for none at all.
std::chrono::milliseconds checked_limit(std::chrono::milliseconds asked, std::string_view whose);

// The control plane waits during a commit, and as long as this lives by the time limit of what is committed.
class TimeLimit {
 public:
  TimeLimit(fabric::Control& control, std::chrono::milliseconds limit)
      : control_(control), before_(std::exchange(control.time_limit, limit)) {}
  TimeLimit(const TimeLimit&) = delete;
  ~TimeLimit() { control_.time_limit = before_; }

 private:
  fabric::Control& control_;
  std::chrono::milliseconds before_;
};

// Runs `body` on threads over the fabrics that `ground` makes for each rank.
void run_threads(const route::ThreadGround& threads, const std::function<route::Ground(int rank)>& ground,
                 const std::function<void(World&)>& body, const WorldOptions& options);

}  // namespace tca::core
