// What an iteration needs from the other ranks: the ghost cells and the sum of the residuals. OpenTCA's side
// and MPI's do the same work behind this interface, so that the two can be compared in one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "himeno/kernel.hpp"
#include "tca/grid.hpp"
#include "tca/halo.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::himeno {

// The pressure before and after an iteration, in turn. New values go straight into the other array instead of
// being copied back into the first as the benchmark does: the same answer for less memory traffic.
using Pressure = std::array<Window<float>, 2>;

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends the outer cells of array `which` (0 or 1) to the neighbours' ghosts; does not block.
  virtual void start(int which) = 0;
  // Returns when this rank's ghosts of that array are filled and its outer cells may be overwritten.
  virtual void wait(int which) = 0;
  // Over all ranks.
  virtual double sum(double mine) = 0;

  virtual std::int64_t bytes() const = 0;   // this rank's puts of one iteration
  virtual std::string explain() const = 0;  // how they travel, a line each
};

// Edges included: with b != 0 the stencil reads diagonal neighbours. The eight corners, which it never reads, travel as
// well, since a halo has both or neither. Collective.
Halo committed_halo(World& world, std::string name, const Grid& grid, const Share& share,
                    const Window<float>& pressure, bool guarded);

// A halo for each array.
//
// Guarded or not, both are right here. Unguarded, a neighbour's next put into an array might overtake this
// rank's reading of the last one; but it comes two iterations later, after the neighbour has waited for what
// this rank sent in between, and this rank sends only once it has computed every cell that reads ghosts.
std::unique_ptr<Exchange> direct_exchange(World& world, const Grid& grid, const Share& share,
                                          const Pressure& pressure, bool guarded);

// The same messages by MPI: persistent requests, a derived datatype each, MPI_Allreduce. Initialises MPI, and
// finalises it at the end, so there can be one in a process. Nothing when MPI was not there to compile
// against. Throws Error{invalid_argument} when MPI's ranks are not the world's.
std::unique_ptr<Exchange> mpi_exchange(World& world, const Grid& grid, const Share& share,
                                       const Pressure& pressure);

}  // namespace tca::himeno
