// MpiProgram is a rank's compiled share of a chain over MPI. It uses persistent requests, so a start is one
// MPI_Startall, except for sends of a few bytes.
//
// MPI cannot deliver a message before its receive is posted, and start n posts step n's receives: posting
// is the guard, for free. All that one rank sends to another by one protocol in a step is one message, an
// empty one if there is only a signal:
//   datatype  A message of a derived datatype on both sides; MPI gathers and scatters.
//   packed    A message of bytes. The sender gathers in `start`, the receiver scatters on arrival.
//             Counted puts use either of these two, with their lengths in front, in a message of their
//             own.
//   rma       No message: MPI's one-sided calls carry the bytes, see rma.hpp.
//   staged    A message of the bytes in a stage, for an accelerator's memory, in chunks; see staged.hpp.
//
// A rank that receives nothing in return could run ahead without limit, and its messages would pile up. So
// its receiver confirms every eighth start, and the wait of such a step needs the confirmation from eight
// steps before.
//
// docs/protocols.md argues why this is right; verify/models/mpi.pml proves it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control/mpi/watchdog.hpp"
#include "fabric/fabric.hpp"
#include "fabric/mpi/datatype.hpp"
#include "fabric/mpi/handle.hpp"
#include "fabric/mpi/immediates.hpp"
#include "fabric/staging.hpp"

namespace tca::mpi {

// Why the guard adds no signals.
inline constexpr std::string_view free_guard = "MPI delivers only into receives that have been started";

enum Protocol : int { datatype, packed, rma, staged };

// Returns whether `protocol` carries a put. Instead of using rma a rank sends itself a message, because
// Open MPI 4 makes no windows for a single rank.
inline bool goes_by(const fabric::Put& put, Protocol protocol) {
  const bool to_itself = put.from == put.to && put.protocol == rma;
  return put.shape != nullptr && (to_itself ? datatype : put.protocol) == protocol;
}

// The dense side of a packed message, and its pieces. In a message of counted puts the lengths of the
// pieces are first, and `lengths` says where the program keeps them at this end.
struct Packing {
  std::unique_ptr<std::byte[]> dense;
  std::vector<Piece> pieces;
  std::vector<fabric::Length> lengths = {};  // if empty, all pieces move whole

  // Fills the dense side, and returns its bytes.
  std::size_t pack();
  void unpack() const;
};

// A send of a few bytes, or of counted puts, which MPI_Isend makes anew in every step. Open MPI then stores
// few bytes into the partner's memory at once, which it does not do for a persistent request. 8 bytes take
// 0.19 us instead of 0.30 one way between near cores, and 0.5 us instead of 0.9 between far ones; from 512
// bytes on there is no difference.
struct ShortSend {
  const void* address = nullptr;
  int bytes = 0, tag = 0;
};
inline constexpr std::size_t longest_short_send = 256;

// A persistent request or a short send, and what to do when it is complete.
struct Operation {
  Request request = {};
  std::optional<ShortSend> short_send = {};
  int partner = 0;
  bool receives = false;
  bool traced = false;                 // it carries more than a signal
  bool is_long = false;                // MPI may move it piece by piece, only during calls to MPI
  bool invites = false;                // a target reports that it has posted its windows (rma)
  std::unique_ptr<Packing> packing;    // only for packed messages
  std::size_t message = 0, chunk = 0;  // only for messages of a stage
};

// From this many bytes on, MPI may move a message piece by piece; no MPI does so with fewer.
inline constexpr std::size_t long_message = 1024;

// If nothing is sent back, one start in this many is confirmed. So the number of messages that can wait at
// a receiver is bounded, and most steps send nothing for this.
inline constexpr std::uint32_t confirmed_every = 8;

// The operations of a step, in the order in which they are started; in each list, short sends are first.
struct Operations {
  std::vector<Operation> receives, sends;  // the receives include invitations to put, in both directions
  // For steps that are confirmed: the confirmations that this rank sends, and those that it receives, which
  // alternate between two requests.
  std::vector<Operation> confirming, confirmations[2];
};

class Runner;
class RmaPart;

class MpiProgram final : public fabric::Program {
 public:
  // `rma` may be empty. If there is a `stage`, the operations carry its messages.
  MpiProgram(Runner& runner, Operations operations, std::unique_ptr<RmaPart> rma,
             fabric::Stage* stage = nullptr);
  ~MpiProgram() override;

  void start() override;
  bool test() override;
  bool yields() const override;
  std::vector<int> missing() const override;
  std::optional<fabric::Guard> guard() const override { return fabric::Guard{{}, {}, free_guard}; }
  bool is_empty() const override { return requests_.empty() && rma_ == nullptr; }
  void cancel() override;
  bool end() override;
  std::uint32_t step() const { return step_; }
  bool has_unsent() const { return sends_wait_ || sends_.open > 0; }
  // Returns whether everything that a rank sends in the current step has arrived.
  bool has_received_from(int rank) const;

 private:
  friend class Runner;

  // A range of `requests_`, whose operations are started together.
  struct Group {
    int first = 0, count = 0;
    int short_sends = 0;  // these come first, except where chunks of a stage keep their order
    int open = 0;         // not yet complete
  };

  void append(Group& group, std::vector<Operation> operations);
  void count_step(int by);
  bool may_move(std::size_t index) const;
  void start(Group& group);
  void start_in_order(Group& group);
  void start_one(int index);
  void send_short(std::size_t index);
  void start_sends();
  void start_gathered();
  void advance();
  void advance_rma();
  void take(int index);
  bool ends_message(std::size_t index) const;
  Group& group_of(int index);
  static bool is_confirmed(std::uint32_t step) { return step % confirmed_every == 0; }
  Group& confirmations_of(std::uint32_t step) { return confirmations_[step / confirmed_every % 2]; }
  bool lacks_confirmation() {
    return is_confirmed(step_) && confirmations_of(step_ - confirmed_every).open > 0;
  }

  Runner& runner_;
  std::uint32_t step_ = 0;
  bool sends_wait_ = false;  // for the confirmation of immediate puts
  bool puts_wait_ = false;   // for the targets' invitations
  bool running_ = false;
  bool ended_ = false;
  bool moves_ = false;  // has long messages or one-sided puts
  double began_us_ = 0;
  Group receives_, sends_, confirming_, confirmations_[2];
  Requests requests_;
  std::vector<Operation> operations_;  // with the same indices as their requests in `requests_`
  std::vector<char> open_;
  std::vector<int> through_;  // room for MPI_Testsome
  int invitations_ = 0;       // those that are still missing in the current step
  int invitations_of_step_ = 0;
  std::unique_ptr<RmaPart> rma_;
  fabric::Stage* stage_;
  int next_send_ = 0;  // with a stage: the next send to start, once its bytes are there
};

// A Runner holds what a rank's programs share, such as the list of those under way that wait for something
// besides MPI.
class Runner {
 public:
  explicit Runner(MPI_Comm of) : comm(of), immediates(of), yields(yields_when_idle()) {}
  Runner(const Runner&) = delete;

  const MPI_Comm comm;
  Immediates immediates;
  const bool yields;  // MPI yields the core when it finds nothing
  base::Trace* trace = nullptr;
  std::vector<std::shared_ptr<struct RmaHandle>>
      rma_windows;  // of all chains, in the same order on every rank

  void progress();
  void progress_while_waiting();
  bool needs_polling() const { return moving_ > 0; }

  // Returns the watchdog for one-sided calls, which block.
  Watchdog& watchdog() { return watchdog_ ? *watchdog_ : *(watchdog_ = std::make_unique<Watchdog>()); }

 private:
  friend class MpiProgram;
  void add(MpiProgram& program);
  void remove(MpiProgram& program);

  // Programs that wait only for MPI advance with every look at it. So most calls of
  // `progress_while_waiting` would be a second look, which costs a turn if MPI yields the core. Only one in
  // this many such calls looks; others' immediate puts can wait that long.
  static constexpr unsigned calls_between_looks = 8;

  std::size_t programs_ = 0;
  // How many programs run, and how many of these have long messages or one-sided puts.
  int running_ = 0, moving_ = 0;
  bool looked_ = false;  // a program has looked at MPI since the last `progress_while_waiting`
  unsigned spared_ = 0;
  std::unique_ptr<Watchdog> watchdog_;
  std::vector<MpiProgram*> under_way_;  // has room for all programs, so that `add` does not allocate
};

}  // namespace tca::mpi
