// Pricing gives the times and the room of a fabric's protocols, if the fabric knows them better than the
// route's cost tables. Every function has a default.
//
// The route and the choice of a collective's algorithm call these, on the rank's own thread and never from
// the `start` or `wait` of a chain. A protocol is an index into Fabric::protocols().
#pragma once

#include <cstdint>
#include <optional>

#include "base/layout/shape.hpp"

namespace tca::fabric {

// The room, in bytes, that the puts of one chain have used in one protocol so far: all puts together, and
// those to the rank in question.
struct RoomUsed {
  std::uint64_t total = 0, to_rank = 0;
};

class Pricing {
 public:
  virtual ~Pricing() = default;

  // Returns how long a put takes between any two ranks, in microseconds. Empty leaves the prediction to the
  // tables; a protocol that is not in them either is used only if there is no other.
  virtual std::optional<double> predict_us(int /*protocol*/, int /*from*/, int /*to*/,
                                           const base::Shape& /*shape*/) const {
    return std::nullopt;
  }

  // Returns how long the smallest transfer to another rank takes here, in nanoseconds, as measured at
  // bring-up; 0 if it was not measured. The cost table has different costs for near and far ranks.
  virtual double cache_line_transfer_ns() const { return 0; }

  // Returns how many bytes of a protocol's room a put takes.
  virtual std::uint64_t room_for(int /*protocol*/, const base::Shape& shape) const { return shape.bytes(); }

  // Returns whether a protocol has room for one more such put besides those that it already carries in the
  // same chain. A forced protocol is used whatever this returns.
  virtual bool accepts(int /*protocol*/, const base::Shape& /*shape*/, RoomUsed /*used*/) const {
    return true;
  }
};

}  // namespace tca::fabric
