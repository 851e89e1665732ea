/// @file
/// What every collective of tca/coll.hpp has: its operations, its options, and how it is run.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tca/detail/api.hpp"
#include "tca/stream.hpp"
#include "tca/types.hpp"
#include "tca/world.hpp"

namespace tca {

namespace coll {

struct Request;
class Elements;
class State;

template <class T>
using Kernel = void (*)(T* into, const T* left, const T* right, std::size_t count);

// The library has them for the arithmetic types except bool.
template <class T>
TCA_API Kernel<T> kernel_of(ReduceOp op);

}  // namespace coll

struct CollOptions {
  /// Forces an algorithm, such as "ring" or, on cuda, "kernel_ll". When empty, the library chooses by size,
  /// ranks and the costs of the channels. Every rank gives the same.
  std::string algorithm = {};
  /// Forces a channel for every put, as ChainOptions::channel does. The collective is then made of chains.
  std::string channel = {};
  /// How long `wait` may block for each round. The world's limit holds when this is not given.
  std::optional<std::chrono::milliseconds> time_limit = {};
};

/// Makes one value of two: by an ReduceOp, or by a function of the program's own. The function must be associative.
/// It is called with the value of the lower rank on the left, and only on the host.
template <Element T>
class Operation {
 public:
  Operation(ReduceOp op) requires(std::is_arithmetic_v<T> &&
                                  !std::is_same_v<T, bool>)  // NOLINT: implicit, as is the next
      : op_(op), kernel_(coll::kernel_of<T>(op)) {}

  template <class F>
  requires std::is_invocable_r_v<T, F, T, T> Operation(F function)  // NOLINT
      : function_(std::move(function)) {}

  /// Nothing for a function of the program's own.
  std::optional<ReduceOp> op() const { return op_; }
  /// Whether the program gave a std::function that holds none. Collectives refuse such an operation.
  bool lacks_function() const { return !op_ && !function_; }

  /// into[i] = left[i] op right[i] for `count` elements; `into` may be one of the others.
  void operator()(T* into, const T* left, const T* right, std::size_t count) const {
    if (kernel_ != nullptr) return kernel_(into, left, right, count);
    for (std::size_t i = 0; i < count; ++i) into[i] = function_(left[i], right[i]);
  }

 private:
  std::optional<ReduceOp> op_;
  coll::Kernel<T> kernel_ = nullptr;
  std::function<T(T, T)> function_;
};

/// A collective is set up once by all ranks, and then run as often as needed, with the promises of a chain:
/// `start` n takes the input as it is. `wait` n returns when the input may be overwritten and the output is
/// here. The output stays as it is until this rank's `start` n+1.
///
/// Only a collective's own `wait` and `test` drive its rounds after the first. So ranks that have several
/// collectives under way wait for them in the same order.
class TCA_API Collective {
 public:
  /// Never blocks. Throws Error{invalid_argument} while a run is under way.
  void start();

  /// Returns whether the run has finished, without blocking; true as well when none is under way. Throws as
  /// `wait` does.
  [[nodiscard]] bool test();

  /// Throws Error{timed_out} or Error{rank_lost}; the message names the collective, its round, the step and
  /// the ranks that are missing. After Error{timed_out} another `wait` goes on, as with a chain. Throws
  /// Error{invalid_argument} where the last run was ordered on a stream. Returns at once where no run has
  /// been started since the last `wait`, unless WorldOptions::check_steps makes that an error.
  void wait();

  /// A `start` and a `wait`.
  void run() {
    start();
    wait();
  }

  /// The same three, ordered on an accelerator's stream, which a CUDA graph may capture. `start` takes the
  /// input as it is once the stream comes to it, and `wait` holds the stream. `run` is one kernel where the
  /// name of the algorithm begins with "kernel", and chain behind chain elsewhere. The host waits for none of
  /// them, except where ranks that are threads share a GPU (docs/gpu.md). Errors of such a run are thrown
  /// by the next call on a stream, or by World::check.
  ///
  /// They work on cuda and cuda+mpi. Reductions need one of the library's operations there, and elements of
  /// float, double, int32 or int64. They throw Error{invalid_argument} for other reductions, and where there
  /// are no streams. A collective may be destroyed only when its runs on streams are over.
  void start(Stream stream);
  void wait(Stream stream);
  void run(Stream stream);

  /// The name of the algorithm that was chosen, e.g. "recursive_doubling".
  [[nodiscard]] const std::string& algorithm() const;

  /// Lists the algorithms that there are for this collective, with predicted times in microseconds, and the
  /// chains of the chosen one (see Chain::explain). The names of these chains begin with the collective's.
  [[nodiscard]] std::string explain() const;

  /// A collective that was moved from may only be destroyed or assigned to; all other calls throw
  /// Error{invalid_argument}.
  Collective(Collective&&) noexcept;
  Collective& operator=(Collective&&) noexcept;
  ~Collective();

 protected:
  /// Collective. Throws Error{refused}, with the same message on every rank, when ranks disagree or ask for
  /// what cannot be.
  Collective(World& world, coll::Request request, std::unique_ptr<coll::Elements> elements);

  /// Throws what `start` would, before anything is written.
  void require_startable() const;

  /// Returns whether windows are memory that the host may follow pointers into.
  bool on_host() const;
  [[noreturn]] void fail_size(std::size_t have, std::size_t want) const;

 private:
  coll::State& state() const { return core::present(state_, "collective"); }

  std::unique_ptr<coll::State> state_;
};

}  // namespace tca
