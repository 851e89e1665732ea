// OpenTCA's collectives as contenders, through the public interface.
#include <vector>

#include "coll_values.hpp"
#include "tca/tca.hpp"

namespace tca::bench {

namespace {

template <class T>
class ChainColl final : public Coll {
 public:
  ChainColl(World& world, const CollTask& task)
      : values_(world, task), from_(world.window<T>(values_.in())), to_(world.window<T>(values_.out())) {
    const CollOptions options{.algorithm = task.algorithm, .channel = task.channel};
    const std::size_t count = values_.count();
    if (task.what == "barrier") {
      add(Barrier(world, task.what, options));
    } else if (task.what == "bcast") {
      add(Broadcast<T>(world, "first", from_, count, 0, options));
      add(Broadcast<T>(world, "last", to_, count, world.size() - 1, options));
      collectives_a_run = 2;
    } else if (task.what == "allgather") {
      add(AllGather<T>(world, task.what, from_, to_, count, options));
    } else if (task.what == "alltoall") {
      add(AllToAll<T>(world, task.what, from_, to_, count, options));
    } else if (task.what == "allreduce") {
      add(AllReduce<T>(world, task.what, from_, to_, count, ReduceOp::sum, options));
    } else {
      add(ReduceScatter<T>(world, task.what, from_, to_, count, ReduceOp::sum, options));
    }
    fabric = task.fabric;
    protocol = collectives_.front().algorithm();
  }

  void run() override {
    values_.fill(std::as_writable_bytes(from_.elements()), std::as_writable_bytes(to_.elements()));
    for (Collective& collective : collectives_) collective.run();
    values_.read(std::as_bytes(from_.elements()), std::as_bytes(to_.elements()));
  }

  bool right(World& world) override {
    run();
    return values_.right(world, std::as_bytes(from_.elements()), std::as_bytes(to_.elements()));
  }

 private:
  void add(Collective collective) { collectives_.push_back(std::move(collective)); }

  CollValues values_;
  Window<T> from_, to_;
  std::vector<Collective> collectives_;
};

}  // namespace

std::unique_ptr<Coll> chain_coll(World& world, const CollTask& task) {
  if (task.what == "allreduce" || task.what == "reduce_scatter")
    return std::make_unique<ChainColl<double>>(world, task);
  return std::make_unique<ChainColl<unsigned char>>(world, task);
}

}  // namespace tca::bench
