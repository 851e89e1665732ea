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
///   - without a window: the collective has memory of its own, which from() and to() name. That of Broadcast,
///     AllGather and AllReduce is one window, that of ReduceScatter and AllToAll is two.
///   - with one window: the collective works in place.
///   - with two windows: it goes from the first to the second. They do not overlap, but AllReduce may be
///     given one window twice.
///
/// Constructors throw Error{refused}, with the same message on every rank, when a rank asks for what cannot
/// be, or when ranks disagree on the kind, name, count, root, operation, algorithm, windows or type of the
/// elements. Of types that are not arithmetic ones only the sizes are compared.
///
/// docs/design.md tells of the algorithms that CollOptions::algorithm names; Collective::explain lists those
/// that a collective has.
///
/// Every rank gets the same bits from a reduction, and so does another run with the same values. The value of
/// the lower rank is on the left of the operation, except in "ring". How values are combined depends on the
/// algorithm:
///   - flat, reduce_scatter_allgather, flat_to_leaders and the kernels begin with rank 0 and add one rank
///     after the other.
///   - hierarchical, two_level and multi_lane add up each sub-cluster in this way, and then one sub-cluster
///     after the other.
///   - recursive_doubling combines neighbours, then neighbouring pairs, and so on, as a balanced tree.
///   - ring goes round once, from the rank after the one that owns the block. It is never chosen for an
///     operation of the program's own.
///
/// A NaN of any rank reaches every rank, through sums and products as well as through minima and maxima (see
/// ReduceOp). So a loop that goes on `while (residual > tolerance)` ends at a NaN: tell it apart by std::isfinite.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tca/collective.hpp"
#include "tca/detail/api.hpp"
#include "tca/detail/collective.hpp"

namespace tca {

/// `wait` returns when every rank has come to `start`.
class TCA_API Barrier : public Collective {
 public:
  explicit Barrier(World& world, std::string name = "barrier", CollOptions options = {});
};

/// The part that all others share: the windows that they take from and put to.
template <Element T>
class CollectiveOf : public Collective {
 public:
  const Window<T>& from() const { return from_; }
  const Window<T>& to() const { return to_; }

 protected:
  CollectiveOf(World& world, coll::Request request, Window<T> from, Window<T> to, std::int64_t from_first = 0,
               std::optional<Operation<T>> operation = {})
      : Collective(world, std::move(request),
                   std::make_unique<coll::ElementsOf<T>>(from, to, from_first, std::move(operation))),
        from_(std::move(from)),
        to_(std::move(to)) {}

  /// Makes memory of its own, which messages call by the collective's name.
  static Window<T> own(World& world, Count count, int blocks, const char* part, CollectiveKind kind,
                       const std::string& name) {
    return coll::Memory::make<T>(world, coll::elements_of(count, blocks, sizeof(T)),
                                 coll::title_of(part, kind, name));
  }

 private:
  Window<T> from_, to_;
};

/// Gives the root's `count` elements to every rank. from() and to() are always one window, of `count`
/// elements.
template <Element T>
class Broadcast : public CollectiveOf<T> {
 public:
  Broadcast(World& world, std::string name, Count count, int root = 0, CollOptions options = {})
      : Broadcast(world, name, Broadcast::own(world, count, 1, "memory", CollectiveKind::broadcast, name),
                  count, root, std::move(options)) {}

  Broadcast(World& world, std::string name, Window<T> window, Count count, int root = 0,
            CollOptions options = {})
      : CollectiveOf<T>(
            world,
            {CollectiveKind::broadcast, std::move(name), count.value(), root, true, std::move(options)},
            window, window) {}
};

/// Gives a block of every rank to every rank: block r of the output is rank r's. From one window to another,
/// `from` has `count` elements and `to` has size() * count. In place, and with memory of its own, the window
/// has size() * count elements, and rank r writes its block where it comes out, at element r * count.
template <Element T>
class AllGather : public CollectiveOf<T> {
 public:
  AllGather(World& world, std::string name, Count count, CollOptions options = {})
      : AllGather(world, name,
                  AllGather::own(world, count, world.size(), "memory", CollectiveKind::all_gather, name),
                  count, std::move(options)) {}

  AllGather(World& world, std::string name, Window<T> window, Count count, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window,
                        coll::elements_of(count, world.rank(), sizeof(T))) {}

  AllGather(World& world, std::string name, Window<T> from, Window<T> to, Count count,
            CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to)) {}

 private:
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {CollectiveKind::all_gather, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

/// Combines the `count` elements of all ranks, element by element, and gives the result to every rank. `from`
/// and `to` have `count` elements each; in place, and with memory of its own, they are one window.
template <Element T>
class AllReduce : public CollectiveOf<T> {
 public:
  AllReduce(World& world, std::string name, Count count = 1, Operation<T> operation = ReduceOp::sum,
            CollOptions options = {})
      : AllReduce(world, name, AllReduce::own(world, count, 1, "memory", CollectiveKind::all_reduce, name),
                  count, std::move(operation), std::move(options)) {}

  AllReduce(World& world, std::string name, Window<T> window, Count count,
            Operation<T> operation = ReduceOp::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window, 0,
                        std::move(operation)),
        count_(static_cast<std::size_t>(count.value())) {}

  AllReduce(World& world, std::string name, Window<T> from, Window<T> to, Count count,
            Operation<T> operation = ReduceOp::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to), 0, std::move(operation)),
        count_(static_cast<std::size_t>(count.value())) {}

  /// Returns the combination of every rank's `mine`. It is a whole run, and so blocks and throws as `run`
  /// does; besides, Error{invalid_argument} unless the collective was made for one element.
  [[nodiscard]] T reduce(T mine) {
    reduce_in_place(std::span<T>(&mine, 1));
    return mine;
  }

  /// Replaces `values`, as many as the collective was made for, by their combination over all ranks. Blocks
  /// and throws as `reduce` does.
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
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {CollectiveKind::all_reduce, std::move(name), count.value(), 0, in_place, std::move(options)};
  }

  std::size_t count_;
};

/// Combines blocks: every rank has one for each rank, and rank r gets the combination of all blocks r. From
/// one window to another, and with memory of its own, `from` has size() * count elements and `to` has
/// `count`. In place the window has size() * count elements, and the result of rank r replaces its own block,
/// at element r * count.
template <Element T>
class ReduceScatter : public CollectiveOf<T> {
 public:
  ReduceScatter(World& world, std::string name, Count count, Operation<T> operation = ReduceOp::sum,
                CollOptions options = {})
      : ReduceScatter(world, name, ReduceScatter::part(world, count, world.size(), "input", name),
                      ReduceScatter::part(world, count, 1, "output", name), count, std::move(operation),
                      std::move(options)) {}

  ReduceScatter(World& world, std::string name, Window<T> window, Count count,
                Operation<T> operation = ReduceOp::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window, 0,
                        std::move(operation)) {}

  ReduceScatter(World& world, std::string name, Window<T> from, Window<T> to, Count count,
                Operation<T> operation = ReduceOp::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to), 0, std::move(operation)) {}

 private:
  static Window<T> part(World& world, Count count, int blocks, const char* which, const std::string& name) {
    return ReduceScatter::own(world, count, blocks, which, CollectiveKind::reduce_scatter, name);
  }
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {CollectiveKind::reduce_scatter, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

/// Exchanges blocks: block s of rank r becomes block r of rank s. `from` and `to` have size() * count
/// elements each. With memory of its own they are two windows, since working in place costs one more copy.
template <Element T>
class AllToAll : public CollectiveOf<T> {
 public:
  AllToAll(World& world, std::string name, Count count, CollOptions options = {})
      : AllToAll(world, name, AllToAll::part(world, count, "input", name),
                 AllToAll::part(world, count, "output", name), count, std::move(options)) {}

  AllToAll(World& world, std::string name, Window<T> window, Count count, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window) {}

  AllToAll(World& world, std::string name, Window<T> from, Window<T> to, Count count,
           CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to)) {}

 private:
  static Window<T> part(World& world, Count count, const char* which, const std::string& name) {
    return AllToAll::own(world, count, world.size(), which, CollectiveKind::all_to_all, name);
  }
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {CollectiveKind::all_to_all, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

}  // namespace tca
