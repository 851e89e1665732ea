// A Model is the modelled machine under all ranks of a world, with everything that they share on it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "base/codec.hpp"
#include "fabric/sim/faults/faults.hpp"
#include "fabric/sim/flow.hpp"
#include "fabric/sim/poster.hpp"
#include "fabric/sim/protocol.hpp"
#include "fabric/sim/scheduler.hpp"

namespace tca::sim {

// What every rank contributes to one collective call of the control plane.
struct Gathering {
  explicit Gathering(int ranks)
      : blobs(static_cast<std::size_t>(ranks)),
        senders(static_cast<std::size_t>(ranks)),
        here(static_cast<std::size_t>(ranks)) {}

  void add(std::size_t number, const base::Blob& mine, des::Time clock);
  bool is_complete() const { return count == blobs.size(); }

  std::vector<base::Blob> blobs;
  std::vector<std::vector<int>> senders;  // by reader, the ranks that have something for it alone
  control::Ballot ballot = {0, 0, {}};    // of all that have arrived
  std::vector<bool> here;
  std::size_t count = 0;
  des::Time latest = 0;  // when the last rank arrived
};

// The parts of all ranks of a window.
struct Regions {
  explicit Regions(int ranks)
      : parts(static_cast<std::size_t>(ranks)), gone(static_cast<std::size_t>(ranks)) {}
  std::vector<std::span<std::byte>> parts;
  std::vector<bool> gone;  // parts that were given back, where nothing may land any more
  int refused = -1;        // a rank that could not get its memory
  std::size_t taken = 0;   // ranks that have asked for this window
};

// The simulated hardware alone.
class Hardware {
 public:
  Hardware(std::shared_ptr<const net::Machine> machine, int ranks, net::Fidelity fidelity);

  des::Simulator& simulator() { return simulator_; }
  const net::Machine& machine() const { return *machine_; }
  const std::vector<std::unique_ptr<Protocol>>& protocols() const { return protocols_; }
  const std::vector<std::string_view>& names() const { return names_; }
  const Place& place(int rank) const { return places_[static_cast<std::size_t>(rank)]; }
  Site site() { return {*machine_, network_, places_}; }

 private:
  std::shared_ptr<const net::Machine> machine_;
  des::Simulator simulator_;
  net::Network network_;
  std::vector<Place> places_;
  std::vector<std::unique_ptr<Protocol>> protocols_;
  std::vector<std::string_view> names_;
};

class Model {
 public:
  // `machine` is a name or a file, as for net::find_machine. Throws Error{invalid_argument} for an unknown
  // machine, a broken file, a machine on which nothing connects the ranks, or more ranks than the machine
  // has room for. `fibers` are the ranks' fibers; null if ranks are threads.
  Model(const std::string& machine, int ranks, net::Fidelity fidelity, base::Fibers* fibers);

  // Declares that parts of the machine will fail: see Faults. Called before any rank has its turn.
  void expect_faults(std::string_view text, std::string_view asker);
  Faults* faults() const { return faults_.get(); }  // null if nothing fails
  const std::shared_ptr<Faults>& shared_faults() const {
    return faults_;
  }  // for what agents keep beyond its end

  int ranks() const { return scheduler_.ranks(); }
  const net::Machine& machine() const { return hardware_.machine(); }
  const Hardware& hardware() const { return hardware_; }
  des::Simulator& simulator() { return hardware_.simulator(); }
  Scheduler& scheduler() { return scheduler_; }

  // Adds a rank to the current collective call, of all ranks or of some, and returns that call.
  std::shared_ptr<Gathering> gather(int rank, const base::Blob& mine, const control::Ballot& ballot,
                                    std::span<const int> readers);
  std::shared_ptr<Gathering> gather_among(int rank, const control::Subset& subset, const base::Blob& mine);

  // Returns a window, which its first member and its number distinguish from all others at any time. The
  // model forgets it once all of its members have asked.
  using WindowKey = std::pair<int, std::uint32_t>;
  std::shared_ptr<Regions> regions(const WindowKey& window, std::size_t members);

  // Returns the flow between two ranks over a protocol in the chain with this number, which is the same on
  // both. The first of the two ranks to ask creates it.
  using FlowKey = std::tuple<std::uint32_t, int, int, std::size_t>;  // chain, from, to, protocol
  std::shared_ptr<Flow> flow(const FlowKey& key, std::span<const fabric::Put* const> puts,
                             const FlowTerms& terms);

  // Returns whether a protocol leads from one rank to another, as far as any rank knows.
  bool leads(const Protocol& protocol, int from, int to) const {
    return faults_ == nullptr || protocol.leads(from, to, faults_->seen());
  }

  // Returns the protocol that carries bare signals and immediate puts.
  std::size_t signal_protocol(int from, int to) const;

  // Returns the time of a put that has the machine to itself, from its start until its target knows of it.
  double predict_us(std::size_t protocol, int from, int to, const base::Shape& shape);

  Immediates& immediates(int from, int to) { return immediates_[{from, to}]; }

  std::optional<control::Places> places;  // once a rank has found them; see find_places

  PostBox& post_box(int rank) { return post_boxes_[rank]; }
  PostRoute& post_route(int from, int to) {
    return post_routes_.try_emplace({from, to}, simulator()).first->second;
  }

 private:
  std::shared_ptr<const net::Machine> machine_;
  net::Fidelity fidelity_;
  Hardware hardware_;
  std::unique_ptr<Hardware> idle_;  // for predictions; null before the first one
  Scheduler scheduler_;
  std::shared_ptr<Faults> faults_;
  std::shared_ptr<Gathering> gathering_;
  // By the key of a group and the number of its exchange, those at which not all ranks have arrived yet.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::shared_ptr<Gathering>> gatherings_;
  std::map<WindowKey, std::shared_ptr<Regions>> regions_;
  std::map<FlowKey, std::shared_ptr<Flow>> flows_;  // those that only one end has asked for
  std::map<std::pair<int, int>, Immediates> immediates_;
  std::map<int, PostBox> post_boxes_;  // by rank
  std::map<std::pair<int, int>, PostRoute> post_routes_;
  // A put's protocol, the distance of the ranks and their numbers within their nodes, and the bytes and
  // number of its runs.
  using PutKey =
      std::tuple<std::size_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t, std::uint64_t>;
  std::map<PutKey, double> predicted_;
};

}  // namespace tca::sim
