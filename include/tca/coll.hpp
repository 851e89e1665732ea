/// @file
/// Collectives among all ranks, set up once and run as often as needed:
///
///     tca::Broadcast<double> weights(world, "weights", n, root);   // in its own memory, weights.to().data()
///     tca::AllReduce<double> residual(world, "residual");
///     tca::AllGather<float> gather(world, "rows", rows, n);        // in the program's window `rows`
///     weights.start();
///     ...                                                          // overlaps
///     weights.wait();
///     gather.run();                                                // a start and a wait
///     double sum = residual.reduce(mine);                          // the same for a value
///
/// All constructors are collective: every rank calls them in the same order. A count is the number of
/// elements of a block, which is what one rank gives to one other. Buffers begin at the first element of
/// their windows, and a window may be longer than its buffer.
///
/// A class has up to three constructors:
///   - without a window: the collective has memory of its own, which from() and to() return. Broadcast,
///     AllGather and AllReduce have one window, ReduceScatter and AllToAll have two.
///   - with one window: the collective works in place.
///   - with two windows: it reads the first and writes the second. They must not overlap, except that
///     AllReduce accepts the same window twice.
///
/// Constructors throw Error{refused}, with the same message on every rank, if a rank asks for something
/// impossible, or if ranks disagree on the kind, name, count, root, operation, algorithm, windows or type
/// of the elements. Types that are not arithmetic are compared by size alone.
///
/// docs/design.md describes the algorithms that CollOptions::algorithm may name; Collective::explain lists
/// those that a collective can use.
///
/// Every rank gets the same bits from a reduction, and so does another run of the same algorithm with the
/// same values. The value of the lower rank is on the left of the operation, except in "ring". How values are
/// combined depends on the algorithm:
///   - flat, reduce_scatter_allgather, flat_to_leaders and the kernels begin with rank 0 and add one rank
///     after the other.
///   - hierarchical, two_level and multi_lane add up each sub-cluster in this way, and then one sub-cluster
///     after the other.
///   - recursive_doubling combines neighbours, then neighbouring pairs, and so on, as a balanced tree.
///   - ring goes round once, from the rank after the one that owns the block. It is not available for an
///     operation of the program's own.
///
/// A NaN on any rank reaches every rank, through sums and products as well as through minima and maxima (see
/// ReduceOp). A loop `while (residual > tolerance)` therefore ends at a NaN: check with std::isfinite.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tca/raw/collective.hpp"
#include "tca/world.hpp"

namespace tca {

/// What all collectives share: `start`, `test`, `wait` and `run`, also on streams, and `explain`.
using Collective = raw::Collective;

/// Combines two values into one: a built-in ReduceOp, or a callable of the program's own. The callable must
/// be associative. It is called with the value of the lower rank on the left, and on the host only.
template <Element T>
class Operation {
 public:
  Operation(ReduceOp op) requires(std::is_arithmetic_v<T> &&
                                  !std::is_same_v<T, bool>)  // NOLINT: implicit, as is the next
      : untyped_(op) {}

  template <class F>
  requires std::is_invocable_r_v<T, F, T, T> Operation(F function)  // NOLINT
      : untyped_(combiner_of(std::move(function))) {}

  /// Returns the same without its type; see tca/raw.hpp.
  const raw::Operation& untyped() const { return untyped_; }

 private:
  // An empty std::function makes an empty Combiner, which collectives refuse.
  template <class F>
  static raw::Combiner combiner_of(F function) {
    if constexpr (requires { function == nullptr; }) {
      if (function == nullptr) return {};
    }
    return [function = std::move(function)](void* into, const void* left, const void* right,
                                            std::size_t count) mutable {
      T* const to = static_cast<T*>(into);
      const T *const a = static_cast<const T*>(left), *const b = static_cast<const T*>(right);
      for (std::size_t i = 0; i < count; ++i) to[i] = function(a[i], b[i]);
    };
  }

  raw::Operation untyped_;
};

/// `wait` returns once every rank has called `start`.
class Barrier : public Collective {
 public:
  explicit Barrier(World& world, std::string name = "barrier", CollOptions options = {})
      : Collective(
            world,
            {.kind = CollectiveKind::barrier, .name = std::move(name), .options = std::move(options)}) {}
};

/// The base of all collectives that move elements: the windows that they read and write.
template <Element T>
class CollectiveOf : public Collective {
 public:
  const Window<T>& from() const { return from_; }
  const Window<T>& to() const { return to_; }

 protected:
  CollectiveOf(World& world, raw::Request request)
      : Collective(world, std::move(request)), from_(Collective::from()), to_(Collective::to()) {}
  CollectiveOf(World& world, raw::Request request, const Window<T>& window)
      : Collective(world, std::move(request), window.untyped()), from_(window), to_(window) {}
  CollectiveOf(World& world, raw::Request request, const Window<T>& from, const Window<T>& to)
      : Collective(world, std::move(request), from.untyped(), to.untyped()), from_(from), to_(to) {}

  static raw::Request request(CollectiveKind kind, std::string name, Count count, CollOptions options) {
    return {.kind = kind,
            .name = std::move(name),
            .type = data_type_of<T>(),
            .element_bytes = sizeof(T),
            .count = count,
            .options = std::move(options)};
  }
  static raw::Request request(CollectiveKind kind, std::string name, Count count,
                              const Operation<T>& operation, CollOptions options) {
    raw::Request all = request(kind, std::move(name), count, std::move(options));
    all.operation = operation.untyped();
    return all;
  }

 private:
  Window<T> from_, to_;
};

/// Gives the root's `count` elements to every rank. from() and to() are the same window, of `count` elements.
template <Element T>
class Broadcast : public CollectiveOf<T> {
 public:
  Broadcast(World& world, std::string name, Count count, int root = 0, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, root, std::move(options))) {}

  Broadcast(World& world, std::string name, const Window<T>& window, Count count, int root = 0,
            CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, root, std::move(options)), window) {}

 private:
  static raw::Request request(std::string name, Count count, int root, CollOptions options) {
    raw::Request all =
        CollectiveOf<T>::request(CollectiveKind::broadcast, std::move(name), count, std::move(options));
    all.root = root;
    return all;
  }
};

/// Gives a block of every rank to every rank: block r of the output is rank r's. From one window to another,
/// `from` has `count` elements and `to` has size() * count. In place, and with memory of its own, the window
/// has size() * count elements, and rank r writes its block in its final place, at element r * count.
template <Element T>
class AllGather : public CollectiveOf<T> {
  using Base = CollectiveOf<T>;
  static constexpr CollectiveKind kind = CollectiveKind::all_gather;

 public:
  AllGather(World& world, std::string name, Count count, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options))) {}

  AllGather(World& world, std::string name, const Window<T>& window, Count count, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options)), window) {}

  AllGather(World& world, std::string name, const Window<T>& from, const Window<T>& to, Count count,
            CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options)), from, to) {}
};

/// Combines the `count` elements of all ranks, element by element, and gives the result to every rank. `from`
/// and `to` have `count` elements each; in place, and with memory of its own, they are one window.
template <Element T>
class AllReduce : public CollectiveOf<T> {
  using Base = CollectiveOf<T>;
  static constexpr CollectiveKind kind = CollectiveKind::all_reduce;

 public:
  AllReduce(World& world, std::string name, Count count = 1, const Operation<T>& operation = ReduceOp::sum,
            CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options))),
        count_(static_cast<std::size_t>(count.value())) {}

  AllReduce(World& world, std::string name, const Window<T>& window, Count count,
            const Operation<T>& operation = ReduceOp::sum, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options)), window),
        count_(static_cast<std::size_t>(count.value())) {}

  AllReduce(World& world, std::string name, const Window<T>& from, const Window<T>& to, Count count,
            const Operation<T>& operation = ReduceOp::sum, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options)), from, to),
        count_(static_cast<std::size_t>(count.value())) {}

  /// Returns the combination of every rank's `mine`. This is a whole run, so it blocks and throws as `run`
  /// does. It also throws Error{invalid_argument} unless the collective was made for one element.
  [[nodiscard]] T reduce(T mine) {
    reduce_in_place(std::span<T>(&mine, 1));
    return mine;
  }

  /// Replaces `values`, as many as the collective was made for, by their combination over all ranks. Blocks
  /// and throws as `run` does; also throws Error{invalid_argument} for another number of values.
  void reduce_in_place(std::span<T> values) {
    if (values.size() != count_) this->fail_size(values.size(), count_);
    this->require_startable();
    if (this->on_host()) {
      std::ranges::copy(values, this->from().data());
      this->run();
      std::copy_n(this->to().data(), count_, values.data());
    } else {
      this->from().write(0, values);
      this->run();
      this->to().read(0, values);
    }
  }

 private:
  std::size_t count_;
};

/// Combines blocks: every rank has one for each rank, and rank r gets the combination of all blocks r. From
/// one window to another, and with memory of its own, `from` has size() * count elements and `to` has
/// `count`. In place the window has size() * count elements, and the result of rank r replaces its own block,
/// at element r * count.
template <Element T>
class ReduceScatter : public CollectiveOf<T> {
  using Base = CollectiveOf<T>;
  static constexpr CollectiveKind kind = CollectiveKind::reduce_scatter;

 public:
  ReduceScatter(World& world, std::string name, Count count, const Operation<T>& operation = ReduceOp::sum,
                CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options))) {}

  ReduceScatter(World& world, std::string name, const Window<T>& window, Count count,
                const Operation<T>& operation = ReduceOp::sum, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options)), window) {}

  ReduceScatter(World& world, std::string name, const Window<T>& from, const Window<T>& to, Count count,
                const Operation<T>& operation = ReduceOp::sum, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, operation, std::move(options)), from, to) {}
};

/// Exchanges blocks: block s of rank r becomes block r of rank s. `from` and `to` have size() * count
/// elements each. With memory of its own they are two windows, since working in place costs one more copy.
template <Element T>
class AllToAll : public CollectiveOf<T> {
  using Base = CollectiveOf<T>;
  static constexpr CollectiveKind kind = CollectiveKind::all_to_all;

 public:
  AllToAll(World& world, std::string name, Count count, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options))) {}

  AllToAll(World& world, std::string name, const Window<T>& window, Count count, CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options)), window) {}

  AllToAll(World& world, std::string name, const Window<T>& from, const Window<T>& to, Count count,
           CollOptions options = {})
      : Base(world, Base::request(kind, std::move(name), count, std::move(options)), from, to) {}
};

}  // namespace tca
