/// @file
/// An ordered list of puts, declared once, committed by every rank together, then started as often as needed.
///
/// What `start` and `wait` promise:
///   - `start` n sends the source bytes as they are after everything before it in program order.
///   - `wait` n returns when every source of this rank's puts may be overwritten and everything that the
///     expected ranks sent with their `start` n has arrived.
///   - Guarded (the default): `start` n+1 also says "I am done reading what arrived in n"; nobody's put n+1
///     lands before that. An unguarded chain saves one signal a step, and the caller guarantees this; see
///     ChainOptions.
///   - Different chains are independent. A chain cannot be started again before its `wait`.
///
/// `start` never blocks. On shm it makes no system call, allocates nothing and takes no lock, unless the
/// world records a trace. On other fabrics it takes as long as the MPI or CUDA calls that it makes.
///
/// On cuda and cuda+mpi a step may also be ordered on a stream: `start(stream)` n sends the bytes as they
/// are after everything before it on the stream, and work after `wait(stream)` n sees what arrived. The
/// host waits for neither, except where ranks that are threads share a GPU (docs/gpu.md). Wait on a stream
/// for a step that was started on one, and on the host for a step that the host started; the next step may
/// be of the other kind.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tca/counted.hpp"
#include "tca/detail/api.hpp"
#include "tca/produced.hpp"
#include "tca/stream.hpp"
#include "tca/timing.hpp"
#include "tca/window.hpp"

namespace tca {

namespace core {
struct Descriptor;
}

struct DeviceDoorbell;
struct DeviceChain;
struct DeviceProducedChain;
struct DeviceTimedChain;

struct ChainOptions {
  /// May be false only if all of this holds: two chains with separate target arrays take turns, every two
  /// partners send to each other in both, and what arrived with one is read before the next start of
  /// either. A rank that only receives is not safe without the guard.
  bool guarded = true;
  /// How long `wait` and `commit` may block. If not given, the world's limit applies.
  std::optional<std::chrono::milliseconds> time_limit = {};
  /// Forces a channel for every put, e.g. "shm/staged", or "staged" for this protocol on any fabric. If
  /// empty, the library chooses for each put. OPENTCA_CHANNEL overrides both.
  std::string channel = {};
  /// Takes the times of the messages, for `Chain::timing`. The same on every rank. WorldOptions::timing does so for
  /// all chains.
  bool timed = false;
  /// Only the ranks that the chain connects commit it: this rank's partners (ranks that it puts to, signals
  /// or expects), their partners, and so on. The others go on, and need not make the chain. The same on
  /// each of them. A partner that has not named this rank does not take part, and `commit` then throws
  /// Error{timed_out}, which names it. What a destroyed chain has left is freed when the same ranks commit
  /// another one this way. Cheap for few ranks; a chain that connects many is committed faster by all.
  /// mpi/rma does not carry it. A halo or fold is made by all ranks whatever this says.
  bool partners_only = false;
  /// If a cable, a hub or a path on the way to a partner fails, takes another path, if there is one, and
  /// sends again what has not arrived of a step, so that it arrives once and whole; the step takes longer
  /// and ends right. If there is no other path, or without this option, the step ends in Error{path_lost}
  /// on both ends, which names what has failed. The same on every rank. WorldOptions::reroute does so for
  /// all chains. On sim, and from shm to another protocol or to mpi; docs/guide.md says where else there is
  /// only one path. Each step then takes one more signal in both directions.
  bool reroute = false;
};

class TCA_API Chain {
 public:
  /// Adds a put with the same layout on both sides; layouts count elements. Both windows may be the same
  /// one, and `to` may be on this very rank, which then expects itself. Throws Error{invalid_argument} if
  /// the put is outside this rank's part of the source window, and after `commit`. `commit` checks whether
  /// the target's part is large enough. From then on the chain keeps both windows alive, on both ranks. A
  /// put of an empty layout moves nothing and acts as `signal`.
  template <Element T>
  Chain& put(const Remote<T>& to, const std::type_identity_t<Local<T>>& from, const Layout& layout) {
    return put(to.untyped(), layout, from.untyped(), layout);
  }

  /// Adds a put with a layout for each side. Both have the same shape (a box goes into an array of another
  /// pitch), or one of them is a single block (gather or scatter). Throws Error{invalid_argument} for layouts
  /// that do not pair up.
  template <Element T>
  Chain& put(const Remote<T>& to, const Layout& to_layout, const std::type_identity_t<Local<T>>& from,
             const Layout& from_layout) {
    return put(to.untyped(), to_layout, from.untyped(), from_layout);
  }

  /// The same two for windows without a type (tca/raw.hpp). Both windows have elements of one size; otherwise
  /// they throw Error{invalid_argument}.
  Chain& put(const raw::Remote& to, const raw::Local& from, const Layout& layout) {
    return put(to, layout, from, layout);
  }
  Chain& put(const raw::Remote& to, const Layout& to_layout, const raw::Local& from,
             const Layout& from_layout);

  /// Adds a put that is cut short in every step to the length that its sender has set; see tca/counted.hpp.
  /// The layout is the most that it can move, which `commit` checks and makes room for. Throws as `put`
  /// does.
  template <Element T>
  [[nodiscard]] CountedPut put_counted(const Remote<T>& to, const std::type_identity_t<Local<T>>& from,
                                       const Layout& layout) {
    return put_counted(to.untyped(), layout, from.untyped(), layout);
  }
  template <Element T>
  [[nodiscard]] CountedPut put_counted(const Remote<T>& to, const Layout& to_layout,
                                       const std::type_identity_t<Local<T>>& from,
                                       const Layout& from_layout) {
    return put_counted(to.untyped(), to_layout, from.untyped(), from_layout);
  }
  [[nodiscard]] CountedPut put_counted(const raw::Remote& to, const raw::Local& from, const Layout& layout) {
    return put_counted(to, layout, from, layout);
  }
  [[nodiscard]] CountedPut put_counted(const raw::Remote& to, const Layout& to_layout, const raw::Local& from,
                                       const Layout& from_layout);

  /// Adds a put of elements that a kernel produces, 0 to `elements` - 1, directly for a kernel of `rank`;
  /// see tca/produced.hpp. Throws Error{invalid_argument} after `commit`, for a rank that does not exist,
  /// and for a number below 1 or of 2 GiB and more.
  template <Element T>
  [[nodiscard]] ProducedPut<T> put_produced(int rank, std::int64_t elements) {
    return ProducedPut<T>(add_produced(rank, elements, sizeof(T)));
  }

  /// Adds a signal that a kernel raises by itself, for a kernel of `rank`, which expects it by
  /// `expect_produced_signal`. Otherwise like `put_produced`.
  [[nodiscard]] ProducedSignal signal_produced(int rank) { return ProducedSignal(add_produced(rank, 0, 0)); }
  [[nodiscard]] ExpectedSignal expect_produced_signal(int rank) {
    return ExpectedSignal(add_expected_produced(rank, 0, 0));
  }

  /// Adds a put of no bytes, which only tells `rank` that this rank has started.
  Chain& signal(int rank);

  /// Declares that `rank` puts or signals to this rank. Every rank that does must be expected.
  Chain& expect(int rank);

  /// Declares that `rank` makes a counted put to this rank; implies `expect`. The n-th call for a rank is
  /// for its n-th counted put to this one; every counted put must be expected this way.
  CountedArrival expect_counted(int rank);

  /// Declares that `rank` makes a produced put of so many elements to this rank; implies `expect`. The n-th
  /// call for a rank is for its n-th produced put to this one; every produced put must be expected this
  /// way.
  template <Element T>
  [[nodiscard]] ProducedArrival<T> expect_produced(int rank, std::int64_t elements) {
    return ProducedArrival<T>(add_expected_produced(rank, elements, sizeof(T)));
  }

  /// Collective, over all ranks or those that ChainOptions::partners_only selects. Checks the puts of all
  /// of them, chooses their channels and compiles them. Throws on every one:
  ///   - Error{refused}, with the same message, for a put outside the target's window, a put to a rank that
  ///     does not expect it, an expected rank that sends nothing, two puts of the chain into the same bytes,
  ///     a put into bytes that the target itself sends in the same chain, a window that a rank has destroyed,
  ///     a forced channel that does not reach a target, a counted put that is not expected or that no channel
  ///     carries (cuda/copy_engine and mpi/rma do not), a produced put that is not expected with as many elements of
  ///     the same size or whose target no kernel reaches (kernels reach the ranks of the sub-cluster, on cuda),
  ///     and ranks that commit different chains. Every rank may then add to the chain and commit it again.
  ///   - Error{out_of_memory} if there is no room for staging.
  ///   - Error{timed_out} or Error{rank_lost} if a rank does not commit the chain in time.
  void commit();

  /// Starts a step, and never blocks. Throws Error{invalid_argument} before `commit`, while a step is under
  /// way, and if this rank has an end of a produced put, which only a kernel can start.
  void start();

  /// Returns whether the step has finished, without blocking; also true when none is under way. Throws as
  /// `wait` does.
  [[nodiscard]] bool test();

  /// Finishes the step. Throws Error{timed_out}, Error{rank_lost} or Error{path_lost}; the message names
  /// the chain, the step and each rank that is missing. After Error{timed_out} another `wait` continues the
  /// step, except on GPUs, which give up. Throws Error{invalid_argument} before `commit`, and if the last
  /// step was ordered on a stream.
  ///
  /// Returns at once if the host has started no step since its last `wait`: it knows nothing of steps that
  /// kernels start. If a `start` was forgotten, ghosts are a step old and no error says so.
  /// WorldOptions::check_steps (OPENTCA_CHECK=1) makes it an Error{invalid_argument}, for `test` and
  /// `wait(stream)` as well; streams are checked in the order in which the host makes the calls.
  void wait();

  /// Waits for at most `duration`, and returns whether the step has finished. If it has not, the step goes
  /// on as before: call `wait`, `test` or this again. So a program can attend to other things while it
  /// waits, such as operating-system signals. Throws as `wait` does. The time limit of `wait` covers all
  /// waits of the step together, and this never waits past it.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds duration);

  /// A `start` and a `wait`.
  void run() {
    start();
    wait();
  }

  /// The same three, ordered on a stream. Errors of such a step (a time limit, a lost rank) are thrown by
  /// the next of these calls, or by World::check. They throw Error{invalid_argument} before `commit`, while
  /// a step that the host started is under way, if the fabric has no streams, and for produced puts.
  void start(Stream stream);
  void wait(Stream stream);
  void run(Stream stream);

  /// Returns what a kernel needs to start and wait by itself; see tca/chain.cuh. It is valid as long as the
  /// chain. Throws Error{invalid_argument} before `commit`, if the fabric has no kernels, and for produced
  /// puts.
  [[nodiscard]] const DeviceChain& device() const;

  /// Returns the same for a chain with or without produced puts; see tca/produced.cuh.
  [[nodiscard]] const DeviceProducedChain& device_produced() const;

  /// Returns the same for a timed chain, for kernels that take the times of its messages: TimedBlockChain
  /// and TimedGridChain of tca/chain.cuh. Throws Error{invalid_argument} as `device` does, and if the chain
  /// is not timed.
  [[nodiscard]] const DeviceTimedChain& device_timed() const;

  /// Returns what a kernel needs to have the resident engine start and finish steps; see tca/engine.cuh. It
  /// is valid as long as the chain. Throws Error{invalid_argument} before `commit`, and if the engine
  /// cannot run the chain: on fabrics other than cuda, without WorldOptions::engine_blocks, if the engine
  /// already serves 255 chains, or for produced puts.
  [[nodiscard]] const DeviceDoorbell& doorbell() const;

  /// Returns a table with a line for every put and signal, which are counted from 0 in the order in which
  /// they were added: the channel, the predicted time in microseconds, the number of bytes, the layout,
  /// both windows with the element where the put begins, and the reason for the choice. Below that are the
  /// signals of a step: which ranks this rank signals and by which fabric, which ranks it expects, and what
  /// the guard adds. Errors of `commit` count puts, and name windows and elements, in the same way. For a
  /// timed chain, the times of its messages follow.
  [[nodiscard]] std::string explain() const;

  /// Returns how long the messages to this rank have taken, or says that the chain is not timed; see
  /// tca/timing.hpp.
  [[nodiscard]] Timing timing() const;

  /// Forgets these times, for example after warm-up steps.
  void clear_timing();

  const std::string& name() const;

  /// A chain that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  Chain(Chain&&) noexcept;
  Chain& operator=(Chain&&) noexcept;
  /// Does not wait. Synchronise first with all work on streams that has not yet run: `start(stream)`,
  /// `run(stream)`, graphs, and kernels with `device()` or `doorbell()`.
  ///
  /// If a step that the host has started is under way, this rank sends and fetches nothing more of it. A
  /// partner that needs it waits until its time limit, and is then told that this rank has not signalled.
  /// Bytes that MPI, a GPU or (with shm/pull) the partner is already carrying continue to move: sources may
  /// be read and targets written until every rank has destroyed the chain and then made another window or
  /// commit.
  ~Chain();

 private:
  friend class World;
  explicit Chain(std::unique_ptr<core::ChainState> state);
  core::ChainState& state() const { return core::present(state_, "chain"); }
  std::shared_ptr<core::ProducedEnd> add_produced(int rank, std::int64_t elements, std::size_t element_bytes);
  std::shared_ptr<core::ProducedEnd> add_expected_produced(int rank, std::int64_t elements,
                                                           std::size_t element_bytes);
  core::Descriptor describe(const char* call, const raw::Remote& to, const Layout& to_layout,
                            const raw::Local& from, const Layout& from_layout) const;

  std::unique_ptr<core::ChainState> state_;
};

}  // namespace tca
