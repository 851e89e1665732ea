// The times and the room of a fabric's protocols, where it knows them better than the route's cost tables do.
// Every answer has a default.
//
// The route and the choice of a collective's algorithm ask, on the rank's own thread and never from the
// `start` or `wait` of a chain. A protocol is an index into Fabric::protocols().
#pragma once

#include <cstdint>
#include <optional>

#include "base/shape.hpp"

namespace tca::fabric {

// The room, in bytes, that puts of one chain have taken of one protocol: all of them, and those to the rank
// in question.
struct RoomUsed {
  std::uint64_t total = 0, to_rank = 0;
};

class Pricing {
 public:
  virtual ~Pricing() = default;

  // How long a put takes between any two ranks, in microseconds. An empty answer leaves the prediction to the
  // tables; a protocol of which they know nothing either is taken only where there is no other.
  virtual std::optional<double> predict_us(int /*protocol*/, int /*from*/, int /*to*/,
                                           const base::Shape& /*shape*/) const {
    return std::nullopt;
  }

  // How long the smallest transfer to another rank takes here, in nanoseconds, as measured at bring-up; 0
  // when it was not. The cost table has different costs for ranks near and far.
  virtual double crossing_ns() const { return 0; }

  // How many bytes a put takes of the room that a protocol has.
  virtual std::uint64_t room_for(int /*protocol*/, const base::Shape& shape) const { return shape.bytes(); }

  // Whether a protocol has room for one more such put beside those of the same chain that it carries already.
  // A forced protocol is taken whatever this says.
  virtual bool accepts(int /*protocol*/, const base::Shape& /*shape*/, RoomUsed /*used*/) const {
    return true;
  }
};

}  // namespace tca::fabric
