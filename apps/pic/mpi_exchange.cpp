// The exchange by MPI, for comparison. No other file of the solver calls MPI.
#include "pic/exchange.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "pic/sides.hpp"
#include "shared/mpi_session.hpp"

namespace tca::pic {

namespace {

// The MPI datatype of a box of an array.
class BoxType {
 public:
  BoxType(const Domain& domain, const CellBox& box, MPI_Datatype number) {
    constexpr int ghosts = 3, components = 3;  // of a dimension; of an element
    std::array<int, 3> extents{}, size{}, start{};
    for (int axis = 0; axis < 3; ++axis) {
      const auto a = static_cast<std::size_t>(axis), d = 2 - a;
      const bool is_flat = axis >= domain.dims();
      extents[d] = static_cast<int>(domain.cells(axis)) + (is_flat ? 0 : ghosts);
      size[d] = static_cast<int>(box.size[a]);
      start[d] = static_cast<int>(box.first[a]) + (is_flat ? 0 : 1);
    }
    MPI_Datatype element = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(components, number, &element);
    MPI_Type_create_subarray(3, extents.data(), size.data(), start.data(), MPI_ORDER_C, element, &type_);
    MPI_Type_commit(&type_);
    MPI_Type_free(&element);
  }
  BoxType(BoxType&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  BoxType& operator=(BoxType&&) = delete;
  ~BoxType() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// Persistent requests that are started and waited for together.
class Requests {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() {
    for (MPI_Request& request : all_) MPI_Request_free(&request);
  }

  MPI_Request& add() { return all_.emplace_back(); }
  // One rank alone has none, for which MPI would need an array even then.
  void start() {
    if (!all_.empty()) MPI_Startall(static_cast<int>(all_.size()), all_.data());
  }
  void wait() {
    if (!all_.empty()) MPI_Waitall(static_cast<int>(all_.size()), all_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> all_;
};

template <class Number>
class MpiExchange : public Exchange {
 public:
  MpiExchange(World& world, const Exchanged<Number>& what)
      : session_(world),
        what_(what),
        domain_(what.domain),
        rank_(world.rank()),
        outgoing_(domain_.neighbours().size()),
        sends_(outgoing_.size()) {
    each_side(domain_, rank_, [&](const Side& side, int neighbour) { connect(side, neighbour); });
  }

  void start_flow() override { flow_.start(); }
  // Adds what has come to the cells that it is of, in the order of the sides.
  void wait_flow() override {
    flow_.wait();
    for (const Gathered& one : gathered_) {
      const Vec<Number>* from = one.values.data();
      each_cell(domain_, one.box, [&](std::int64_t at) {
        Vec<Number>& cell = what_.flow[at];
        cell = {cell.x + from->x, cell.y + from->y, cell.z + from->z};
        ++from;
      });
    }
  }
  void start_field() override { field_.start(); }
  void wait_field() override { field_.wait(); }

  // A message to each neighbour, as long as it has to be.
  int migrate(Particles& particles, const Leavers& leavers) override {
    sent_particles_ = 0;
    for (std::size_t k = 0; k < outgoing_.size(); ++k) {
      outgoing_[k].clear();
      for (const std::uint32_t index : leavers.to[k]) {
        const std::int32_t cell = particles.cell[index];
        outgoing_[k].push_back(pack(particles, index, cell + domain_.way(domain_.directions()[cell]).shift));
      }
      sent_particles_ += static_cast<std::int64_t>(outgoing_[k].size());
      MPI_Isend(outgoing_[k].data(), static_cast<int>(outgoing_[k].size() * sizeof(Traveller)), MPI_BYTE,
                domain_.neighbours()[k], particles_tag, MPI_COMM_WORLD, &sends_[k]);
    }
    for (const int neighbour : domain_.neighbours()) receive(particles, neighbour);
    if (!sends_.empty()) MPI_Waitall(static_cast<int>(sends_.size()), sends_.data(), MPI_STATUSES_IGNORE);
    return 1;
  }

  std::array<std::int64_t, 3> bytes() const override {
    return {flow_bytes_, field_bytes_, sent_particles_ * static_cast<std::int64_t>(sizeof(Traveller))};
  }
  std::string explain(std::size_t message) const override {
    return message == 2 ? "a message of as many particles as there are to each neighbour"
                        : "persistent requests, a derived datatype for each side";
  }

 private:
  // What comes of a neighbour's ghosts, and the box of own cells that they stand for.
  struct Gathered {
    CellBox box;
    std::vector<Vec<Number>> values;
  };

  static constexpr int particles_tag = 100;
  static int tag_of(const Side& side) { return 32 + (side[2] + 1) * 9 + (side[1] + 1) * 3 + side[0] + 1; }

  void connect(const Side& side, int neighbour) {
    const auto send = [&](Requests& requests, const CellBox& box, void* array, MPI_Datatype number) {
      const MPI_Datatype type = types_.emplace_back(domain_, box, number).get();
      MPI_Send_init(array, 1, type, neighbour, tag_of(side), MPI_COMM_WORLD, &requests.add());
      return box.cells() * static_cast<std::int64_t>(sizeof(Vec<double>));
    };
    const MPI_Datatype number = std::is_integral_v<Number> ? MPI_INT64_T : MPI_DOUBLE;
    field_bytes_ += send(field_, box_of(domain_, side, field_ghosts, false), what_.e.data(), MPI_DOUBLE);
    const MPI_Datatype into =
        types_.emplace_back(domain_, box_of(domain_, side, field_ghosts, true), MPI_DOUBLE).get();
    MPI_Recv_init(what_.e.data(), 1, into, neighbour, tag_of(opposite(side)), MPI_COMM_WORLD, &field_.add());
    // Backwards: ghosts go, and are added to the cells that they stand for.
    flow_bytes_ += send(flow_, box_of(domain_, side, flow_ghosts, true), what_.flow.data(), number);
    const CellBox box = box_of(domain_, side, flow_ghosts, false);
    auto& values =
        gathered_.emplace_back(Gathered{box, std::vector<Vec<Number>>(static_cast<std::size_t>(box.cells()))})
            .values;
    MPI_Recv_init(values.data(), static_cast<int>(3 * values.size()), number, neighbour,
                  tag_of(opposite(side)), MPI_COMM_WORLD, &flow_.add());
  }

  void receive(Particles& particles, int neighbour) {
    MPI_Status status;
    int bytes = 0;
    MPI_Probe(neighbour, particles_tag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    incoming_.resize(static_cast<std::size_t>(bytes) / sizeof(Traveller));
    MPI_Recv(incoming_.data(), bytes, MPI_BYTE, neighbour, particles_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (const Traveller& one : incoming_) unpack(one, particles);
  }

  apps::MpiSession session_;
  Exchanged<Number> what_;
  const Domain& domain_;
  int rank_;
  std::vector<BoxType> types_;
  std::vector<Gathered> gathered_;
  Requests flow_, field_;
  std::vector<std::vector<Traveller>> outgoing_;
  std::vector<Traveller> incoming_;
  std::vector<MPI_Request> sends_;
  std::int64_t flow_bytes_ = 0, field_bytes_ = 0, sent_particles_ = 0;
};

}  // namespace

template <class Number>
std::unique_ptr<Exchange> mpi_exchange(World& world, const Exchanged<Number>& what) {
  return std::make_unique<MpiExchange<Number>>(world, what);
}

}  // namespace tca::pic

#else

namespace tca::pic {

template <class Number>
std::unique_ptr<Exchange> mpi_exchange(World&, const Exchanged<Number>&) {
  return nullptr;
}

}  // namespace tca::pic

#endif

namespace tca::pic {

template std::unique_ptr<Exchange> mpi_exchange(World&, const Exchanged<double>&);
template std::unique_ptr<Exchange> mpi_exchange(World&, const Exchanged<std::int64_t>&);

}  // namespace tca::pic
