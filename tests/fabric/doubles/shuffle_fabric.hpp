// The test double: a fabric for ranks of one process that is as late and as disorderly as the promises of
// tca/chain.hpp allow, and no more.
//
// A start only queues the step's puts and signals. Each poll, by any rank, then moves a random part of what
// is queued, in any order:
// - A put's source is read at any moment until the sender's wait returns. Protocol "buffered" reads it at a
//   random moment and keeps the bytes, "late" reads it when they land, and "mixed" does either.
// - A guarded put lands only after the target's start, an unguarded one at any moment.
// - A signal arrives only after all puts of its step and all earlier immediate puts have landed.
//
// Nothing is lost. What a library must never do, such as freeing memory into which a put is still on its way,
// is recorded as a violation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "control/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::test {

class ShuffleHub;

// The state that the ranks of one run share. It outlives their fabrics.
class Shuffle {
 public:
  Shuffle(int ranks, std::uint64_t seed);
  ~Shuffle();

  // Returns the fabric of rank `control.rank()`.
  std::unique_ptr<fabric::Fabric> fabric(control::Control& control);

  // Returns true once everything that `rank` has sent has arrived, or false when that takes too long. A rank
  // calls this before it leaves the world, as a rank behind a network would.
  bool drain(int rank);

  // Returns the first thing that the library did wrong, or an empty string.
  std::string violation() const;

 private:
  std::unique_ptr<ShuffleHub> hub_;
};

}  // namespace tca::test
