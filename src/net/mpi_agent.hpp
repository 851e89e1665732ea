// Ranks that send and receive by an MPI library, in simulated time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
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

  // Both to be awaited. Of a pair of ranks and a tag the n-th send meets the n-th receive, which is told the same size.
  // send goes on when the data may be overwritten, receive when it is there and the program knows.
  des::Task send(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);
  des::Task receive(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);

  // One-sided: MPI-3's windows between a post and a wait of the target, a start and a complete of the origin. `put` begins
  // once the target's post is there; the data goes straight into its memory as far as the library's limits let it, and a
  // notice follows. `put` goes on when the data may be overwritten, `expose` when it is there and the program knows.
  des::Task put(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);
  des::Task expose(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, std::uint32_t tag = 0);

  // Time of a rank's processor, of which its sends and receives take their turns.
  des::Task work(std::uint32_t rank, des::Time time);

  std::uint32_t size() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const MpiLibrary& library() const { return library_; }
  des::Simulator& simulator() const { return network_.simulator(); }

 private:
  enum class Side : std::uint8_t { sender, receiver };

  struct Message {
    Message(des::Simulator& simulator, std::uint32_t from, std::uint32_t to, std::uint32_t tag, Side first);
    std::uint32_t from, tag;
    Side first;              // who began it
    des::Counter announced;  // the request to send, or the data itself, is at the receiver
    des::Counter cleared;    // the receiver is ready
    des::Counter landed;     // parts of the data, a rail's share of a block each
  };
  using Shared = std::shared_ptr<Message>;  // of its two ends

  struct State {
    State(des::Simulator& simulator, const Rank& at, std::uint32_t rank);
    Rank place;
    des::Semaphore processor, to_gpu, from_gpu;  // one thing at a time each
    std::vector<Shared> begun;                   // to this rank, by one side alone, the oldest first
  };

  Shared meet(std::uint32_t from, std::uint32_t to, std::uint32_t tag, Side side);
  std::uint32_t rails_of(std::uint64_t bytes) const;
  void control(const Rank& from, const Rank& to, std::uint64_t bytes, des::Counter& arrived);
  des::Task send_eager(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Message& message);
  des::Task receive_eager(std::uint32_t to, std::uint64_t bytes);
  bool in_gpu(std::uint32_t rank) const;
  des::Task carry(Endpoint from, Endpoint to, std::uint64_t bytes, std::uint32_t first_rail,
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
};

}  // namespace tca::net
