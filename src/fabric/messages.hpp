// The interface of a fabric of messages: they move when the rank polls, and immediate puts may arrive late.
// A fabric whose stores take effect in place at once needs nothing from this header.
//
// The rules of fabric.hpp for ownership and threads apply here too.
#pragma once

#include <vector>

namespace tca::fabric {

class Messages {
 public:
  virtual ~Messages() = default;

  // Returns whether messages that this rank sends or awaits move only while it polls, so that a wait should
  // not sleep.
  virtual bool needs_polling() const = 0;

  // Like Fabric::progress, for a waiting rank, which calls this over and over and tests its own program in
  // between. It may therefore do less.
  virtual void progress_while_waiting() = 0;

  // Returns whether every put that Fabric::put_now has accepted is visible to its target. This fabric's
  // signals wait until then; those of other fabrics have to be held back.
  virtual bool is_quiescent() = 0;

  // Returns the ranks to which such puts are still under way.
  virtual std::vector<int> outstanding() = 0;
};

}  // namespace tca::fabric
