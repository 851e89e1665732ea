// Collectives among all ranks, set up once and run as often as needed:
//
//   tca::Broadcast<double> weights(world, "weights", n, root);   // in memory of its own: weights.to().data()
//   tca::AllReduce<double> residual(world, "residual");
//   tca::AllGather<float> gather(world, "rows", rows, n);        // in a window that is there
//   weights.start();
//   ...                                                          // overlaps
//   weights.wait();
//   double sum = residual(mine);
//
// All constructors are collective. A block is `count` elements; buffers begin at the first element of their windows,
// which may be longer than they must. Each class has up to three constructors: with memory of its own (from() and to()
// name it), in place in a window of the caller's, and from one window to another, which do not overlap (AllReduce may
// have the same one twice). With memory of their own Broadcast, AllGather and AllReduce are in place: from() and to()
// are one window. ReduceScatter and AllToAll have two there. Throw Error{refused}, on every rank alike, when ranks
// disagree on kind, name, count, root, operation, algorithm, type of the elements (where it is not an arithmetic one:
// their size) or on the windows, or one of them asks for what cannot be.
//
// The algorithms, for CollOptions::algorithm, are told in docs/design.md; Collective::explain lists those that there
// are for a collective.
//
// Reductions are deterministic: every rank gets the same bits, and a run with the same values gets them again. Values are
// combined in the order of ranks, the lower one on the left. one_shot and split begin with rank 0 and add one rank after
// the other, as do all_to_leaders and the kernels; leaders, two_shots and counterparts add up each sub-cluster in this way, and
// then one sub-cluster after the other; recursive_doubling combines neighbours, then neighbours of pairs, and so on, as a
// balanced tree; ring (never chosen for an operation of the program's own) goes round once, from the rank after the one that
// owns the block.
#pragma once

#include <cstring>

#include "tca/collective.hpp"

namespace tca {

// `wait` returns when every rank has come to `start`.
class Barrier : public Collective {
 public:
  explicit Barrier(World& world, std::string name = "barrier", CollOptions options = {});
};

// What all others share: where they take from and where they put to.
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

  static Window<T> own(World& world, Count count, int blocks) {
    return world.window<T>(coll::elements_of(count, blocks, sizeof(T)));
  }

 private:
  Window<T> from_, to_;
};

// The root's `count` elements to everyone, in the same place: from() and to() are always one window, of `count` elements.
template <Element T>
class Broadcast : public CollectiveOf<T> {
 public:
  Broadcast(World& world, std::string name, Count count, int root = 0, CollOptions options = {})
      : Broadcast(world, std::move(name), Broadcast::own(world, count, 1), count, root, std::move(options)) {}

  Broadcast(World& world, std::string name, Window<T> window, Count count, int root = 0,
            CollOptions options = {})
      : CollectiveOf<T>(
            world, {coll::Kind::broadcast, std::move(name), count.value(), root, true, std::move(options)},
            window, window) {}
};

// A block of every rank to everyone: block r of the output is rank r's. From one window to another, `from` has `count`
// elements and `to` size() * count. In place, and with memory of its own, the window has size() * count, and a rank's
// block is put in where it comes out: that of rank r at element r * count.
template <Element T>
class AllGather : public CollectiveOf<T> {
 public:
  AllGather(World& world, std::string name, Count count, CollOptions options = {})
      : AllGather(world, std::move(name), AllGather::own(world, count, world.size()), count,
                  std::move(options)) {}

  AllGather(World& world, std::string name, Window<T> window, Count count, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window,
                        coll::elements_of(count, world.rank(), sizeof(T))) {}

  AllGather(World& world, std::string name, Window<T> from, Window<T> to, Count count,
            CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to)) {}

 private:
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {coll::Kind::all_gather, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

// `count` elements of every rank, combined element by element, to everyone. `from` and `to` have `count` elements each;
// in place, and with memory of its own, they are one window.
template <Element T>
class AllReduce : public CollectiveOf<T> {
 public:
  AllReduce(World& world, std::string name, Count count = 1, Operation<T> operation = Op::sum,
            CollOptions options = {})
      : AllReduce(world, std::move(name), AllReduce::own(world, count, 1), count, std::move(operation),
                  std::move(options)) {}

  AllReduce(World& world, std::string name, Window<T> window, Count count, Operation<T> operation = Op::sum,
            CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window, 0,
                        std::move(operation)),
        count_(static_cast<std::size_t>(count.value())) {}

  AllReduce(World& world, std::string name, Window<T> from, Window<T> to, Count count,
            Operation<T> operation = Op::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to), 0, std::move(operation)),
        count_(static_cast<std::size_t>(count.value())) {}

  using Collective::operator();

  // Blocking; replaces `values`, of which there are `count`, by the combination over all ranks.
  void operator()(std::span<T> values) {
    if (values.size() != count_) this->fail_size(values.size(), count_);
    this->require_startable();
    if (this->on_host()) {
      std::memcpy(this->from().data(), values.data(), values.size_bytes());
      (*this)();
      std::memcpy(values.data(), this->to().data(), values.size_bytes());
    } else {
      this->from().write(0, values);
      (*this)();
      this->to().read(0, values);
    }
  }

  T operator()(T value) {
    (*this)(std::span<T>(&value, 1));
    return value;
  }

 private:
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {coll::Kind::all_reduce, std::move(name), count.value(), 0, in_place, std::move(options)};
  }

  std::size_t count_;
};

// Every rank has a block for each rank; rank r gets the combination of all blocks r. From one window to another, and
// with memory of its own, `from` has size() * count elements and `to` has `count`. In place the window has size() *
// count, and the result comes where the rank's own block was, at element r * count.
template <Element T>
class ReduceScatter : public CollectiveOf<T> {
 public:
  ReduceScatter(World& world, std::string name, Count count, Operation<T> operation = Op::sum,
                CollOptions options = {})
      : ReduceScatter(world, std::move(name), ReduceScatter::own(world, count, world.size()),
                      ReduceScatter::own(world, count, 1), count, std::move(operation), std::move(options)) {}

  ReduceScatter(World& world, std::string name, Window<T> window, Count count,
                Operation<T> operation = Op::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window, 0,
                        std::move(operation)) {}

  ReduceScatter(World& world, std::string name, Window<T> from, Window<T> to, Count count,
                Operation<T> operation = Op::sum, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to), 0, std::move(operation)) {}

 private:
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {coll::Kind::reduce_scatter, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

// Block s of rank r becomes block r of rank s. `from` and `to` have size() * count elements each; with memory of its
// own they are two windows, since in place costs a copy more.
template <Element T>
class AllToAll : public CollectiveOf<T> {
 public:
  AllToAll(World& world, std::string name, Count count, CollOptions options = {})
      : AllToAll(world, std::move(name), AllToAll::own(world, count, world.size()),
                 AllToAll::own(world, count, world.size()), count, std::move(options)) {}

  AllToAll(World& world, std::string name, Window<T> window, Count count, CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, true, std::move(options)), window, window) {}

  AllToAll(World& world, std::string name, Window<T> from, Window<T> to, Count count,
           CollOptions options = {})
      : CollectiveOf<T>(world, request(std::move(name), count, false, std::move(options)), std::move(from),
                        std::move(to)) {}

 private:
  static coll::Request request(std::string name, Count count, bool in_place, CollOptions options) {
    return {coll::Kind::all_to_all, std::move(name), count.value(), 0, in_place, std::move(options)};
  }
};

}  // namespace tca
