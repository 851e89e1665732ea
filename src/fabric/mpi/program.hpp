// A rank's compiled share of a chain over MPI: persistent requests, so that a start is one MPI_Startall.
//
// A message from MPI's point of view lands when its receive has been started, and the receives of step n are started by the
// receiver's start n: that is the guard, at no cost. What one rank sends another with one protocol in a step is one message:
//   datatype  of a derived datatype on both sides; MPI gathers and scatters
//   packed    of bytes; the sender gathers in `start`, the receiver scatters when it has come
//   rma       none: MPI's one-sided calls carry it, see rma.hpp
// or an empty one where there is only a signal. A rank to which nothing is sent back could run ahead without end, and what it
// sends would pile up: its receiver confirms each start, and wait n needs the confirmation of start n-1.
// docs/protocols.md argues why this is right; verify/mpi.pml proves it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/mpi/datatype.hpp"
#include "fabric/mpi/immediates.hpp"

namespace tca::mpi {

enum Protocol : int { datatype, packed, rma };

// The one that carries a put. To itself a rank sends a message: Open MPI 4 makes no windows for one rank alone.
inline bool goes_by(const fabric::Put& put, Protocol protocol) {
  const bool to_itself = put.from == put.to && put.protocol == rma;
  return put.shape != nullptr && (to_itself ? datatype : put.protocol) == protocol;
}

// The dense side of a packed message, and its pieces.
struct Packing {
  std::unique_ptr<std::byte[]> dense;
  std::vector<Piece> pieces;
};

// A persistent request and what to do when it is through.
struct Operation {
  MPI_Request request = MPI_REQUEST_NULL;
  int partner = 0;
  bool receives = false;
  bool traced = false;               // more than a signal
  bool invites = false;              // a target's word that it has posted its windows (rma)
  std::unique_ptr<Packing> packing;  // of packed messages
};

// Everything of a step, in the order in which it is started.
struct Operations {
  std::vector<Operation> receives, sends;   // with the receives: invitations to put, both ways
  std::vector<Operation> confirmations[2];  // of the starts of odd and even steps
};

class Engine;
class RmaPart;

class MpiProgram final : public fabric::Program {
 public:
  // `rma` may be empty.
  MpiProgram(Engine& engine, Operations operations, std::unique_ptr<RmaPart> rma);
  ~MpiProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;

 private:
  friend class Engine;

  // A range of `requests_`, whose operations are started together.
  struct Group {
    int first = 0, count = 0;
    int open = 0;  // not yet through
  };

  void append(Group& group, std::vector<Operation> operations);
  void start(Group& group);
  void start_sends();
  void advance();
  void advance_rma();
  void take(int index);
  Group& group_of(int index);
  Group& confirmations_of(std::uint32_t step) { return confirmations_[step % 2]; }

  Engine& engine_;
  std::uint32_t step_ = 0;
  bool sends_wait_ = false;  // for immediate puts to be confirmed
  bool puts_wait_ = false;   // for the targets' invitations
  bool running_ = false;
  double began_us_ = 0;
  Group receives_, sends_, confirmations_[2];
  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;  // of the same numbers; their own requests are empty
  std::vector<char> open_;
  std::vector<int> through_;  // room for MPI_Testsome
  int invitations_ = 0;       // that the current step still lacks
  int invitations_of_step_ = 0;
  std::unique_ptr<RmaPart> rma_;
};

// What the programs of a rank share: those under way that wait for something besides MPI.
class Engine {
 public:
  explicit Engine(MPI_Comm comm) : immediates(comm) {}

  Immediates immediates;
  base::Trace* trace = nullptr;
  int rma_parts = 0;     // of its programs
  bool closing = false;  // the world ends, and not all ranks together

  void progress();

 private:
  friend class MpiProgram;
  void add(MpiProgram& program);
  void remove(MpiProgram& program);

  std::size_t programs_ = 0;
  std::vector<MpiProgram*> under_way_;  // has room for all, so that `add` does not allocate
};

}  // namespace tca::mpi
