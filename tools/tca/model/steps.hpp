// What ranks put and await, step by step, on a Stage.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "model/stage.hpp"

namespace tca::tool {

// What carries a put: a chain of the rank's, a message between the ranks' own memories, a put into an MPI
// window, a message between their hosts, or a store by the processor.
enum class Carrier : std::uint8_t { chain, mpi, rma, host_mpi, store };

// A step of a rank is a start and a wait: its chain and its messages are under way at the same time.
class Steps {
 public:
  explicit Steps(Stage& stage) : stage_(stage), steps_(stage.ranks()) {}

  struct At {
    std::uint32_t rank;
    std::size_t step;
  };
  // Adds what one rank puts in one of its steps and another awaits in one of its own. `tag` tells the
  // messages between a pair of ranks in one step apart.
  void put(At from, At to, const net::Rows& rows, Carrier carrier, std::uint32_t tag = 0);

  std::size_t count(std::uint32_t rank) const { return steps_[rank].size(); }

  // Starts a step and waits for it, for the `round`-th time, counted from 1. Ends at once where the rank has
  // no part in the step.
  des::Task run(At at, std::uint64_t round);

 private:
  struct Message {
    std::uint32_t other, tag;
    std::uint64_t bytes;
    Carrier carrier;
    des::Counter* arrived;  // of a store
  };
  struct Step {
    std::unique_ptr<Chain> chain;
    std::vector<Message> sends, receives;
    std::vector<des::Counter*> arrivals;  // of chains' puts and stores
  };

  Step& step(At at);
  net::Mpi& mpi_of(Carrier carrier);
  des::Task send(std::uint32_t rank, const Message& message);
  des::Task receive(std::uint32_t rank, const Message& message);

  Stage& stage_;
  std::vector<std::vector<Step>> steps_;  // by rank
  std::deque<des::Counter> arrived_;
};

}  // namespace tca::tool
