// The times of a timed chain's messages to this rank; tca/timing.hpp says what they are.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/trace.hpp"
#include "fabric/arrivals.hpp"
#include "tca/timing.hpp"

namespace tca::core {

struct Descriptor;
class WorldState;

class MessageTimes final : public fabric::Arrivals {
 public:
  MessageTimes(WorldState& world, std::string chain) : world_(world), chain_(std::move(chain)) {}

  // Adds what `rank` sends to this rank in a step. Called once per rank, with all puts that it declared.
  void expect(int rank, std::span<const Descriptor> puts);

  void add(const fabric::Arrival& arrival) override;
  void add_untimed(int from, std::uint64_t messages) override;

  void clear();
  Timing timing() const;

 private:
  MessageTiming* measured(int from);

  WorldState& world_;
  std::string chain_;
  std::vector<MessageTiming> messages_;
  std::map<int, std::size_t> places_;  // in `messages_`, by the fabrics' number for the rank
};

}  // namespace tca::core
