// MPI's blocking collectives, used as its documentation shows.
#include "contender.hpp"

#ifdef OPENTCA_HAVE_MPI
#include <mpi.h>

#include <functional>
#include <vector>

#include "coll_values.hpp"
#endif

namespace tca::bench {

#ifdef OPENTCA_HAVE_MPI

namespace {

class MpiColl final : public Coll {
 public:
  MpiColl(World& world, const CollTask& task)
      : values_(world, task),
        from_(values_.in() * values_.element_bytes()),
        to_(values_.out() * values_.element_bytes()) {
    fabric = "mpi";
    protocol = task.what;
    peer = "mpi";
    if (task.what == "bcast") collectives_a_run = 2;
    const int count = static_cast<int>(values_.count()), last = world.size() - 1;
    void *from = from_.data(), *to = to_.data();
    const MPI_Comm all = MPI_COMM_WORLD;
    if (task.what == "barrier") {
      call_ = [=] { MPI_Barrier(all); };
    } else if (task.what == "bcast") {
      call_ = [=] {
        MPI_Bcast(from, count, MPI_BYTE, 0, all);
        MPI_Bcast(to, count, MPI_BYTE, last, all);
      };
    } else if (task.what == "allgather") {
      call_ = [=] { MPI_Allgather(from, count, MPI_BYTE, to, count, MPI_BYTE, all); };
    } else if (task.what == "alltoall") {
      call_ = [=] { MPI_Alltoall(from, count, MPI_BYTE, to, count, MPI_BYTE, all); };
    } else if (task.what == "allreduce") {
      call_ = [=] { MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, all); };
    } else {
      call_ = [=] { MPI_Reduce_scatter_block(from, to, count, MPI_DOUBLE, MPI_SUM, all); };
    }
  }

  void run() override {
    values_.fill(from_, to_);
    call_();
    values_.read(from_, to_);
  }
  bool right(World& world) override {
    run();
    return values_.right(world, from_, to_);
  }

 private:
  CollValues values_;
  std::vector<std::byte> from_, to_;
  std::function<void()> call_;
};

}  // namespace

std::unique_ptr<Coll> mpi_coll(World& world, const CollTask& task) {
  return std::make_unique<MpiColl>(world, task);
}

#else

std::unique_ptr<Coll> mpi_coll(World&, const CollTask&) { return nullptr; }

#endif

}  // namespace tca::bench
