// Ranks that send and receive by an MPI library, in simulated time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "des/wait.hpp"
#include "net/host.hpp"
#include "net/mpi.hpp"
#include "net/network.hpp"

namespace tca::net {

class Mpi {
 public:
  struct Rank {
    Endpoint memory;         // where its data is: a GPU's memory, or the host's
    Endpoint host;           // where its program runs and the library's buffers are
    std::uint32_t rail = 0;  // the first that it uses of the library's: its own adapter's
  };

  Mpi(Network& network, const HostKind& host, const MpiLibrary& library, const std::vector<Rank>& ranks);

  // Both to be awaited. The n-th send of a pair of ranks meets the pair's n-th receive, which is told the same size.
  // send goes on when the data may be overwritten, receive when it is there and the program knows.
  des::Task send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);
  des::Task receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes);

  // Time of a rank's processor, of which its sends and receives take their turns.
  des::Task work(std::uint32_t rank, des::Time time);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const MpiLibrary& library() const { return library_; }

 private:
  struct State {
    State(des::Simulator& simulator, const Rank& at, std::uint32_t rank);
    Rank place;
    des::Semaphore processor, to_gpu, from_gpu;  // one thing at a time each
  };

  struct Message {
    Message(des::Simulator& simulator, std::uint32_t from, std::uint32_t to);
    des::Counter announced;  // the request to send, or the data itself, is at the receiver
    des::Counter cleared;    // the receiver is ready
    des::Counter landed;     // parts of the data, a rail's share of a block each
    int ends_done = 0;       // of two
  };

  struct Pair {
    std::deque<std::unique_ptr<Message>> messages;  // begun by one side and not ended by both
    std::uint64_t first = 0;                        // the number of the foremost
    std::uint64_t sent = 0, received = 0;
  };

  Message& message(std::uint32_t from, std::uint32_t to, std::uint64_t number);
  void end(std::uint32_t from, std::uint32_t to, Message& message);
  std::uint32_t rails_of(std::uint64_t bytes) const;
  void control(const Rank& from, const Rank& to, std::uint64_t bytes, des::Counter& arrived);
  des::Task send_eager(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  des::Task receive_eager(std::uint32_t to, std::uint64_t bytes);
  bool in_gpu(std::uint32_t rank) const;
  des::Task put(Endpoint from, Endpoint to, std::uint64_t bytes, std::uint32_t first_rail,
                des::Counter& landed);
  std::uint32_t interconnect(std::uint32_t rail) const {
    return library_.rails[rail % library_.rails.size()];
  }
  des::Task copy(std::uint32_t rank, std::uint64_t bytes, bool into_gpu, des::Time start);
  des::Task send_staged(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  des::Task receive_staged(std::uint32_t to, std::uint64_t bytes, Message& message);
  bool reads_staged(std::uint32_t rank, std::uint64_t bytes) const;
  bool writes_staged(std::uint32_t rank, std::uint64_t bytes) const;
  std::uint64_t block_of(std::uint64_t bytes) const;

  Network& network_;
  HostKind host_;
  MpiLibrary library_;
  std::deque<State> ranks_;
  std::unordered_map<std::uint64_t, Pair> pairs_;  // by sender and receiver; never walked through
};

}  // namespace tca::net
