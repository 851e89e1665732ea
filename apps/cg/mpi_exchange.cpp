// The exchange by MPI, for comparison. No other file of the solver calls MPI.
#include "cg/exchange.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <utility>
#include <vector>

#include "shared/mpi_session.hpp"

namespace tca::cg {

namespace {

class Communicator {
 public:
  // Collective. The ranks with the same colour, in order.
  explicit Communicator(int colour) { MPI_Comm_split(MPI_COMM_WORLD, colour, 0, &comm_); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator() { MPI_Comm_free(&comm_); }

  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// A message each way between this rank and another, set up once.
class Swap {
 public:
  Swap(int partner, int tag, const double* sent, std::int64_t sent_count, double* received,
       std::int64_t received_count) {
    MPI_Recv_init(received, static_cast<int>(received_count), MPI_DOUBLE, partner, tag, MPI_COMM_WORLD,
                  requests_.data());
    MPI_Send_init(sent, static_cast<int>(sent_count), MPI_DOUBLE, partner, tag, MPI_COMM_WORLD,
                  &requests_[1]);
  }
  Swap(Swap&& other) noexcept
      : requests_(std::exchange(other.requests_, {MPI_REQUEST_NULL, MPI_REQUEST_NULL})) {}
  Swap& operator=(Swap&&) = delete;
  ~Swap() {
    for (MPI_Request& request : requests_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void run() {
    MPI_Startall(2, requests_.data());
    MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

class MpiExchange : public Exchange {
 public:
  MpiExchange(World& world, const Share& share, const Vectors& vectors)
      : session_(world),
        summing_(share.whole_rows ? 0 : share.row_of_grid.front()),
        share_(share),
        vectors_(vectors),
        received_(share.reductions.size() * static_cast<std::size_t>(share.summed.size)) {
    if (share.whole_rows) return;
    double* const product = vectors.product.data();
    double* received = received_.data();
    for (const Reduction& reduction : share.reductions) {
      swaps_.emplace_back(reduction.partner, tag(), product + reduction.sent.begin, reduction.sent.size,
                          received, reduction.received.size);
      received += reduction.received.size;
    }
    swaps_.emplace_back(share.transposed, tag(), product + share.summed.begin, share.summed.size,
                        vectors.result.data(), share.own.size);
  }

  void gather() override {
    if (!share_.whole_rows) return;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, vectors_.operand.data(),
                  static_cast<int>(share_.largest), MPI_DOUBLE, MPI_COMM_WORLD);
  }

  void add_up() override {
    const double* received = received_.data();
    for (std::size_t which = 0; which < share_.reductions.size(); ++which) {
      swaps_[which].run();
      const Range& target = share_.reductions[which].received;
      double* const sums = vectors_.product.data() + target.begin;
      for (std::int64_t i = 0; i < target.size; ++i) sums[i] += received[i];
      received += target.size;
    }
  }

  void transpose() override {
    if (!share_.whole_rows) swaps_.back().run();
  }

  void sum(std::span<double> values) override {
    MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM,
                  summing_.get());
  }

  std::string explain(Message message) const override {
    if (message == Message::gather) return "MPI_Allgather";
    return message == Message::dot ? "MPI_Allreduce" : "persistent requests";
  }

 private:
  int tag() const { return static_cast<int>(swaps_.size()); }

  apps::MpiSession session_;
  Communicator summing_;
  Share share_;
  Vectors vectors_;
  std::vector<double> received_;
  std::vector<Swap> swaps_;  // the reductions', and behind them the transposition
};

}  // namespace

std::unique_ptr<Exchange> mpi_exchange(World& world, const Share& share, const Vectors& vectors) {
  return std::make_unique<MpiExchange>(world, share, vectors);
}

}  // namespace tca::cg

#else

namespace tca::cg {

std::unique_ptr<Exchange> mpi_exchange(World&, const Share&, const Vectors&) { return nullptr; }

}  // namespace tca::cg

#endif
