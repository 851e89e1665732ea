// The test double: a fabric for ranks of one process that is as late and as disorderly as the promises of
// tca/chain.hpp allow, and no more.
//
// A start only queues. Whoever polls then moves a random part of what is queued, in any order:
//   - a put's source is read at any moment until the sender's wait returns ("buffered" reads it at a random
//     one and keeps the bytes, "late" reads it when they land, "mixed" does either);
//   - a guarded put lands only after the target's start; an unguarded one whenever it likes;
//   - a signal comes only after all puts of its step and all immediate puts before it have landed.
// Nothing is lost. What a library must never do, such as giving memory back while a put is on its way into
// it, is noted as a violation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fabric/control.hpp"
#include "fabric/fabric.hpp"

namespace tca::test {

class ShuffleHub;

// What the ranks of one run share; outlives their fabrics.
class Shuffle {
 public:
  Shuffle(int ranks, std::uint64_t seed);
  ~Shuffle();

  // Rank `control.rank()`'s end of it.
  std::unique_ptr<fabric::Fabric> fabric(fabric::Control& control);

  // Returns once everything that `rank` sent has arrived, or false when that takes too long. A rank does this
  // before it leaves the world, as one behind a network would.
  bool drain(int rank);

  // The first thing that the library did wrong, or nothing.
  std::string violation() const;

 private:
  std::unique_ptr<ShuffleHub> hub_;
};

}  // namespace tca::test
