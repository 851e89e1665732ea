// An ordered list of puts, declared once, committed by every rank together, then started as often as needed.
//
// What `start` and `wait` promise:
//   - `start` n sends the source bytes as they are after everything before it in program order.
//   - `wait` n returns when every source of this rank's puts may be overwritten and everything that the
//     expected ranks sent with their `start` n is here.
//   - Guarded (the default): `start` n+1 also says "I am done reading what arrived in n"; nobody's put n+1
//     lands before that. Unguarded saves one signal a step where the caller vouches for it; see ChainOptions.
//   - Different chains are independent. Between its own `start` and `wait` a chain cannot be started again.
//
// `start` never blocks. On shm it makes no system call, allocates nothing and takes no lock; elsewhere it is as long as the calls
// of MPI or CUDA that it makes.
//
// A step may also be ordered on an accelerator's stream, where the fabric has one (cuda): `start(stream)` n then sends
// the bytes as they are after everything before it on the stream, work behind `wait(stream)` n sees what arrived, and
// the host waits for neither (except where ranks that are threads share a GPU: docs/gpu.md). A step is started and
// waited for in the same way; the next one may be in another.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "tca/stream.hpp"
#include "tca/window.hpp"

namespace tca {

namespace core {
class ChainState;
}

struct DeviceBell;
struct DeviceChain;

struct ChainOptions {
  // False only if all hold: two chains with target arrays of their own take turns, every two partners send to each other in
  // both, and what came with one is read before the next start of either. A rank that only receives is not safe that way.
  bool guarded = true;
  // How long `wait` and `commit` may block; the world's limit when not given.
  std::optional<std::chrono::milliseconds> time_limit = {};
  // Forces a channel, e.g. "shm/staged" or "staged"; chosen per descriptor when empty. OPENTCA_ROUTE
  // overrides both.
  std::string route = {};
};

class Chain {
 public:
  // The same layout on both sides. Both windows may be the same one, and `to` may be on this very rank, which then
  // expects itself. Throws Error{invalid_argument} when this rank's own window is too small; of the target's `commit`
  // says so. From `commit` on the chain keeps both windows alive, on both ranks.
  template <Element T>
  Chain& put(const Remote<T>& to, const std::type_identity_t<Local<T>>& from, const Layout& layout) {
    return put(to, layout, from, layout);
  }

  // A layout for each side: equally shaped (a box into an array of another pitch), or one of them a single
  // block (gather or scatter). Throws Error{invalid_argument} for layouts that do not pair up.
  template <Element T>
  Chain& put(const Remote<T>& to, const Layout& to_layout, const std::type_identity_t<Local<T>>& from,
             const Layout& from_layout) {
    add_put(*to.window_, to.rank_, to.offset_, to_layout, from.window_, from.offset_, from_layout, sizeof(T));
    return *this;
  }

  // A put of nothing: tells `rank` that this rank has started.
  Chain& signal(int rank);

  // Declares that `rank` puts or signals to this rank; every writer must be expected.
  Chain& expect(int rank);

  // Collective: checks, routes and compiles. Throws Error{refused}, with the same message on every rank, for a put
  // outside the target's window, a put to a rank that does not expect it, an expected rank that sends nothing, two puts
  // of the chain into the same bytes, or a put into bytes that the target itself sends in the same chain. A chain that
  // was refused may be added to and committed again, by every rank. Also, on every rank, Error{out_of_memory} when
  // there is no room for what is staged; Error{timed_out} or Error{rank_lost} when a rank does not come to its commit.
  void commit();

  // Throws Error{invalid_argument} before `commit` and while a step is under way.
  void start();

  // Whether the step has finished, without blocking; true as well when none is under way. Throws as `wait` does.
  bool test();

  // Throws Error{timed_out} or Error{rank_lost}; the message names chain, step and each rank that is missing. Throws
  // Error{invalid_argument} before `commit`, and where the last step was ordered on a stream. Returns at once when the host has
  // started none since its last `wait`: of steps that kernels start it knows nothing.
  void wait();

  // The same, ordered on a stream; `exchange` is a start and a wait in one. What such a step meets (a time limit, a lost
  // rank) is thrown by the next of these calls, or by World::check. Throw Error{invalid_argument} before `commit`, while
  // a step that the host started is under way, and where the fabric has no streams.
  void start(Stream stream);
  void wait(Stream stream);
  void exchange(Stream stream);

  // What a kernel needs to start and wait by itself; see tca/chain.cuh. Valid as long as the chain. Throws
  // Error{invalid_argument} before `commit` and where the fabric has none.
  const DeviceChain& device() const;

  // What a kernel needs to have the resident engine start and finish steps; see tca/engine.cuh. Valid as long as the chain.
  // Throws Error{invalid_argument} before `commit`, and where the engine cannot run the chain: on other fabrics than cuda,
  // without WorldOptions::engine_blocks, or with 255 chains that it has to know already.
  const DeviceBell& bell() const;

  // A line for every put and signal, counted from 0 in the order of these calls: how many bytes, the layout, the
  // windows by their numbers with the byte in each where the put begins, the channel, the time that it is predicted to
  // take in a step, and the reason. Errors of `commit` count puts, and name windows and bytes, in the same way.
  std::string explain() const;

  const std::string& name() const;

  // A chain that was moved from may only be destroyed or assigned to.
  Chain(Chain&&) noexcept;
  Chain& operator=(Chain&&) noexcept;
  // Waits for nobody. Of a step that the host has started and not waited for, this rank sends and fetches nothing more;
  // a partner that needs it waits until its time limit, and is then told that this rank has not signalled. What
  // somebody else carries already (MPI, a GPU, with shm/pull the partner) goes on, and may read sources and write
  // targets until every rank has destroyed the chain and made another window or commit. What is still to
  // run on streams (`start(stream)`, `exchange(stream)`, graphs, kernels with `device()` or `bell()`) is over before:
  // synchronise with them first.
  ~Chain();

 private:
  friend class World;
  explicit Chain(std::unique_ptr<core::ChainState> state);
  void add_put(core::WindowState& to, int rank, std::int64_t to_offset, const Layout& to_layout,
               const std::shared_ptr<core::WindowState>& from, std::int64_t from_offset,
               const Layout& from_layout, std::size_t element_bytes);

  std::unique_ptr<core::ChainState> state_;
};

}  // namespace tca
