// What a fabric of messages tells of them: they move when the rank polls, and immediate puts may arrive late. A
// fabric whose stores are at once where they belong needs nothing of this header.
//
// The rules of fabric.hpp for ownership and threads hold here too.
#pragma once

#include <vector>

namespace tca::fabric {

class Messages {
 public:
  virtual ~Messages() = default;

  // Returns whether messages that this rank sends or awaits move only while it polls, so that a wait should
  // not sleep.
  virtual bool needs_polling() const = 0;

  // As Fabric::progress, for a rank that waits: it calls this over and over, and tests its own program in
  // between. May therefore do less.
  virtual void progress_while_waiting() = 0;

  // Returns whether every put that Fabric::put_now has taken is visible to its target. The signals of this
  // fabric wait until it is; those of other fabrics have to be held back.
  virtual bool is_quiescent() = 0;

  // Returns the ranks to which such puts are still under way.
  virtual std::vector<int> outstanding() = 0;
};

}  // namespace tca::fabric
