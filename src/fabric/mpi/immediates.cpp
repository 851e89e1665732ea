#include "fabric/mpi/immediates.hpp"

#include <cstring>

#include "base/system/leak_intentionally.hpp"
#include "control/mpi/mpi_control.hpp"
#include "fabric/mpi/memory.hpp"

namespace tca::mpi {

namespace {

constexpr std::string_view passing_on = "passing on an immediate put";

}  // namespace

// MPI may still read what a world leaves under way when it ends in an error, so this is left to the
// process.
Immediates::~Immediates() {
  if (under_way_.empty()) return;
  try {
    if (is_up() && look()) return;
  } catch (const Error&) {
    // MPI has failed, and whoever ends this world has been told of that.
  }
  base::leak_intentionally(std::move(under_way_));
}

void Immediates::put(int rank, std::uint32_t window, std::uint64_t offset, std::span<const std::byte> value) {
  const InMpi inside;
  UnderWay& put = under_way_.emplace_back();
  put.rank = rank;
  put.message = {offset, window, static_cast<std::uint32_t>(value.size()), {}};
  std::memcpy(put.message.value.data(), value.data(), value.size());
  check(MPI_Irecv(nullptr, 0, MPI_BYTE, rank, Tag::immediate_taken, comm_, &put.requests[1]), passing_on);
  check(MPI_Isend(&put.message, sizeof put.message, MPI_BYTE, rank, Tag::immediate, comm_, &put.requests[0]),
        passing_on);
}

void Immediates::store_arrived() {
  for (;;) {
    int come = 0;
    MPI_Message handle;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, Tag::immediate, comm_, &come, &handle, &status), passing_on);
    if (!come) return;
    Message message;
    check(MPI_Mrecv(&message, sizeof message, MPI_BYTE, &handle, &status), passing_on);
    // Nobody misses a put into a window that is gone here.
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = served_.find(message.window); found != served_.end())
        found->second->write(message.offset, std::span(message.value).first(message.bytes));
    }
    MPI_Request confirmation;
    check(MPI_Isend(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, Tag::immediate_taken, comm_, &confirmation),
          passing_on);
    check(MPI_Request_free(&confirmation), passing_on);
  }
}

bool Immediates::look() {
  const InMpi inside;
  for (auto put = under_way_.begin(); put != under_way_.end();) {
    int done = 0;
    check(MPI_Testall(2, put->requests.data(), &done, MPI_STATUSES_IGNORE), passing_on);
    put = done ? under_way_.erase(put) : std::next(put);
  }
  return under_way_.empty();
}

std::vector<int> Immediates::outstanding() const {
  std::vector<int> ranks;
  for (const UnderWay& put : under_way_) ranks.push_back(put.rank);
  return ranks;
}

}  // namespace tca::mpi
