// What carries bytes between ranks: the interface that every transport implements and the layers above rely
// on.
//
// A fabric exposes a window's memory, compiles its share of a committed chain, and from then on starts and
// tests that share. All decisions fall in `compile`; a started `Program` only does what was compiled. One
// fabric object serves one rank, from one thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "base/shape.hpp"
#include "base/trace.hpp"
#include "fabric/collective.hpp"
#include "tca/stream.hpp"

namespace tca {
struct DeviceBell;
struct DeviceChain;
struct DeviceTeam;
template <class>
struct DeviceWindow;
}  // namespace tca

namespace tca::fabric {

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

  // Begins the next step; never blocks. On shm it allocates, locks and calls nothing either.
  virtual void start() = 0;

  // Moves the step on; true once it has finished. Does not block.
  virtual bool test() = 0;

  // Whether a `test` that found nothing has let others onto this core, so that who waits need not.
  virtual bool gives_way() const { return false; }

  // The ranks whose signals the current step still lacks.
  virtual std::vector<int> missing() const = 0;

  // The same step ordered on an accelerator's stream: the host neither waits nor learns when it is done. An exchange
  // is a start and a wait in one. Throw Error{invalid_argument} where the fabric has no streams.
  virtual void start_on(Stream) { fail_without_streams(); }
  virtual void wait_on(Stream) { fail_without_streams(); }
  virtual void exchange_on(Stream) { fail_without_streams(); }

  // What a kernel needs to start and wait by itself; null where none can.
  virtual const DeviceChain* device_chain() const { return nullptr; }

  // What a kernel needs to have a resident engine run it; null where none can.
  virtual const DeviceBell* bell() { return nullptr; }

  // Whether this rank has no part in any step of it.
  virtual bool is_empty() const { return false; }

  // Its chain goes in the middle of a step, and its sources and targets may be the application's own from now on: what this rank has
  // not sent or fetched of the step it never will. What MPI or a GPU carries already goes on until `end`. Does not throw.
  virtual void abandon() {}

  // It is not started any more, and gives up what has not come. `in_order`: no rank is known to have let go of it in the middle of a
  // step. Whether the fabric is through with this rank's memory, which stays until then; where it is not, it is asked again. Does
  // not throw.
  virtual bool end(bool /*in_order*/) { return true; }

 private:
  [[noreturn]] static void fail_without_streams() {
    base::fail(Errc::invalid_argument,
               "a step was ordered on a stream, but this fabric has no streams; call start() and wait() "
               "without one, or run on a fabric that has them (WorldOptions::fabric or OPENTCA_FABRIC)");
  }
};

// What a rank's kernels need for small collectives with all others; see tca/team.hpp.
class Team {
 public:
  virtual ~Team() = default;
  virtual const DeviceTeam& device() const = 0;
  virtual void allreduce_sum_on(double* values, std::size_t count, Stream stream) = 0;
};

class Stager;

// The room that puts of a chain take of one protocol: of all, and of those to the rank in question.
struct Besides {
  std::uint64_t in_all = 0, at_rank = 0;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual std::string_view name() const = 0;

  // How it can carry a put, e.g. {"direct", "pull", "staged"}.
  virtual std::span<const std::string_view> protocols() const = 0;

  virtual bool reaches(int rank) const = 0;

  // Whether a protocol carries puts to a rank that the fabric reaches.
  virtual bool carries(int /*protocol*/, int /*rank*/) const { return true; }

  // How long a put takes between any two ranks, where the fabric knows better than any table and the protocol competes for it.
  virtual std::optional<double> predict_us(int /*protocol*/, int /*from*/, int /*to*/,
                                           const base::Shape& /*shape*/) const {
    return std::nullopt;
  }

  // How long the smallest transfer to another rank takes here, as measured at bring-up; 0 when it was not. The cost
  // table has different costs for ranks near and far.
  virtual double crossing_ns() const { return 0; }

  // What a put takes of the room that a protocol has, in bytes.
  virtual std::uint64_t room_for(int /*protocol*/, const base::Shape& shape) const { return shape.bytes(); }

  // Whether a protocol has room for one more such put, besides those of the same chain that it carries already; asked at commit
  // unless the protocol is forced.
  virtual bool accepts(int /*protocol*/, const base::Shape& /*shape*/, Besides /*besides*/) const {
    return true;
  }

  // Whether `expose` takes memory that ranks already have.
  virtual bool takes_existing() const { return true; }

  // Whether programs can be ordered on an accelerator's streams; windows are then that accelerator's memory.
  virtual bool has_streams() const { return false; }

  // How fabrics that do not reach its windows' memory get at it; null where that is the host's. Lives as long as the fabric.
  virtual Stager* stager() { return nullptr; }

  // Which accelerator this rank drives, for people; empty without one.
  virtual std::string device_name() const { return {}; }

  // How many ranks drive it, this one included.
  virtual int ranks_on_device() const { return 0; }

  // Throws the error that a step ordered on a stream has met, if any has. Makes no system call and does not block.
  virtual void check() {}

  // Collective: `bytes` of memory here, and access to what the others asked for. `existing` null: zeroed memory of the
  // fabric's; otherwise the caller's own, which it keeps alive. Throws, on every rank alike, Error{out_of_memory}, or
  // Error{invalid_argument} when the others could not reach such memory. `window` names it in messages.
  virtual std::unique_ptr<Memory> expose(std::size_t bytes, std::byte* existing, std::string_view window) = 0;

  // Collective over the ranks that share the chain.
  virtual std::unique_ptr<Program> compile(const Share& share) = 0;

  // Collective. For up to `max_values` values a call, waiting for `time_limit` at most.
  virtual std::unique_ptr<Team> make_team(std::string_view team, std::size_t /*max_values*/,
                                          std::chrono::milliseconds /*time_limit*/) {
    base::fail(Errc::invalid_argument,
               "team '{}': the ranks of the fabric {} run no kernels; use tca/coll.hpp, or the fabric cuda "
               "(WorldOptions::fabric or OPENTCA_FABRIC)",
               team, name());
  }

  // How it can run a collective of all ranks by itself, the same on every rank; empty: it is made of chains.
  virtual std::vector<CollectiveWay> collective_ways(const CollectiveKind& /*kind*/) const { return {}; }

  // Collective. For one of the ways that there are.
  virtual std::unique_ptr<Collective> make_collective(const CollectiveTask&) { return nullptr; }

  // Of this rank's part of windows, in an accelerator's memory; null where the host combines.
  virtual std::unique_ptr<Fold> make_fold(const FoldTask&) { return nullptr; }

  // An immediate put: stored now, visible to `rank` no later than this rank's next signal to it.
  virtual void put_now(Memory& memory, int rank, std::uint64_t offset, std::span<const std::byte> value) = 0;

  // Whether all that `put_now` has taken is visible to its target. This fabric's own signals wait until it is; others' have to be
  // held back.
  virtual bool settled() { return true; }

  // The ranks that it is still under way to.
  virtual std::vector<int> unsettled() { return {}; }

  // From now on programs add a span for what they move; null stops that.
  virtual void trace_to(base::Trace* trace) = 0;

  // This rank starts nothing more. Ends what stays on an accelerator: ranks that are threads of one process come here before
  // any of them frees memory, which waits for accelerators to come to rest. `in_order`: none of its chains went in the middle of a
  // step.
  virtual void rest(bool /*in_order*/) {}

  // A kernel that moves `bytes` of memory and does `flops` operations, where time is modelled.
  virtual void compute(double /*bytes*/, double /*flops*/) {}

  // Whether messages of this rank's, sent or awaited, move only while it looks, so that who waits should not sleep.
  virtual bool moves_by_looks() const { return false; }

  // Drives what other started programs of this rank still owe, so that no order of waits can deadlock.
  virtual void progress() = 0;

  // The same for a rank that waits and calls it over and over, with looks at what it waits for in between; may do less.
  virtual void progress_between_looks() { progress(); }
};

}  // namespace tca::fabric
