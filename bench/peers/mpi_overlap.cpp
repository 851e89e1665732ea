// MPI's persistent requests; an application computes between their start and their wait.
#include "contender.hpp"

#ifdef OPENTCA_HAVE_MPI
#include <mpi.h>

#include <vector>
#endif

namespace tca::bench {

#ifdef OPENTCA_HAVE_MPI

namespace {

class MpiOverlap final : public Overlap {
 public:
  MpiOverlap(const World& world, const OverlapTask& task) : sent_(task.bytes), arrived_(task.bytes) {
    fabric = "mpi";
    protocol = "persistent";
    peer = "mpi";
    progress = task.progress;
    bytes = task.bytes;
    const int left = (world.rank() + world.size() - 1) % world.size(),
              right = (world.rank() + 1) % world.size();
    const int count = static_cast<int>(task.bytes);
    MPI_Recv_init(arrived_.data(), count, MPI_BYTE, left, 3, MPI_COMM_WORLD, &requests_[0]);
    MPI_Send_init(sent_.data(), count, MPI_BYTE, right, 3, MPI_COMM_WORLD, &requests_[1]);
  }

  ~MpiOverlap() override {
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }

  void start() override { MPI_Startall(2, requests_); }
  void point() override {
    int all_done = 0;
    MPI_Testall(2, requests_, &all_done, MPI_STATUSES_IGNORE);
  }
  void wait() override { MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE); }
  std::byte* sent() override { return sent_.data(); }
  const std::byte* arrived() const override { return arrived_.data(); }

 private:
  std::vector<std::byte> sent_, arrived_;
  MPI_Request requests_[2];
};

}  // namespace

std::unique_ptr<Overlap> mpi_overlap(World& world, const OverlapTask& task) {
  return std::make_unique<MpiOverlap>(world, task);
}

#else

std::unique_ptr<Overlap> mpi_overlap(World&, const OverlapTask&) { return nullptr; }

#endif

}  // namespace tca::bench
