// The interface of a fabric, which carries bytes between ranks. Every transport implements it, and the
// layers above rely on it.
//
// A fabric exposes a window's memory, compiles its share of a committed chain, and from then on starts and
// tests that share. All decisions are made while a chain is compiled; a started `Program` only does what
// was compiled.
//
// To write a fabric, read Memory, Put and ChainSpec, then Program and Offer, then Fabric, and implement
// their pure virtual functions. Every other function has a default, and follows a line that says which
// fabrics override it. Whatever only some fabrics have is a separate interface that they hand out:
// pricing.hpp (times and room, for the route), messages.hpp (what moves only when the rank polls),
// device.hpp and accelerator.hpp (GPUs), posting.hpp (puts that one rank makes by itself).
//
// Ownership: the world owns its fabrics; the caller of `expose` and `offer` owns what they return. A
// program is destroyed before the memories that it moves, and both before their fabric; Fabric::quiesce is
// called before all of that. The Control (control.hpp) with which a fabric is made outlives it.
//
// Threads: one fabric object serves one rank and is called by one thread at a time, which is that rank's
// own as long as the world is up. Every rank makes the calls marked "collective", in the same order, and
// these may meet the other ranks through Control. While Control waits, it calls back for progress;
// therefore `expose` and `bind` leave earlier programs able to run before they meet the others. Except for
// `quiesce`, no other call waits for another rank.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/codec.hpp"
#include "base/layout/shape.hpp"
#include "base/trace.hpp"
#include "control/members.hpp"
#include "fabric/device.hpp"
#include "fabric/pricing.hpp"

namespace tca {
template <class>
struct DeviceWindow;
namespace device {
struct Counted;
struct Produced;
}  // namespace device
}  // namespace tca

namespace tca::fabric {

class Accelerator;
class AcceleratorProgram;
class Arrivals;
class FaultNews;
class Messages;
class Poster;

// A window as one rank sees it: its own part, and access to the others' parts.
class Memory {
 public:
  virtual ~Memory() = default;
  virtual std::byte* data() = 0;  // null if this rank registered nothing; may be an accelerator's address
  virtual std::size_t bytes(int rank) const = 0;

  // These copy between this rank's part and host memory, and are done when they return. The caller has
  // checked the bounds.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual void write(std::uint64_t offset, std::span<const std::byte> from) = 0;

  // Returns what a kernel needs to put by itself; null if none can.
  virtual const DeviceWindow<std::byte>* device_window() const { return nullptr; }
};

// What a rank requests when the members make a window. `number` is the same on all of them, and was never
// used before between any two of them, for a window or for a chain.
struct WindowSpec {
  std::string_view title;  // in messages
  const control::Members& members;
  std::uint32_t number = 0;
  std::size_t bytes = 0;          // of this rank's part
  std::byte* existing = nullptr;  // the caller's own memory, which it keeps alive; null: the fabric allocates
  bool on_host = false;  // in host memory, even if windows are an accelerator's; the same on every member
};

// The length of a counted put, in elements, at one end. The sender's is set when `start` is called and
// stays until the step is over. At the receiver the program stores it before `test` reports the step as
// over. It lives as long as the chain, so nobody touches it after Program::cancel.
struct Length {
  std::uint64_t* elements = nullptr;  // null if the put always moves its whole shape
  std::uint32_t element_bytes = 1;
  // If kernels can set and read it, `bind` sets this; it lives as long as the chain. At the receiver the
  // length is then found through it, and not in `elements`.
  device::Counted* view = nullptr;
  std::uint32_t put = 0;  // its number among its sender's puts

  // The value of `elements` at a sender whose kernels set the length.
  static constexpr std::uint64_t by_kernels = ~std::uint64_t{0};

  explicit operator bool() const { return elements != nullptr; }
  std::uint64_t bytes() const { return *elements * element_bytes; }
};

// What kernels produce for a put that has no memory: `count` elements of `bytes` each, or a signal. `bind`
// sets `view`, which lives as long as the chain, for this rank's end.
struct Elements {
  bool produced = false;
  std::uint32_t count = 0;  // 0 for a signal
  std::uint32_t bytes = 0;
  std::uint32_t put = 0;  // its number among its sender's puts
  device::Produced* view = nullptr;

  explicit operator bool() const { return produced; }
};

// A put as both of its ends know it after the exchange in `commit`. A put with neither a shape nor elements
// is a bare signal.
struct Put {
  int from = 0;
  int to = 0;
  Memory* to_memory = nullptr;
  std::uint64_t to_offset = 0;  // bytes
  Memory* from_memory = nullptr;
  std::uint64_t from_offset = 0;
  const base::Shape* shape = nullptr;  // outlives every program
  int protocol = 0;                    // index into Fabric::protocols()
  Length length = {};                  // at this rank's end; for an outgoing put, the sender's
  Elements elements = {};              // only if the fabric carries produced puts
};

// A rank's share of a chain. In both lists the puts are in the order in which their senders declared them.
struct ChainSpec {
  std::string_view name;
  const control::Members& members;
  std::uint32_t number = 0;  // like that of a window
  bool guarded = true;
  std::span<const Put> outgoing;  // from == this rank
  std::span<const Put> incoming;  // to == this rank
  // For a step that waits on an accelerator, where the host does not look at the clock.
  std::chrono::milliseconds time_limit{30'000};
  bool checked = false;  // whether to check after each element that kernels produce
  // Receives the times of the messages to this rank, if the chain is timed and the fabric can take them
  // (arrivals.hpp); null otherwise. Like a Length, it lives as long as the chain. A chain is timed on all
  // of its ranks or on none.
  Arrivals* arrivals = nullptr;
  bool reroute = false;  // ChainOptions::reroute
};

// The signals that guard a rank's steps, and why there are none with the other partners.
struct Guard {
  std::vector<int> awaited;  // ranks whose signals it needs before it stores
  std::vector<int> told;     // ranks that its start signals
  std::string_view otherwise;
};

// A rank's compiled share of a chain. `start` and `test` keep the promises of tca/chain.hpp.
class Program {
 public:
  virtual ~Program() = default;

  // Every fabric implements these three.

  // Begins the next step; never blocks. On shm it allocates nothing, takes no lock and makes no system call.
  virtual void start() = 0;

  // Advances the step and returns whether it has finished. Does not block.
  virtual bool test() = 0;

  // Returns the ranks whose signals the current step is still missing.
  virtual std::vector<int> missing() const = 0;

  // Returns what the guard adds to each of this rank's steps, for Chain::explain; nothing if the fabric
  // cannot tell.
  virtual std::optional<Guard> guard() const { return {}; }

  // A fabric overrides these two if a step may still move bytes after its chain is destroyed.

  // Called when the chain is destroyed in the middle of a step. From here on its sources and targets may
  // belong to the application alone, so this rank neither sends nor fetches anything more. What MPI or a
  // GPU already carries goes on until `end`. Does not throw.
  virtual void cancel() {}

  // Ends the program, which is not started again and gives up on what has not arrived. Returns whether the
  // fabric is done with this rank's memory, which stays until then; after false the call is repeated. Does
  // not throw.
  virtual bool end() { return true; }

  // A fabric overrides these if the library below it yields the core, or if it serves a world together with
  // another fabric.

  // Returns whether a `test` that found nothing has yielded the core, so that the caller's wait does not
  // have to.
  virtual bool yields() const { return false; }

  // Returns whether this rank has nothing to do in any step.
  virtual bool is_empty() const { return false; }

  // A fabric overrides this if steps of a timed chain end while the host is not looking. Reports the
  // arrivals that only an accelerator has seen so far.
  virtual void tell_of_arrivals() {}

  // Returns the interface through which an accelerator orders the steps (accelerator.hpp); null if none
  // does. If windows are an accelerator's memory, every program has one.
  virtual AcceleratorProgram* on_accelerator() { return nullptr; }
};

// What ranks have offered to a fabric, by rank: at least this one and its partners in the chain.
using Offers = std::map<int, base::Blob>;

// A rank's share of a chain on its way to becoming a program. Chains are compiled in two halves, so that
// the ranks meet once for all fabrics of a world: Fabric::offer prepares a share, and `bind` turns it into
// a program once the rank knows what the others have offered. If a rank refuses the chain or cannot offer
// its share, no share is bound on any rank. When an offer is destroyed, so is whatever its program has not
// taken over.
class Offer {
 public:
  virtual ~Offer() = default;

  // Returns what the others need to know to bind their shares. Called once.
  virtual base::Blob to_others() { return {}; }

  // Returns whether all members need it, and not only this rank's partners. Called after `to_others`.
  virtual bool concerns_all() const { return false; }

  // Collective over the members; throws on all of them alike. Called once, after all have agreed. A fabric
  // meets the others again only if it must: because it can still fail on one rank alone (cuda fills tables
  // in the memory of its GPU), or because the library below it has to be called by all (MPI_Win_create for
  // mpi/rma).
  virtual std::unique_ptr<Program> bind(const Offers& offers) = 0;
};

// An offer of a fabric whose ranks need to know nothing about each other's shares.
class BareOffer final : public Offer {
 public:
  explicit BareOffer(std::function<std::unique_ptr<Program>()> compile) : compile_(std::move(compile)) {}
  std::unique_ptr<Program> bind(const Offers&) override { return compile_(); }

 private:
  std::function<std::unique_ptr<Program>()> compile_;
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  // Every fabric implements these seven.

  virtual std::string_view name() const = 0;

  // Returns its protocols, the ways in which it can carry a put, e.g. {"direct", "pull", "staged"}; the
  // same on every rank. At least one of them carries puts to every rank that the fabric reaches.
  virtual std::span<const std::string_view> protocols() const = 0;

  // Returns whether this rank can put to `rank`, which may be itself.
  virtual bool reaches(int rank) const = 0;

  // Collective over the members. Returns a window with access to what the others requested; what the fabric
  // allocates is zeroed. Throws on every member alike: Error{out_of_memory}, or Error{invalid_argument} if
  // the others could not reach existing memory.
  virtual std::unique_ptr<Memory> expose(const WindowSpec& window) = 0;

  // Prepares this rank's share of a chain. All members make the call, including those without a part in the
  // chain, but it meets nobody: it throws on this rank alone, and the caller tells the others. What `share`
  // refers to stays valid until the offer is destroyed; the shapes and memories of its puts outlive the
  // program.
  virtual std::unique_ptr<Offer> offer(const ChainSpec& share) = 0;

  // Makes an immediate put: it is sent now and is visible to `rank` no later than this rank's next signal
  // to it.
  virtual void put_now(Memory& memory, int rank, std::uint64_t offset, std::span<const std::byte> value) = 0;

  // Drives what this rank's started programs still owe their partners, so that no order of waits can
  // deadlock.
  virtual void progress() = 0;

  // A fabric overrides these if it cannot do everything, or knows more about what it does.

  // Returns whether a protocol carries puts to `rank`, which the fabric reaches.
  virtual bool carries(int /*protocol*/, int /*rank*/) const { return true; }

  // Returns whether a protocol carries counted puts.
  virtual bool carries_counted(int /*protocol*/) const { return false; }

  // Returns whether it carries produced puts: its ranks run kernels, which reach each other.
  virtual bool carries_produced() const { return false; }

  // Returns whether a protocol carries puts between the ranks of a group when the other ranks know nothing
  // of them.
  virtual bool serves_groups(int /*protocol*/) const { return true; }

  // Returns whether `expose` accepts memory that ranks already have.
  virtual bool takes_existing() const { return true; }

  // Returns the times and the room of its protocols, for the route. The object lives as long as the fabric.
  virtual const Pricing& pricing() const {
    static const Pricing defaults;
    return defaults;
  }

  // From now on, programs add a span to the trace for each message that they move; null stops that.
  virtual void trace_to(base::Trace* /*trace*/) {}

  // A fabric overrides this if something goes on outside this rank's calls, in threads or on an
  // accelerator. Ends all of that; this rank starts nothing more. Ranks that are threads of one process all
  // make this call before any of them frees memory, because freeing waits for accelerators to become idle.
  // The call may be repeated.
  virtual void quiesce() {}

  // Returns the Messages interface of a fabric of messages (messages.hpp); null if puts are not messages,
  // and arrive when they are made. The object lives as long as the fabric.
  virtual Messages* messages() { return nullptr; }

  // Returns what the fabric knows about failed parts of the machine (faults.hpp); null if it never learns
  // of any. The object lives as long as the fabric.
  virtual const FaultNews* fault_news() const { return nullptr; }

  // A fabric overrides these if this rank drives a device through it.

  // Returns the device, which may be a modelled one; nothing if there is none.
  virtual std::optional<Device> device() const { return std::nullopt; }

  // Return the device's interface to the layers above, or null if the device is of the other kind: an
  // accelerator, in whose memory windows are and on whose streams every program can be ordered
  // (accelerator.hpp), or a model of one, on which kernels only take time.
  virtual Accelerator* accelerator() { return nullptr; }
  virtual ComputeModel* compute_model() { return nullptr; }

  // A fabric overrides this if steps can be ordered on streams. Throws the error of such a step, if there
  // is one. Makes no system call and does not block.
  virtual void check() {}

  // A fabric overrides this if it carries posts (posting.hpp); null if it does not. The object lives as
  // long as the fabric.
  virtual Poster* poster() { return nullptr; }

  // A fabric overrides this if its programs report arrivals, which takes a clock that both ends of a
  // message share.
  virtual bool times_messages() const { return false; }
};

}  // namespace tca::fabric
