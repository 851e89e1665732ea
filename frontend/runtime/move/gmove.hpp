// Assignments between sections that are shared out in any way.
#pragma once

#include "runtime/move/section.hpp"

namespace tca::xacc {

// Has every rank that executes get what it owns of the left side. Both have the same shape, or the right one is a
// single element. Throws Error.
void move(const Side& to, const Side& from);

// What of an assignment a rank gets by copying: between the sides' memory, and by way of the stage, in which what comes
// from others waits where it cannot be put in place.
struct Copies {
  std::vector<Copied> own, to_stage, from_stage;
};

// An assignment between sides of one shape that all ranks execute, set up to be done again: by the host, or, between memory
// of the device, in a queue.
class Move {
 public:
  virtual ~Move() = default;
  // Of two sides that are described as those that it was set up for; what ranks have by themselves may lie otherwise.
  virtual Copies copies(const Side& to, const Side& from) const = 0;
  virtual void run(const Copies& copies, void* to, const void* from) = 0;
  virtual void run_in(std::int64_t queue, const Copies& copies, void* to, const void* from) = 0;
};
// Collective, where it has not been set up yet. It lasts as long as the runtime.
Move& move_between(const Side& to, const Side& from, bool on_device = false);

// Does it.
void move_together(const Side& to, const Side& from);
// The same by this rank alone: what it owns of the left side from ranks that need not execute this, and
// what it owns of the right one to such ranks. Those have given their arrays to be reached (xacc_array_share).
void move_in(const Side& to, const Side& from);
void move_out(const Side& to, const Side& from);

// What the nodes of an array do for the dimensions that have a full shadow.
bool has_full_shadow(const xacc_layout& layout);
void fill_full_shadows(xacc_array& a);

// Whether all ranks that have some of a side execute.
bool executed_by_all_of(const Side& side);

}  // namespace tca::xacc
