// The interface through which a step gets what it needs from the other ranks. OpenTCA and MPI implement it with the same
// work, so that the two can be compared in one job.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pic/domain.hpp"
#include "pic/fields.hpp"
#include "pic/particles.hpp"
#include "pic/vec.hpp"
#include "shared/channels.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::pic {

// The names of a step's messages.
inline constexpr std::array<std::string_view, 3> messages{"CURRENT", "FIELD", "PARTICLES"};

class Exchange {
 public:
  virtual ~Exchange() = default;

  // Adds what this rank's ghosts have gathered of the flow to the cells that they stand for.
  virtual void start_flow() = 0;
  virtual void wait_flow() = 0;

  // Fills the ghosts of E.
  virtual void start_field() = 0;
  virtual void wait_field() = 0;

  // Sends the leavers to their neighbours, and appends those that come from there. Returns in how many rounds: particles
  // that do not fit into one go with the next.
  virtual int migrate(Particles& particles, const Leavers& leavers) = 0;

  // What this rank sends in a step: of particles, what has been sent with the last one.
  virtual std::array<std::int64_t, 3> bytes() const = 0;
  // Whether a step's messages can be told from the rest of it by a host's clock.
  virtual bool is_timed() const { return true; }
  virtual std::string explain(std::size_t message) const = 0;  // how it travels, one line a put
};

// What the exchanges of one rank work on.
template <class Number>
struct Exchanged {
  const Domain& domain;
  const Window<Vec<double>>& e;
  const Window<Vec<Number>>& flow;
  std::int64_t room;  // particles that a round takes to each neighbour
};

// Makes an exchange of a fold, a halo and a chain of counted puts. Collective.
template <class Number>
std::unique_ptr<Exchange> direct_exchange(World& world, const Exchanged<Number>& what,
                                          const apps::Channels& channels = {});

// Makes an exchange that sends the same by MPI. Collective. Returns null in a build without MPI. Throws
// Error{invalid_argument} when MPI's ranks are not the world's.
template <class Number>
std::unique_ptr<Exchange> mpi_exchange(World& world, const Exchanged<Number>& what);

}  // namespace tca::pic
