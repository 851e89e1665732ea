// The exchange by MPI, for comparison. No other file of the solver calls MPI.
#include "himeno/exchange.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <utility>
#include <vector>

#include "shared/mpi_session.hpp"

namespace tca::himeno {

namespace {

// The MPI datatype of a box in a rank's array.
class BoxType {
 public:
  BoxType(const Share& share, const Box& box) {
    std::array<int, 3> extents{};
    std::array<int, 3> size{};
    std::array<int, 3> start{};
    for (std::size_t d = 0; d < 3; ++d) {
      extents[d] = static_cast<int>(extents_of(share)[d]);
      size[d] = static_cast<int>(box.end[d] - box.begin[d]);
      start[d] = static_cast<int>(box.begin[d]);
    }
    MPI_Type_create_subarray(3, extents.data(), size.data(), start.data(), MPI_ORDER_C, MPI_FLOAT, &type_);
    MPI_Type_commit(&type_);
  }
  BoxType(BoxType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  BoxType& operator=(BoxType&&) = delete;
  ~BoxType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

class MpiExchange : public Exchange {
 public:
  MpiExchange(World& world, const Grid& grid, const Share& share, const Pressure& pressure)
      : session_(world) {
    for (const Grid::Coordinates& step : directions()) {
      const auto neighbour = grid.neighbour(world.rank(), step);
      if (neighbour) connect(*neighbour, step, share, pressure);
    }
  }
  ~MpiExchange() override {
    for (auto& requests : requests_) {
      for (MPI_Request& request : requests) MPI_Request_free(&request);
    }
  }

  void start(int which) override {
    auto& requests = requests_[static_cast<std::size_t>(which)];
    if (requests.empty()) return;  // one rank: MPI would need an array even then
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
  }

  void wait(int which) override {
    auto& requests = requests_[static_cast<std::size_t>(which)];
    if (requests.empty()) return;  // as above
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  double sum(double mine) override {
    double all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  std::int64_t bytes() const override { return bytes_; }
  std::string explain() const override {
    return "persistent requests, a derived datatype for each neighbour";
  }

 private:
  // The tag of a message is the direction in which it travels.
  void connect(int neighbour, const Grid::Coordinates& step, const Share& share, const Pressure& pressure) {
    const auto tag = [](int i, int j, int k) { return (i + 1) * 9 + (j + 1) * 3 + k + 1; };
    const MPI_Datatype sent = types_.emplace_back(share, slice(share, step, false)).type();
    const MPI_Datatype received = types_.emplace_back(share, slice(share, step, true)).type();
    int size = 0;
    MPI_Type_size(sent, &size);
    bytes_ += size;
    for (std::size_t which = 0; which < 2; ++which) {
      float* const array = pressure[which].data();
      MPI_Request& receive = requests_[which].emplace_back();
      MPI_Recv_init(array, 1, received, neighbour, tag(-step[0], -step[1], -step[2]), MPI_COMM_WORLD,
                    &receive);
      MPI_Request& send = requests_[which].emplace_back();
      MPI_Send_init(array, 1, sent, neighbour, tag(step[0], step[1], step[2]), MPI_COMM_WORLD, &send);
    }
  }

  apps::MpiSession session_;
  std::vector<BoxType> types_;
  std::array<std::vector<MPI_Request>, 2> requests_;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<Exchange> mpi_exchange(World& world, const Grid& grid, const Share& share,
                                       const Pressure& pressure) {
  return std::make_unique<MpiExchange>(world, grid, share, pressure);
}

}  // namespace tca::himeno

#else

namespace tca::himeno {

std::unique_ptr<Exchange> mpi_exchange(World&, const Grid&, const Share&, const Pressure&) { return nullptr; }

}  // namespace tca::himeno

#endif
