// The communicators whose messages the engine carries: all of them or none, since two engines could not keep one order.
//
// Served are MPI_COMM_WORLD and what the hooked calls make of a served one, where all ranks are of this host. All ranks of a
// communicator see that alike. Others are MPI's.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "mpi/engine/engine.hpp"

namespace tca::interposer {

class Channel {
 public:
  // Makes the engine, if it may serve, and the channel of MPI_COMM_WORLD. Collective.
  static void begin();
  // Returns when no rank needs another's messages any more. Collective.
  static void end();
  static p2p::Engine* engine();
  // Whether there is an engine. Looked at first by calls that go on to MPI where there is none.
  static bool are_served() { return are_served_; }

  // Serves a communicator that has been made of another one, if that is served. Collective.
  static void adopt(MPI_Comm parent, MPI_Comm comm);
  // Returns null for one that is not served.
  static const std::shared_ptr<Channel>& find(MPI_Comm comm) { return are_served_ ? look_up(comm) : none_; }

  Channel(MPI_Comm comm, p2p::Context& context, std::vector<int> processes);
  Channel(const Channel&) = delete;
  ~Channel();

  MPI_Comm comm() const { return comm_; }
  // MPI has freed the communicator. What is under way keeps the channel.
  void leave() { comm_ = MPI_COMM_WORLD; }
  p2p::Context& context() const { return context_; }
  bool has(int rank) const { return rank >= 0 && static_cast<std::size_t>(rank) < processes_.size(); }
  // A rank as the engine numbers it, and back.
  int process(int rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  int rank(int process) const { return ranks_[static_cast<std::size_t>(process)]; }

  int source(int rank) const { return rank == MPI_ANY_SOURCE ? p2p::any_source : process(rank); }
  static int tag(int tag) { return tag == MPI_ANY_TAG ? p2p::any_tag : tag; }
  // Whether the engine takes such arguments; others are MPI's to refuse, or to do nothing for.
  bool can_send(int to, int tag) const { return has(to) && tag >= 0; }
  bool can_receive(int from, int tag) const {
    return (has(from) || from == MPI_ANY_SOURCE) && (tag >= 0 || tag == MPI_ANY_TAG);
  }

  void write_status(MPI_Status* status, const p2p::Envelope& envelope) const;
  // As MPI fails: by the communicator's error handler. Returns the code.
  int fail(int code) const;
  int fail(p2p::Failure failure) const;

 private:
  static const std::shared_ptr<Channel>& look_up(MPI_Comm comm);

  static inline bool are_served_ = false;
  static inline const std::shared_ptr<Channel> none_;

  MPI_Comm comm_;
  p2p::Context& context_;
  std::vector<int> processes_, ranks_;
};

void write_empty_status(MPI_Status* status, bool is_cancelled = false);

}  // namespace tca::interposer
