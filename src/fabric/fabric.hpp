// What carries bytes between ranks: the interface that every transport implements and the layers above rely
// on.
//
// A fabric exposes a window's memory, compiles its share of a committed chain, and from then on starts and
// tests that share. All decisions fall in `compile`; a started `Program` only does what was compiled.
//
// The author of a fabric reads Memory, Put and Share, then Program, then Fabric, and implements what is pure
// in them. Every other member has a default, and stands behind a line that says which fabrics override it.
// pricing.hpp (times and room, for the route) and accelerator.hpp (GPUs) are for fabrics that know more than
// the defaults.
//
// Ownership: the world owns its fabrics; the caller of `expose` and `compile` owns what they return. A
// program is destroyed before the memories that it moves, and both before their fabric; Fabric::rest comes
// before all of that. The Control (control.hpp) with which a fabric is made outlives it.
//
// Threads: one fabric object serves one rank, and is called by one thread at a time, that rank's own as long
// as the world is up. Every rank makes the calls that are marked "collective", in the same order, and they
// may meet the others through Control. While Control waits it has `progress_while_waiting` called, so
// `expose` and `compile` leave earlier programs fit to run before they meet anybody. No other call waits for
// another rank, `rest` excepted.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/shape.hpp"
#include "base/trace.hpp"
#include "fabric/pricing.hpp"

namespace tca {
template <class>
struct DeviceWindow;
}  // namespace tca

namespace tca::fabric {

class Accelerator;
class AcceleratorProgram;

// This rank's part of a window and its way into the others' parts.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* data() = 0;  // null when this rank registered nothing; may be an accelerator's address
  virtual std::size_t bytes(int rank) const = 0;

  // Copy between this rank's part and host memory; done when they return. The caller has checked the bounds.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> from) = 0;

  // What a kernel needs to put by itself; null where none can.
  virtual const DeviceWindow<std::byte>* device_window() const { return nullptr; }
};

// One put as both ends know it after the exchange of a commit. A put without a shape is a bare signal.
struct Put {
  int from = 0;
  int to = 0;
  Memory* to_memory = nullptr;
  std::uint64_t to_offset = 0;  // bytes
  Memory* from_memory = nullptr;
  std::uint64_t from_offset = 0;
  const base::Shape* shape = nullptr;  // outlives every program
  int protocol = 0;                    // index into Fabric::protocols()
};

// What a rank has to do with a chain. Both lists are in the order in which their senders declared them.
struct Share {
  std::string_view name;
  bool guarded = true;
  std::span<const Put> outgoing;  // from == this rank
  std::span<const Put> incoming;  // to == this rank
  // Of a step that waits on an accelerator, where no host looks.
  std::chrono::milliseconds time_limit{30'000};
};

// A rank's compiled share of a chain. Promises those of tca/chain.hpp.
class Program {
 public:
  virtual ~Program() = default;

  // Every fabric implements these three.

  // Begins the next step; never blocks. On shm it allocates, locks and calls nothing either.
  virtual void start() = 0;

  // Moves the step on; true once it has finished. Does not block.
  virtual bool test() = 0;

  // The ranks whose signals the current step still lacks.
  virtual std::vector<int> missing() const = 0;

  // A fabric overrides these two where a step may still move bytes after its chain is destroyed.

  // The chain goes in the middle of a step, and its sources and targets may be the application's own from
  // here on: this rank neither sends nor fetches what it has not yet. What MPI or a GPU carries already goes
  // on until `end`. Does not throw.
  virtual void abandon() {}

  // The program is not started any more, and gives up what has not come. `in_order`: no rank is known to have
  // let go of it in the middle of a step. Returns whether the fabric is through with this rank's memory,
  // which stays until then; after false the call comes again. Does not throw.
  virtual bool end(bool /*in_order*/) { return true; }

  // A fabric overrides these where the library below it yields the core, or beside another fabric in one
  // world.

  // Whether a `test` that found nothing has let others onto this core, so that who waits need not.
  virtual bool gives_way() const { return false; }

  // Whether this rank has no part in any step of it.
  virtual bool is_empty() const { return false; }

  // A fabric that `has_streams` overrides this for each of its programs: the interface through which an
  // accelerator orders the steps (accelerator.hpp). Null where none does.
  virtual AcceleratorProgram* on_accelerator() { return nullptr; }
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // Every fabric implements these seven.

  virtual std::string_view name() const = 0;

  // How it can carry a put, e.g. {"direct", "pull", "staged"}: the same on every rank, with at least one that
  // carries puts to any rank that the fabric reaches.
  virtual std::span<const std::string_view> protocols() const = 0;

  // Whether puts of this rank can go to another, or to itself.
  virtual bool reaches(int rank) const = 0;

  // Collective: `bytes` of memory here, and access to what the others asked for. `existing` null: zeroed
  // memory of the fabric's; otherwise the caller's own, which it keeps alive. Throws, on every rank alike,
  // Error{out_of_memory}, or Error{invalid_argument} when the others could not reach such memory. `window`
  // names it in messages.
  virtual std::unique_ptr<Memory> expose(std::size_t bytes, std::byte* existing, std::string_view window) = 0;

  // Collective over all ranks, also those without a part in the chain. `share` is valid during the call only;
  // the shapes and memories of its puts outlive the program. Throws on every rank alike.
  virtual std::unique_ptr<Program> compile(const Share& share) = 0;

  // An immediate put: stored now, visible to `rank` no later than this rank's next signal to it.
  virtual void put_now(Memory& memory, int rank, std::uint64_t offset, std::span<const std::byte> value) = 0;

  // Drives what other started programs of this rank still owe, so that no order of waits can deadlock.
  virtual void progress() = 0;

  // A fabric overrides these where it does less than everything, or can tell more about what it does.

  // Whether a protocol carries puts to a rank that the fabric reaches.
  virtual bool carries(int /*protocol*/, int /*rank*/) const { return true; }

  // Whether `expose` takes memory that ranks already have.
  virtual bool takes_existing() const { return true; }

  // The times and the room of its protocols, as the route asks for them; lives as long as the fabric.
  virtual const Pricing& pricing() const {
    static const Pricing defaults;
    return defaults;
  }

  // From now on programs add a span for what they move; null stops that.
  virtual void trace_to(base::Trace* /*trace*/) {}

  // A fabric overrides this where something goes on outside the calls of this rank, in threads or on an
  // accelerator. This rank starts nothing more, and what is still going on ends here: ranks that are threads
  // of one process all come here before any of them frees memory, which waits for accelerators to come to
  // rest. `in_order`: none of its chains went in the middle of a step. The call may come again.
  virtual void rest(bool /*in_order*/) {}

  // A fabric of messages overrides these: messages move when the rank polls, and immediate puts may arrive
  // late.

  // Whether messages of this rank's, sent or awaited, move only while it polls, so that a wait should not
  // sleep.
  virtual bool needs_polling() const { return false; }

  // The same as `progress`, for a rank that calls it over and over while it waits and tests its own program
  // in between; may do less.
  virtual void progress_while_waiting() { progress(); }

  // Whether all that `put_now` has taken is visible to its target. This fabric's own signals wait until it
  // is; others' have to be held back.
  virtual bool settled() { return true; }

  // The ranks that it is still under way to.
  virtual std::vector<int> unsettled() { return {}; }

  // A fabric overrides these where windows are an accelerator's memory; see accelerator.hpp.

  // Whether every program can be ordered on that accelerator's streams.
  virtual bool has_streams() const { return false; }

  // Throws the error that a step ordered on a stream has met, if any has. Makes no system call and does not
  // block.
  virtual void check() {}

  // The accelerator that this rank drives through this fabric, a modelled one included; null without one.
  virtual Accelerator* accelerator() { return nullptr; }
};

}  // namespace tca::fabric
