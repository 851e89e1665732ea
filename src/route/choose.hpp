// The route: decides which channel carries each put of a chain, once, at commit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/layout/shape.hpp"
#include "fabric/fabric.hpp"
#include "route/costs.hpp"

namespace tca::route {

struct Choice {
  int fabric = 0;    // index into the world's fabrics
  int protocol = 0;  // index into that fabric's protocols
};

// Returns the name that forces a channel, "fabric/protocol", "fabric" or "protocol"; empty leaves the
// choice to the cost table. If set, OPENTCA_CHANNEL overrides what the chain asks for.
std::string effective_override(const std::string& asked);

// The room that a chain's puts take in their channels, as far as these have been chosen.
class Taken {
 public:
  fabric::RoomUsed on(const fabric::Fabric& fabric, int protocol, int rank) const {
    return {of({&fabric, protocol, everybody}), of({&fabric, protocol, rank})};
  }
  void add(const fabric::Fabric& fabric, int protocol, int rank, const base::Shape& shape) {
    for (const int whose : {everybody, rank})
      room_[{&fabric, protocol, whose}] += fabric.pricing().room_for(protocol, shape);
  }

 private:
  static constexpr int everybody = -1;
  using Where = std::tuple<const fabric::Fabric*, int, int>;
  std::uint64_t of(const Where& where) const {
    const auto found = room_.find(where);
    return found == room_.end() ? 0 : found->second;
  }

  std::map<Where, std::uint64_t> room_;
};

// The properties of a put that determine its cost.
struct Put {
  int target;
  base::Shape shape;
  std::size_t puts = 1;  // of the chain to the same rank, including this one
  bool counted = false;
  bool by_some = false;  // not all ranks commit the chain
  // Tells whether the path of a fabric, by its index, and one of its protocols has failed; null if none may
  // fail.
  std::function<bool(std::size_t fabric, std::size_t protocol)> is_lost = {};
};

// Returns the cheapest channel that reaches the target and has room. Throws Error{invalid_argument} if no
// such channel matches the override, or none carries counted puts.
Choice choose(std::span<const std::unique_ptr<fabric::Fabric>> fabrics, const Costs& costs, const Put& put,
              const std::string& override_name, const Taken& taken = {});

// A channel that reaches a rank, and what a put of some shape would cost on it.
struct Candidate {
  Choice choice;
  std::string channel;                 // "shm/direct"
  std::optional<double> predicted_us;  // empty if no table has the channel
  bool has_room;
};

// Returns all candidates, in the order of the fabrics. Unless `override_name` is empty, only those with that
// name.
std::vector<Candidate> candidates(std::span<const std::unique_ptr<fabric::Fabric>> fabrics,
                                  const Costs& costs, const Put& put, const std::string& override_name,
                                  const Taken& taken = {});

// Describes the layout in words: "block", "4096 runs of 8 bytes" or, with an outer loop, "64 x 32 runs of 16
// bytes".
std::string describe(const base::Shape& shape);

// Why a channel was chosen, in words.
struct Explained {
  std::string channel;    // "shm/direct"
  std::string predicted;  // "0.12 us", "not known"
  std::string reason;     // "next best shm/staged 0.20 us"
};

Explained explain(std::span<const std::unique_ptr<fabric::Fabric>> fabrics, const Costs& costs,
                  const Put& put, Choice chosen, const std::string& override_name);

}  // namespace tca::route
