// The interface through which a sweep gets what it needs from the other ranks: the ghosts of a colour, and sums. OpenTCA
// and MPI implement it with the same work, so that the two can be compared in one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "shared/channels.hpp"
#include "spin/lattice.hpp"
#include "tca/world.hpp"

namespace tca::spin {

// The names of the messages: of each half sweep, and of each measurement.
inline constexpr std::array<std::string_view, 2> messages{"HALO", "SUM"};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Sends the outer cells of a colour to the neighbours' ghosts; does not block.
  virtual void start(int colour) = 0;
  // Returns when this rank's ghosts of that colour are filled and its outer cells may be overwritten.
  virtual void wait(int colour) = 0;
  // Replaces the values, those of `sum_count`, by their sums over all ranks.
  virtual void add_up(std::span<double> values) = 0;

  virtual std::int64_t bytes() const = 0;   // this rank's puts of one colour
  virtual std::string explain() const = 0;  // how they travel, one line each
  virtual std::string explain_sum() const { return {}; }
};

// Makes an exchange with one halo for each colour.
template <class Real>
std::unique_ptr<Exchange> direct_exchange(World& world, const Lattice<Real>& lattice,
                                          const apps::Channels& channels = {});

// Makes an exchange that sends the same messages by MPI: persistent requests with a derived datatype each, and
// MPI_Allreduce. Returns null in a build without MPI. Throws Error{invalid_argument} when MPI's ranks are not the world's.
template <class Real>
std::unique_ptr<Exchange> mpi_exchange(World& world, const Lattice<Real>& lattice);

}  // namespace tca::spin
