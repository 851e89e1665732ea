// OpenTCA's collectives as contenders, ordered on a stream.
#include "gpu/started.hpp"
#include "tca/tca.hpp"

namespace tca::bench::gpu {

namespace {

class CollSums final : public Started<Sums> {
 public:
  CollSums(World& world, std::size_t values, const std::string& algorithm, const Way& way)
      : Started(way, values), sums_(world, "sums", values, ReduceOp::sum, {.algorithm = algorithm}) {
    protocol = sums_.algorithm();
  }
  double* result(int) override { return sums_.to().data(); }

 private:
  void on_stream(cudaStream_t stream) override { sums_.run(stream); }

  AllReduce<double> sums_;
};

template <class T>
class CollBlocks final : public Started<Blocks> {
 public:
  CollBlocks(World& world, const CollTask& task, const Way& way)
      : Started(way, world, task), from_(world.window<T>(values.in())), to_(world.window<T>(values.out())) {
    const CollOptions options{.algorithm = task.algorithm};
    const std::size_t count = values.count();
    if (what == "barrier") {
      add(Barrier(world, what, options));
    } else if (what == "bcast") {
      add(Broadcast<T>(world, "first", from_, count, 0, options));
      add(Broadcast<T>(world, "last", to_, count, world.size() - 1, options));
    } else if (what == "allgather") {
      add(AllGather<T>(world, what, from_, to_, count, options));
    } else if (what == "alltoall") {
      add(AllToAll<T>(world, what, from_, to_, count, options));
    } else {
      add(ReduceScatter<T>(world, what, from_, to_, count, ReduceOp::sum, options));
    }
    in = reinterpret_cast<std::byte*>(from_.data());
    out = reinterpret_cast<std::byte*>(to_.data());
    protocol = collectives_.front().algorithm();
  }

 private:
  void add(Collective collective) { collectives_.push_back(std::move(collective)); }
  void on_stream(cudaStream_t stream) override {
    write(stream);
    for (Collective& collective : collectives_) collective.run(stream);
    read(stream);
  }

  Window<T> from_, to_;
  std::vector<Collective> collectives_;
};

}  // namespace

std::unique_ptr<Contender> coll_sums(World& world, std::size_t count, const std::string& algorithm,
                                     const Way& way) {
  return std::make_unique<CollSums>(world, count, algorithm, way);
}

std::unique_ptr<Contender> coll_blocks(World& world, const CollTask& task, const Way& way) {
  if (task.what == "reduce_scatter") return std::make_unique<CollBlocks<double>>(world, task, way);
  return std::make_unique<CollBlocks<unsigned char>>(world, task, way);
}

}  // namespace tca::bench::gpu
