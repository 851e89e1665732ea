// The exchange by MPI, for comparison. No other file of the solver calls MPI.
#include "spin/exchange.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <utility>
#include <vector>

#include "shared/mpi_session.hpp"

namespace tca::spin {

namespace {

// The MPI datatype of a layer of cells, in all fields of a colour.
class LayerType {
 public:
  // The layer lies at `at` along a dimension; -1 is the ghosts below.
  LayerType(const Extents& cells, std::size_t dim, std::int64_t at, int fields, MPI_Datatype element) {
    std::array<int, 3> extents{}, size{}, start{};
    for (std::size_t d = 0; d < 3; ++d) {
      extents[d] = static_cast<int>(cells[d] + 2);
      size[d] = d == dim ? 1 : static_cast<int>(cells[d]);
      start[d] = d == dim ? static_cast<int>(at + 1) : 1;
    }
    MPI_Datatype layer = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(3, extents.data(), size.data(), start.data(), MPI_ORDER_C, element, &layer);
    MPI_Type_contiguous(fields, layer, &type_);  // a subarray's extent is the whole field
    MPI_Type_commit(&type_);
    MPI_Type_free(&layer);
  }
  LayerType(LayerType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  LayerType& operator=(LayerType&&) = delete;
  ~LayerType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

template <class Real>
class MpiExchange : public Exchange {
 public:
  MpiExchange(World& world, const Lattice<Real>& lattice) : session_(world) {
    for (int dim = 0; dim < 3; ++dim) {
      for (const int side : {-1, 1}) {
        Grid::Coordinates step{};
        step[static_cast<std::size_t>(dim)] = side;
        if (const auto neighbour = lattice.share().grid().neighbour(world.rank(), step))
          connect(lattice, dim, side, *neighbour);
      }
    }
  }
  ~MpiExchange() override {
    for (auto& requests : requests_) {
      for (MPI_Request& request : requests) MPI_Request_free(&request);
    }
  }

  void start(int colour) override {
    auto& requests = requests_[static_cast<std::size_t>(colour)];
    if (requests.empty()) return;  // one rank: MPI would need an array even then
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
  }
  void wait(int colour) override {
    auto& requests = requests_[static_cast<std::size_t>(colour)];
    if (requests.empty()) return;  // as above
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
  void add_up(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
  }

  std::int64_t bytes() const override { return bytes_; }
  std::string explain() const override {
    return "persistent requests, a derived datatype for each neighbour";
  }

 private:
  // The tag of a message is the direction in which it travels.
  void connect(const Lattice<Real>& lattice, int dim, int side, int neighbour) {
    const MPI_Datatype element = sizeof(Real) == sizeof(float) ? MPI_FLOAT : MPI_DOUBLE;
    const auto tag = [dim](int direction) { return 3 * (direction + 1) + dim; };
    const auto d = static_cast<std::size_t>(dim);
    const std::int64_t last = lattice.share().cells()[d] - 1;
    const auto type = [&](std::int64_t at) {
      return types_.emplace_back(lattice.share().cells(), d, at, lattice.share().fields(), element).type();
    };
    const MPI_Datatype sent = type(side < 0 ? 0 : last), received = type(side < 0 ? -1 : last + 1);
    int size = 0;
    MPI_Type_size(sent, &size);
    bytes_ += size;
    for (int colour = 0; colour < 2; ++colour) {
      Real* const spins = lattice.spins(colour).data();
      auto& requests = requests_[static_cast<std::size_t>(colour)];
      MPI_Recv_init(spins, 1, received, neighbour, tag(-side), MPI_COMM_WORLD, &requests.emplace_back());
      MPI_Send_init(spins, 1, sent, neighbour, tag(side), MPI_COMM_WORLD, &requests.emplace_back());
    }
  }

  apps::MpiSession session_;
  std::vector<LayerType> types_;
  std::array<std::vector<MPI_Request>, 2> requests_;
  std::int64_t bytes_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<Exchange> mpi_exchange(World& world, const Lattice<Real>& lattice) {
  return std::make_unique<MpiExchange<Real>>(world, lattice);
}

}  // namespace tca::spin

#else

namespace tca::spin {

template <class Real>
std::unique_ptr<Exchange> mpi_exchange(World&, const Lattice<Real>&) {
  return nullptr;
}

}  // namespace tca::spin

#endif

namespace tca::spin {

template std::unique_ptr<Exchange> mpi_exchange(World&, const Lattice<float>&);
template std::unique_ptr<Exchange> mpi_exchange(World&, const Lattice<double>&);

}  // namespace tca::spin
