// Which neighbourhood collectives of a communicator are served.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "mpi/coll/communicator.hpp"
#include "mpi/coll/neighbourhood.hpp"

namespace tca::interposer {

// Returns nothing for a communicator without a topology.
std::optional<Neighbours> neighbours_of(MPI_Comm comm);

class Topology {
 public:
  explicit Topology(Communicator& communicator);

  // The communicator has a topology only if this is not empty.
  const std::optional<Neighbours>& neighbours() const { return neighbours_; }

  // Returns what serves a call, or null and why there is nothing. Collective when the call has come often enough: ranks then look whether the
  // longest block of any of them, which `longest` returns, has room.
  template <class Longest>
  Neighbourhood* find(Call call, const Longest& longest, Way& way) {
    Calls& calls = calls_[static_cast<std::size_t>(call) - static_cast<std::size_t>(first_call)];
    if (calls.times < often_enough && ++calls.times == often_enough) calls.way = decide(longest());
    way = calls.way;
    return way == Way::served ? neighbourhood_.get() : nullptr;
  }

 private:
  struct Calls {
    int times = 0;
    Way way = Way::early;
  };
  static constexpr Call first_call = Call::Neighbor_allgather, last_call = Call::Neighbor_alltoallw;

  Way decide(std::int64_t longest);
  bool have_neighbourhood();

  Communicator& communicator_;
  std::optional<Neighbours> neighbours_;
  std::array<Calls, static_cast<std::size_t>(last_call) - static_cast<std::size_t>(first_call) + 1> calls_;
  std::unique_ptr<Neighbourhood> neighbourhood_;
  bool failed_ = false;
};

}  // namespace tca::interposer
