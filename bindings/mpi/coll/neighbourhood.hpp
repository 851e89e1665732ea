// What serves the neighbourhood collectives of a communicator: one chain, with a counted put for each edge of its topology, whatever
// the call and its sizes.
//
// MPI has ranks agree on the length of a message in pairs alone, so every sender says it anew in every step. What is longer than its
// place goes by MPI, and its put, longer than anything that fits, tells the receiver so.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "mpi/coll/check.hpp"
#include "mpi/coll/limits.hpp"
#include "mpi/coll/moved.hpp"
#include "mpi/coll/on_host.hpp"
#include "tca/raw.hpp"
#include "tca/world.hpp"

namespace tca::interposer {

// A rank's ends of the edges of a topology, in MPI's order; MPI_PROC_NULL where a grid ends.
struct Neighbours {
  std::vector<int> sources, destinations;
};

// In which order messages of one rank to another go along several edges between them is for each MPI to say, and for each of its
// calls.
enum class EdgeOrder { alltoall, alltoallv, alltoallw };
inline constexpr std::size_t edge_orders = 3;

class Neighbourhood {
 public:
  static constexpr std::int64_t longest = served_sizes(Call::Neighbor_alltoall).most;

  // Collective. `own` has the ranks of `comm`, and no other messages.
  Neighbourhood(World& world, MPI_Comm comm, MPI_Comm own, const Neighbours& neighbours);
  Neighbourhood(const Neighbourhood&) = delete;

  // `sent` and `received` return what goes and comes along the n-th edge. Returns MPI's error.
  template <class Sent, class Received>
  int exchange(EdgeOrder order, const Sent& sent, const Received& received) {
    for (Sending& edge : sending_) send(edge, sent(edge.number));
    run();
    int error = MPI_SUCCESS;
    const std::vector<int>& arrivals = arrivals_[static_cast<std::size_t>(order)];
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      if (arrivals[i] < 0) continue;
      const int code =
          receive(receiving_[static_cast<std::size_t>(arrivals[i])], received(static_cast<int>(i)));
      if (code != MPI_SUCCESS) error = code;
    }
    if (!by_mpi_.empty()) finish_sends();
    return error;
  }

 private:
  // An edge that leaves this rank, by its number, and one that comes here, by that which it has at its source.
  struct Sending {
    int destination, number;
    std::byte* place;
    CountedPut put;
  };
  struct Receiving {
    int source, number;
    const std::byte* place;
    CountedArrival arrival;
  };

  void send(Sending& edge, const Moved& block);
  void run();
  int receive(const Receiving& edge, const Moved& block);
  void finish_sends();

  MPI_Comm own_;
  raw::Window places_;
  Chain chain_;
  std::vector<Sending> sending_;
  std::vector<Receiving> receiving_;
  std::array<std::vector<int>, edge_orders>
      arrivals_;  // what of `receiving_` comes along each edge; -1 where nothing does
  std::deque<OnHost> kept_;
  std::vector<MPI_Request> by_mpi_;
};

}  // namespace tca::interposer
