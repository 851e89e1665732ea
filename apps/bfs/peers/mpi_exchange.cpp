// The exchange by MPI, for comparison. No other file of the search calls MPI.
#include "bfs/messages/exchange.hpp"

#ifdef OPENTCA_HAVE_MPI

#include <mpi.h>

#include <utility>

#include "shared/mpi_session.hpp"

namespace tca::bfs {

namespace {

// A rank's block of all parts, where it lies in this process.
class BlockType {
 public:
  BlockType(const Sending& sending, std::int64_t block) {
    std::vector<int> lengths;
    std::vector<MPI_Aint> addresses;
    std::vector<MPI_Datatype> types;
    for (const auto& [window, count, own] : sending.parts) {
      const auto element = static_cast<std::int64_t>(window.element_bytes());
      MPI_Aint address = 0;
      MPI_Get_address(window.data(), &address);
      addresses.push_back(address + static_cast<MPI_Aint>(block * count * element));
      lengths.push_back(static_cast<int>(count));
      types.push_back(MPI_DATATYPE_NULL);
      MPI_Type_contiguous(static_cast<int>(element), MPI_BYTE, &types.back());
    }
    MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), addresses.data(), types.data(),
                           &type_);
    MPI_Type_commit(&type_);
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
  }
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  ~BlockType() { MPI_Type_free(&type_); }

  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

// The requests of a sending, set up once.
class Requests {
 public:
  Requests(World& world, const Sending& sending, int tag) {
    const int own = world.rank();
    const BlockType sent(sending, sending.to_all ? own : 0);
    for (int other = 0; other < world.size(); ++other) {
      if (other == own) continue;
      if (sending.to_all || own == 0) {
        const BlockType received(sending, other);
        MPI_Recv_init(MPI_BOTTOM, 1, received.get(), other, tag, MPI_COMM_WORLD, &add());
      }
      if (sending.to_all || other == 0)
        MPI_Send_init(MPI_BOTTOM, 1, sent.get(), other, tag, MPI_COMM_WORLD, &add());
    }
  }
  Requests(Requests&& other) noexcept : all_(std::exchange(other.all_, {})) {}
  Requests& operator=(Requests&&) = delete;
  ~Requests() {
    for (MPI_Request& request : all_) MPI_Request_free(&request);
  }

  void run() {
    const int count = static_cast<int>(all_.size());
    MPI_Startall(count, all_.data());
    MPI_Waitall(count, all_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  MPI_Request& add() { return all_.emplace_back(MPI_REQUEST_NULL); }

  std::vector<MPI_Request> all_;
};

class MpiExchange : public Exchange {
 public:
  MpiExchange(World& world, std::span<const Sending> sendings) : session_(world) {
    for (const Sending& sending : sendings)
      requests_.emplace_back(world, sending, static_cast<int>(requests_.size()));
  }

  void send(std::size_t which) override { requests_[which].run(); }
  std::string explain(Message) const override { return "persistent requests"; }

 private:
  apps::MpiSession session_;
  std::vector<Requests> requests_;
};

}  // namespace

std::unique_ptr<Exchange> mpi_exchange(World& world, std::span<const Sending> sendings) {
  return std::make_unique<MpiExchange>(world, sendings);
}

}  // namespace tca::bfs

#else

namespace tca::bfs {

std::unique_ptr<Exchange> mpi_exchange(World&, std::span<const Sending>) { return nullptr; }

}  // namespace tca::bfs

#endif
