/// @file
/// A collective over elements whose type is given at run time; see tca/raw.hpp. The collectives of
/// tca/coll.hpp are thin layers over it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "tca/detail/api.hpp"
#include "tca/raw/window.hpp"
#include "tca/stream.hpp"
#include "tca/types.hpp"

namespace tca {

namespace coll {
class State;
}

struct CollOptions {
  /// Forces an algorithm, such as "ring" or, on cuda, "kernel_ll". If empty, the library chooses by size,
  /// ranks and the costs of the channels. Must be the same on every rank.
  std::string algorithm = {};
  /// Forces a channel for every put, as ChainOptions::channel does. The collective is then made of chains.
  std::string channel = {};
  /// How long `wait` may block for each round. If not given, the world's limit applies.
  std::optional<std::chrono::milliseconds> time_limit = {};
};

namespace raw {

/// Combines `count` elements: into[i] = left[i] op right[i], where `into` may be either of the others. It
/// must be associative. It is called with the values of the lower rank on the left, and on the host only.
using Combiner = std::function<void(void* into, const void* left, const void* right, std::size_t count)>;

/// A reduction: a built-in one, or a callable of the program's own.
using Operation = std::variant<ReduceOp, Combiner>;

/// Describes a collective; the same on every rank.
struct Request {
  CollectiveKind kind = CollectiveKind::barrier;
  std::string name = {};
  DataType type = DataType::other;      ///< a ReduceOp combines every type but `other`
  std::size_t element_bytes = 1;        ///< that of the type, if it is not `other`
  Count count = 0;                      ///< elements of a block: what one rank gives to one other, or gets
  int root = 0;                         ///< of a broadcast
  Operation operation = ReduceOp::sum;  ///< of all_reduce and reduce_scatter; others ignore it
  CollOptions options = {};
};

/// A collective is set up once by all ranks, and then run as often as needed, with the promises of a chain:
/// `start` n takes the input as it is. `wait` n returns when the input may be overwritten and the output
/// has arrived. The output stays as it is until this rank's `start` n+1.
///
/// Only a collective's own `wait` and `test` drive its rounds after the first. So ranks that have several
/// collectives under way must wait for them in the same order.
class TCA_API Collective {
 public:
  /// Collective. Makes a collective with memory of its own, which from() and to() return; a barrier has
  /// none. broadcast, all_gather and all_reduce have one window, reduce_scatter and all_to_all have two.
  /// All three constructors throw Error{refused}, with the same message on every rank, if ranks disagree or
  /// ask for something impossible. tca/coll.hpp says how large the windows of each kind are.
  Collective(World& world, Request request);
  /// Collective. Works in place.
  Collective(World& world, Request request, Window window);
  /// Collective. Reads one window and writes another.
  Collective(World& world, Request request, Window from, Window to);

  /// The windows that it reads and writes, which may be the same one.
  const Window& from() const;
  const Window& to() const;

  /// Never blocks. Throws Error{invalid_argument} while a run is under way.
  void start();

  /// Returns whether the run has finished, without blocking; also true when none is under way. Throws as
  /// `wait` does.
  [[nodiscard]] bool test();

  /// Throws Error{timed_out} or Error{rank_lost}; the message names the collective, its round, the step and
  /// the ranks that are missing. After Error{timed_out} another `wait` continues, as with a chain. Throws
  /// Error{invalid_argument} if the last run was ordered on a stream. Returns at once if no run has been
  /// started since the last `wait`, unless WorldOptions::check_steps makes that an error.
  void wait();

  /// Waits for at most `duration`, and returns whether the run has finished; see Chain::wait_for.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds duration);

  /// A `start` and a `wait`.
  void run() {
    start();
    wait();
  }

  /// The same three, ordered on an accelerator's stream, which a CUDA graph may capture. `start` takes the
  /// input as it is when the stream reaches it, and `wait` holds up the stream. `run` is one kernel if the
  /// name of the algorithm begins with "kernel", and otherwise one chain after the other. The host waits
  /// for none of them, except where ranks that are threads share a GPU (docs/gpu.md). Errors of such a run
  /// are thrown by the next call on a stream, or by World::check.
  ///
  /// They work on cuda and cuda+mpi. Reductions need one of the library's operations there, and elements of
  /// float, double, int32 or int64. They throw Error{invalid_argument} for other reductions, and if there
  /// are no streams. A collective may be destroyed only when its runs on streams are over.
  void start(Stream stream);
  void wait(Stream stream);
  void run(Stream stream);

  /// The name of the algorithm that was chosen, e.g. "recursive_doubling".
  [[nodiscard]] const std::string& algorithm() const;

  /// Lists the algorithms that this collective can use, with predicted times in microseconds, and the chains
  /// of the chosen one (see Chain::explain). The names of these chains begin with the collective's.
  [[nodiscard]] std::string explain() const;

  /// A collective that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  ~Collective();

 protected:
  /// Throws what `start` would, before anything is written.
  void require_startable() const;

  /// Returns whether windows are memory that the host may access.
  bool on_host() const;
  [[noreturn]] void fail_size(std::size_t have, std::size_t want) const;

 private:
  coll::State& state() const { return core::present(state_, "collective"); }

  std::unique_ptr<coll::State> state_;
};

}  // namespace raw
}  // namespace tca
