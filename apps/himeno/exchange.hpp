// The interface through which an iteration gets what it needs from the other ranks: the ghost cells and the
// sum of the residuals. OpenTCA and MPI implement it with the same work, so that the two can be compared in
// one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "himeno/kernel.hpp"
#include "shared/channels.hpp"
#include "tca/grid.hpp"
#include "tca/halo.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

// The pressure before and after an iteration; the two arrays swap roles each time. The benchmark copies new
// values back into the first array. Here they stay in the second, which gives the same answer with less
// memory traffic.
using Pressure = std::array<Window<float>, 2>;

// The names of an iteration's messages.
inline constexpr std::array<std::string_view, 2> messages{"HALO", "SUM"};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends the outer cells of array `which` (0 or 1) to the neighbours' ghosts; does not block.
  virtual void start(int which) = 0;
  // Returns when this rank's ghosts of that array are filled and its outer cells may be overwritten.
  virtual void wait(int which) = 0;
  // Returns the sum over all ranks.
  virtual double sum(double mine) = 0;

  virtual std::int64_t bytes() const = 0;   // this rank's puts of one iteration
  virtual std::string explain() const = 0;  // how they travel, one line each
  virtual std::string explain_sum() const { return {}; }
};

// Collective. The halo includes edges, since with b != 0 the stencil reads diagonal neighbours. The eight
// corners, which the stencil never reads, travel as well, because a halo has both or neither.
Halo committed_halo(World& world, std::string name, const Grid& grid, const Share& share,
                    const Window<float>& pressure, bool guarded, const std::string& channel = {});

// Makes an exchange with one halo for each array.
//
// The result is right whether the halos are guarded or not. Without guards a neighbour's next put into an
// array could overtake this rank's reading of the last one. But that put comes two iterations later, after
// the neighbour has waited for what this rank sent in between, and this rank sends only once it has computed
// every cell that reads ghosts.
std::unique_ptr<Exchange> direct_exchange(World& world, const Grid& grid, const Share& share,
                                          const Pressure& pressure, bool guarded,
                                          const apps::Channels& channels = {});

// Makes an exchange that sends the same messages by MPI: persistent requests with a derived datatype each,
// and MPI_Allreduce. It initialises MPI and finalises it at the end, so a process can make only one. Returns
// null when this was built without MPI. Throws Error{invalid_argument} when MPI's ranks are not the world's.
std::unique_ptr<Exchange> mpi_exchange(World& world, const Grid& grid, const Share& share,
                                       const Pressure& pressure);

}  // namespace tca::himeno
