// What has failed on the machine under a world, what its ranks know about that, and whom it concerns.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/faults.hpp"
#include "fabric/sim/protocol.hpp"
#include "fabric/sim/scheduler.hpp"
#include "model/net/faults/watch.hpp"

namespace tca::sim {

// Something on its way from one rank to another that a fault may stop.
class Concerned {
 public:
  virtual ~Concerned() = default;
  // A part of it is lost because of a fault.
  virtual void lose(std::size_t fault) = 0;
  // A rank has learned of a fault.
  virtual void review() = 0;
};

class Faults final : public net::Losses, public net::Told {
 public:
  // `text` is as in WorldOptions::faults; `asker` names its source. Throws Error{invalid_argument}.
  Faults(const Site& site, std::string_view text, std::string_view asker, Scheduler& scheduler);

  // Asks to be told about losses of this counter, and about what ranks learn.
  void watch(const des::Counter& counter, Concerned& concerned) { counters_[&counter] = &concerned; }
  void forget(const des::Counter& counter) { counters_.erase(&counter); }
  std::uint64_t enter(Concerned& concerned);
  void leave(std::uint64_t number) { concerned_.erase(number); }

  // What a rank's processor knows.
  net::View view(int rank) const { return views_[node_of(rank)]; }
  bool knows(int rank, std::size_t fault) const { return (view(rank) >> fault & 1) != 0; }
  // What any of them knows: at a commit, where ranks meet, all of them know it.
  net::View seen() const;
  // The hub of a rank's node learns of faults by other means than from a neighbour.
  void teach(int rank, net::View view);
  // Returns the fault that has stopped a rank's processor, as far as `asker` knows; nothing if it is still
  // running.
  std::optional<std::size_t> stopped(int rank, int asker) const;

  // Returns "cable 0-1, which failed at 20.000 us and which node 0 noticed at 230.150 us".
  std::string describe(std::size_t fault) const;
  // The same for all faults in a view, joined by "; ", and if they divide the ranks of this one's
  // sub-cluster, how.
  std::string describe(int rank, net::View view) const;
  std::string happened() const;  // of all faults so far; empty if there was none

  std::vector<KnownFault> known(int rank) const;

  void lost(const des::Counter& concerned, std::size_t fault) override;
  void failed(std::size_t fault) override;
  void told(std::uint32_t node, std::size_t fault) override;

 private:
  std::uint32_t node_of(int rank) const { return site_.place(rank).memory.node; }
  std::vector<int> ranks_of(const std::vector<std::uint32_t>& nodes) const;
  std::vector<int> side_of(int rank, net::View view) const;

  Site site_;
  Scheduler& scheduler_;
  std::unique_ptr<net::Watch> watch_;
  std::vector<net::View> views_;                           // by node: of its processor
  std::vector<std::map<std::size_t, des::Time>> told_at_;  // by node, then by fault
  net::View happened_ = 0;
  std::unordered_map<const des::Counter*, Concerned*> counters_;
  std::map<std::uint64_t, Concerned*> concerned_;  // in the order in which they were added
  std::uint64_t entered_ = 0;
};

}  // namespace tca::sim
