// Simulates ranks that send and receive with an MPI library.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "model/des/wait.hpp"
#include "model/machine/host.hpp"
#include "model/machine/mpi.hpp"
#include "model/net/network.hpp"

namespace tca::net {

class Mpi {
 public:
  struct Rank {
    Endpoint memory;         // where its data is: the memory of a GPU or of the host
    Endpoint host;           // where its program runs and the library's buffers are
    std::uint32_t rail = 0;  // the first of the library's rails that it uses: that of its own adapter
  };

  Mpi(Network& network, const HostKind& host, const MpiLibrary& library, const std::vector<Rank>& ranks);

  // The caller awaits both. For a pair of ranks and a tag, the n-th send matches the n-th receive, which
  // names the same size. `send` ends when the data may be overwritten; `receive` ends when the data is
  // there and the program knows it.
  des::Task send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);
  des::Task receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);

  // One-sided communication in an MPI-3 window: `expose` is a post and a wait of the target, `put` a start, a
  // put and a complete of the origin. The put begins once the target's post has arrived. The data goes
  // straight into the target's memory as far as the library's limits allow, and a notice follows. `put` ends
  // when the data may be overwritten; `expose` ends when the data is there and the program knows it.
  des::Task put(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);
  des::Task expose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);

  // Occupies a rank's processor, which the rank's sends and receives use one at a time.
  des::Task work(std::uint32_t rank, des::Time time);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const MpiLibrary& library() const { return library_; }
  des::Simulator& simulator() const { return network_.simulator(); }

 private:
  enum class Side : std::uint8_t { sender, receiver };

  struct Message {
    Message(des::Simulator& simulator, std::uint32_t from, std::uint32_t to, std::uint32_t tag, Side first);
    std::uint32_t from, tag;
    Side first;              // the side that began it
    des::Counter announced;  // the request to send, or the data itself, is at the receiver
    des::Counter cleared;    // the receiver is ready
    des::Counter landed;     // parts of the data that have arrived: one rail's share of a block each
  };
  using Shared = std::shared_ptr<Message>;  // shared by its two ends

  struct State {
    State(des::Simulator& simulator, const Rank& at, std::uint32_t rank);
    Rank place;
    des::Semaphore processor, to_gpu, from_gpu;  // each serves one user at a time
    std::uint32_t turns = 0;                     // how often it has taken a rail
    std::vector<Shared> begun;  // messages to this rank that one side has begun, oldest first
  };

  Shared meet(std::uint32_t from, std::uint32_t to, std::uint32_t tag, Side side);
  std::uint32_t rails_of(std::uint64_t bytes) const;
  std::uint32_t next_rail(std::uint32_t rank);
  void control(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, des::Counter& arrived);
  des::Task send_eager(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  des::Task receive_eager(std::uint32_t to, std::uint64_t bytes);
  bool in_gpu(std::uint32_t rank) const;
  MpiWay way_of(std::uint32_t from, std::uint64_t bytes) const;
  des::Time eager_copy(std::uint64_t bytes) const;
  des::Task carry(Endpoint from, Endpoint to, std::uint64_t bytes, std::uint32_t first_rail,
                  des::Counter& landed);
  std::uint32_t interconnect(std::uint32_t rail) const {
    return library_.rails[rail % library_.rails.size()];
  }
  des::Task copy(std::uint32_t rank, std::uint64_t bytes, bool into_gpu, des::Time start);
  des::Task send_staged(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  des::Task receive_staged(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  bool reads_staged(std::uint32_t rank, std::uint64_t bytes) const;
  bool writes_staged(std::uint32_t rank, std::uint64_t bytes) const;
  std::uint64_t block_of(std::uint64_t bytes) const;

  Network& network_;
  HostKind host_;
  MpiLibrary library_;
  std::deque<State> ranks_;
};

}  // namespace tca::net
