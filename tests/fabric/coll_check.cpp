#include "coll_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <limits>
#include <sstream>
#include <thread>

namespace tca::test {

namespace {

// Returns small integers for integral types, so that no product of nine of them overflows, and for floating
// point, values whose sum depends on the order of addition.
template <class T>
T value(int step, int rank, std::int64_t i) {
  const auto mixed =
      static_cast<std::uint32_t>(step * 7919 + rank * 104729 + static_cast<int>(i % 1000003) * 31);
  const std::uint32_t hash = mixed * 2654435761U >> 16;
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(hash % 7) - 3;
  } else {
    return static_cast<T>(hash % 2 == 0 ? 1 : -1) / static_cast<T>(hash % 1000 + 3);
  }
}

// Returns values of which one rank's, each in turn, is a NaN, an infinity, or a zero of another sign than the
// other ranks' zeros.
template <class T>
T extreme(int ranks, int step, int rank, std::int64_t i) {
  using Limits = std::numeric_limits<T>;
  constexpr T tiny = static_cast<T>(1e-9);
  constexpr T special[]{-Limits::quiet_NaN(), -T{0}, Limits::infinity(), T{0}, -Limits::infinity()};
  constexpr T others[]{tiny, T{0}, tiny, -T{0}, tiny};
  const std::int64_t at = i + step, turn = at / ranks % std::ssize(special);
  if (rank == at % ranks) return special[turn];
  return rank % 3 == 0 ? std::copysign(T{1}, others[turn]) : others[turn];
}

// `is_first` tells which of two numbers the operation takes, if they differ. Of two zeros it takes the
// negative one or the other.
template <class T, class IsFirst>
T extreme_of(T a, T b, IsFirst is_first, bool takes_negative_zero) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
    if (a == b) return std::signbit(a) == takes_negative_zero ? a : b;
  }
  return is_first(a, b) ? a : b;
}

template <class T>
T apply(ReduceOp op, T a, T b) {
  switch (op) {
    case ReduceOp::sum:
      return a + b;
    case ReduceOp::min:
      return extreme_of(a, b, std::less(), true);
    case ReduceOp::max:
      return extreme_of(a, b, std::greater(), false);
    case ReduceOp::product:
      return a * b;
  }
  return T{};
}

// The documented orders of reduction:
// - from_the_left: rank by rank
// - by_sub_cluster: within each sub-cluster first, then the partial results, each from the left
// - tree: a tree of neighbours
// - ring: once round the ring, beginning with the rank after the owner
enum class Order { from_the_left, by_sub_cluster, tree, ring };

Order order_of(const std::string& algorithm) {
  if (algorithm == "hierarchical" || algorithm == "two_level" || algorithm == "multi_lane")
    return Order::by_sub_cluster;
  if (algorithm == "recursive_doubling") return Order::tree;
  return algorithm == "ring" ? Order::ring : Order::from_the_left;
}

// Reduces one element. `terms` has one term per rank and is overwritten: this runs for millions of elements,
// so it allocates nothing.
template <class T>
T reduced(ReduceOp op, Order order, std::vector<T>& terms, int owner, const std::vector<int>& sub_clusters) {
  std::size_t left = terms.size();
  if (order == Order::by_sub_cluster) {
    // Sub-clusters are numbered in the order of their first ranks.
    left = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      const auto cluster = static_cast<std::size_t>(sub_clusters[i]);
      if (cluster == left)
        terms[left++] = terms[i];
      else
        terms[cluster] = apply(op, terms[cluster], terms[i]);
    }
  } else if (order == Order::ring) {
    std::rotate(terms.begin(), terms.begin() + (owner + 1) % static_cast<int>(left), terms.end());
  } else if (order == Order::tree) {
    const std::size_t extra = left - std::bit_floor(left);
    for (std::size_t i = 0; i < extra; ++i) terms[i] = apply(op, terms[2 * i], terms[2 * i + 1]);
    std::copy(terms.begin() + static_cast<std::ptrdiff_t>(2 * extra), terms.end(),
              terms.begin() + static_cast<std::ptrdiff_t>(extra));
    left -= extra;
    for (; left > 1; left /= 2)
      for (std::size_t i = 0; i < left / 2; ++i) terms[i] = apply(op, terms[2 * i], terms[2 * i + 1]);
  }
  T result = terms[0];
  for (std::size_t i = 1; i < left; ++i) result = apply(op, result, terms[i]);
  return result;
}

// Checks that the collective uses the requested algorithm, not another one that gives the same result.
void require_algorithm(const Collective& collective, const CollCase& test) {
  require(test.algorithm.empty() || collective.algorithm() == test.algorithm, "it goes by '{}', not by '{}'",
          collective.algorithm(), test.algorithm);
}

void run_one(Collective& collective, const CollCase& test) {
  if (test.run) return test.run(collective);
  collective.start();
  if (test.by_test) {
    while (!collective.test()) std::this_thread::yield();
  } else {
    collective.wait();
  }
}

template <class T>
class Check {
 public:
  Check(World& world, const CollCase& test)
      : world_(world),
        test_(test),
        ranks_(world.size()),
        sub_clusters_(world.sub_cluster_of_ranks()),
        terms_(sub_clusters_.size()),
        from_(world.window<T>(blocks_in() * test.count)),
        to_(test.in_place ? from_ : world.window<T>(blocks_out() * test.count)) {}

  void run() {
    const CollOptions options{.algorithm = test_.algorithm};
    const Operation<T> op = operation();
    const auto n = test_.count;
    switch (test_.kind) {
      case CollectiveKind::barrier:
        return;
      case CollectiveKind::broadcast:
        return steps(Broadcast<T>(world_, "b", from_, n, test_.root, options));
      case CollectiveKind::all_gather:
        return test_.in_place ? steps(AllGather<T>(world_, "g", from_, n, options))
                              : steps(AllGather<T>(world_, "g", from_, to_, n, options));
      case CollectiveKind::all_reduce:
        return test_.in_place ? steps(AllReduce<T>(world_, "r", from_, n, op, options))
                              : steps(AllReduce<T>(world_, "r", from_, to_, n, op, options));
      case CollectiveKind::reduce_scatter:
        return test_.in_place ? steps(ReduceScatter<T>(world_, "s", from_, n, op, options))
                              : steps(ReduceScatter<T>(world_, "s", from_, to_, n, op, options));
      case CollectiveKind::all_to_all:
        return test_.in_place ? steps(AllToAll<T>(world_, "a", from_, n, options))
                              : steps(AllToAll<T>(world_, "a", from_, to_, n, options));
    }
  }

 private:
  bool is(CollectiveKind kind) const { return test_.kind == kind; }
  int blocks_in() const {
    if (is(CollectiveKind::all_to_all) || is(CollectiveKind::reduce_scatter)) return ranks_;
    return is(CollectiveKind::all_gather) && test_.in_place ? ranks_ : 1;
  }
  int blocks_out() const {
    return is(CollectiveKind::all_to_all) || is(CollectiveKind::all_gather) ? ranks_ : 1;
  }

  Operation<T> operation() const {
    if (!test_.own_operation) return test_.op;
    return [op = test_.op](T a, T b) { return apply(op, a, b); };
  }

  // Returns element i of the rank's input. In a broadcast, the ranks other than the root begin with values
  // that must be overwritten.
  T input(int step, int rank, std::int64_t i) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (test_.op == ReduceOp::min || test_.op == ReduceOp::max) return extreme<T>(ranks_, step, rank, i);
    }
    return value<T>(step, rank, i);
  }

  std::int64_t input_first() const {
    return is(CollectiveKind::all_gather) && test_.in_place ? world_.rank() * test_.count : 0;
  }
  std::int64_t input_size() const {
    return (is(CollectiveKind::all_to_all) || is(CollectiveKind::reduce_scatter) ? ranks_ : 1) * test_.count;
  }

  T expected(Order order, int step, std::int64_t i) {
    const std::int64_t n = test_.count, block = i / n, within = i % n;
    const int me = world_.rank();
    switch (test_.kind) {
      case CollectiveKind::broadcast:
        return input(step, test_.root, i);
      case CollectiveKind::all_gather:
        return input(step, static_cast<int>(block), within);
      case CollectiveKind::all_to_all:
        return input(step, static_cast<int>(block), me * n + within);
      default:
        break;
    }
    const bool scatters = is(CollectiveKind::reduce_scatter);
    for (int rank = 0; rank < ranks_; ++rank)
      terms_[static_cast<std::size_t>(rank)] = input(step, rank, scatters ? me * n + within : i);
    return reduced(test_.op, order, terms_, scatters ? me : owner(i), sub_clusters_);
  }

  // Returns the rank that owns element i when an allreduce is cut into one part per rank. The first parts are
  // the larger ones.
  int owner(std::int64_t i) const {
    const std::int64_t each = test_.count / ranks_, more = test_.count % ranks_;
    const std::int64_t rank = i < more * (each + 1) ? i / (each + 1) : more + (i - more * (each + 1)) / each;
    return static_cast<int>(rank);
  }

  void steps(Collective collective) {
    require_algorithm(collective, test_);
    const Order order = order_of(collective.algorithm());
    const std::int64_t n = test_.count;
    const bool own_block = is(CollectiveKind::reduce_scatter) && test_.in_place;
    const std::int64_t out_first = own_block ? world_.rank() * n : 0, out_size = blocks_out() * n;
    for (int step = 1; step <= test_.steps; ++step) {
      std::vector<T> data(static_cast<std::size_t>(input_size()));
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = input(step, world_.rank(), static_cast<std::int64_t>(i));
      from_.write(input_first(), data);
      run_one(collective, test_);
      std::vector<T> result(static_cast<std::size_t>(out_size));
      to_.read(out_first, result);
      for (std::int64_t i = 0; i < out_size; ++i) {
        const T want = expected(order, step, i), have = result[static_cast<std::size_t>(i)];
        require(std::memcmp(&want, &have, sizeof(T)) == 0, "step {}, {}, rank {}: element {} is {}, not {}",
                step, collective.algorithm(), world_.rank(), i, have, want);
      }
    }
  }

  World& world_;
  const CollCase& test_;
  int ranks_;
  std::vector<int> sub_clusters_;
  std::vector<T> terms_;  // of the element being checked
  Window<T> from_, to_;
};

// Checks that no rank leaves before the last one has come. It compares readings of the steady clock, which
// all ranks of a host share.
void check_barrier(World& world, const CollCase& test) {
  Barrier barrier(world, "b", {.algorithm = test.algorithm});
  require_algorithm(barrier, test);
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };
  for (int step = 1; step <= test.steps; ++step) {
    struct Times {
      std::int64_t came, left;
    } mine{now(), 0};
    run_one(barrier, test);
    mine.left = now();
    const std::vector<Times> all = world.all_gather(mine);
    for (std::size_t rank = 0; rank < all.size(); ++rank)
      require(all[rank].came <= mine.left, "step {}: rank {} left before rank {} came", step, world.rank(),
              rank);
  }
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const CollCase& test) {
  constexpr const char* kinds[]{"barrier",   "broadcast",      "allgather",
                                "allreduce", "reduce-scatter", "all-to-all"};
  constexpr const char* ops[]{"sum", "min", "max", "product"};
  return out << kinds[static_cast<int>(test.kind)] << " of " << test.count << ' ' << test.type << " by '"
             << test.algorithm << "', root " << test.root << (test.in_place ? ", in place, " : ", ")
             << (test.own_operation ? "own " : "") << ops[static_cast<int>(test.op)]
             << (test.by_test ? ", by test()" : "");
}

std::vector<std::string> coll_algorithms(CollectiveKind kind, int ranks, bool own_operation) {
  std::vector<std::string> all{"", "flat"};
  if (ranks == 1) return all;
  const bool even = std::has_single_bit(static_cast<unsigned>(ranks));
  const auto add = [&](std::initializer_list<std::string> names) { all.insert(all.end(), names); };
  switch (kind) {
    case CollectiveKind::barrier:
      add({"dissemination"});
      break;
    case CollectiveKind::broadcast:
      add({"binomial", "scatter_allgather", "ring"});
      break;
    case CollectiveKind::all_gather:
      add({"dissemination", "ring"});
      if (even) add({"recursive_doubling"});
      break;
    case CollectiveKind::all_reduce:
      add({"recursive_doubling", "reduce_scatter_allgather"});
      if (!own_operation) add({"ring"});
      break;
    case CollectiveKind::reduce_scatter:
      if (!own_operation) add({"ring"});
      break;
    case CollectiveKind::all_to_all:
      add({"pairwise"});
      break;
  }
  return all;
}

Mismatch named(const CollCase& test, const std::exception& error) {
  std::ostringstream text;
  text << test << ": " << error.what();
  return Mismatch(text.str());
}

void check_collective(World& world, const CollCase& test) {
  if (test.kind == CollectiveKind::barrier) return check_barrier(world, test);
  if (test.type == "float") return Check<float>(world, test).run();
  if (test.type == "double") return Check<double>(world, test).run();
  if (test.type == "int") return Check<std::int32_t>(world, test).run();
  return Check<std::int64_t>(world, test).run();
}

}  // namespace tca::test
