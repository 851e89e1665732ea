// The route: which channel carries a descriptor, decided once, at commit.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/shape.hpp"
#include "fabric/fabric.hpp"
#include "route/costs.hpp"

namespace tca::route {

struct Choice {
  int fabric = 0;    // index into the world's fabrics
  int protocol = 0;  // index into that fabric's protocols
};

// Forces a channel by "fabric/protocol", "fabric" or "protocol"; empty leaves the choice to the cost table.
// OPENTCA_ROUTE, when set, wins over what the chain asks for.
std::string effective_override(const std::string& asked);

// The room of a chain's puts that have their channels already.
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

// A put of a chain, as its cost depends on it.
struct Put {
  int target;
  base::Shape shape;
  std::size_t puts = 1;  // of the chain to the same rank
};

// The cheapest channel that reaches the target and has room. Throws Error{invalid_argument} when the override names none that
// does.
Choice choose(std::span<const std::unique_ptr<fabric::Fabric>> fabrics, const Costs& costs, const Put& put,
              const std::string& override_name, const Taken& taken = {});

// A channel that reaches a rank, and what a put of some shape would take on it.
struct Candidate {
  Choice choice;
  std::string channel;                 // "shm/direct"
  std::optional<double> predicted_us;  // nothing when no table knows the channel
  bool has_room;
};

// Every one, in the order of the fabrics; those alone that `override_name` names, unless it is empty.
std::vector<Candidate> candidates(std::span<const std::unique_ptr<fabric::Fabric>> fabrics,
                                  const Costs& costs, const Put& put, const std::string& override_name,
                                  const Taken& taken = {});

// The layout in words: "block", "4096 runs of 8 bytes" or, with an outer loop, "64 x 32 runs of 16 bytes".
std::string describe(const base::Shape& shape);

// Why: the channel, its predicted time and the next best one's.
std::string explain(std::span<const std::unique_ptr<fabric::Fabric>> fabrics, const Costs& costs,
                    const Put& put, Choice chosen, const std::string& override_name);

}  // namespace tca::route
