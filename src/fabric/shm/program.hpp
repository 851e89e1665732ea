// ShmProgram is a rank's compiled share of a chain over shared memory: what `start`, `test` and `wait` run.
//
// There are three protocols, all of which look like puts to the caller:
//   direct  The sender stores into the final place. If guarded, it first needs the receiver's `ready`.
//   staged  The sender gathers into a ring in the receiver's inbox, the receiver scatters from it. Partners
//           that both send need no `ready`: the partner stored its `arrive` n-1 after it had emptied the
//           buffer of step n-2. A rank that only sends waits in step n for `ready` n-1, so that it is never
//           more than its two buffers ahead.
//   pull    The receiver copies from the sender's memory and answers with `done`.
//
// The lengths of counted puts, whatever their protocol, are in the ring's buffer for the step, so they have
// its two buffers and its guard. If there are few bytes with them, they cross in the signal's line.
//
// docs/protocols.md argues why this is right; verify/ proves it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/inbox.hpp"
#include "fabric/shm/store_mode.hpp"

namespace tca::shm {

enum Protocol : int { direct, pull, staged };

// The maximum size in bytes of a long move, which stores previously gathered bytes into a ring. A ring's
// lines are in its reader's cache. Storing single runs fetches each line from there first, whereas on many
// processors a move of this size takes over whole lines, which is two to three times as fast between far
// cores. It is at most half of a first-level cache, in which the gathered bytes wait for their move.
inline constexpr std::size_t long_move = 16384;

// One copy of a step. The other end of a staged copy is in a ring.
struct Copy {
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
};

// A copy that each step cuts short to a length.
struct CountedCopy {
  Copy whole;
  fabric::Length length;
  int protocol;
};

// The counted copies of all links of a program.
struct CountedCopies {
  // Those of a link, in this order: to the partner and from it. Staged bytes come after those of whole
  // copies.
  struct Row {
    std::uint32_t first = 0, out = 0, in = 0;
    std::uint32_t out_at = 0, in_at = 0;  // where they begin in the ring's buffer
    Ring out_lengths, in_lengths;
  };
  std::vector<CountedCopy> copies;
  std::vector<Row> rows;
};

// Everything that passes between this rank and one partner in one chain.
struct Link {
  Signal* in = nullptr;   // what the partner stores for this rank
  Signal* out = nullptr;  // what this rank stores for the partner
  Ring in_ring, out_ring;
  std::int32_t partner = 0;
  // The copies, in this order: to the partner, direct and gathered; from the partner, scattered and pulled.
  std::uint32_t first_copy = 0;
  std::uint32_t direct_count = 0;
  std::uint32_t gather_count = 0;
  std::uint32_t scatter_count = 0;
  std::uint32_t pull_count = 0;
  // Fixed at commit. A world may have hundreds of thousands of links.
  bool puts : 1 = false;         // this rank sends, even if only a signal
  bool expects : 1 = false;      // the partner sends
  bool posts_ready : 1 = false;  // the partner waits for this rank's `ready`
  bool needs_ready : 1 = false;  // this rank waits for the partner's `ready`...
  bool ready_lags : 1 = false;   // ... of the previous step
  bool is_pulled : 1 = false;    // the partner fetches and answers with `done`
  bool pulls : 1 = false;        // this rank does
  // Whether there are enough bytes for stores that bypass the caches, in place and into the ring.
  bool nontemporal_in_place : 1 = false, nontemporal_into_ring : 1 = false;
  StoreMode stores : 2 = StoreMode::ordinary;
  std::int16_t trial = -1;       // the index of the program's trial that chooses instead; -1: none
  std::int32_t counted = -1;     // the index of its row among the program's counted copies; -1: none
  std::uint32_t ready_seen = 0;  // the partner's `ready` when this rank last looked
  // In the current step.
  bool sent = true;
  bool received = true;
};

class Runner;

class ShmProgram final : public fabric::Program {
 public:
  ShmProgram(Runner& runner, std::span<const Link> links, std::span<const Copy> copies,
             std::span<const StoreModeTuner> trials, const CountedCopies& counted);
  ~ShmProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;
  void cancel() override;
  std::optional<fabric::Guard> guard() const override;

  std::span<const Link> links() const { return {links_.get(), link_count_}; }

 private:
  friend class Runner;

  // Both do their part of the step once the partner's signal allows it, and return false until then.
  bool send(Link& link);
  bool receive(Link& link);
  static void look_for_ready(Link& link);
  void move_out(const Link& link);
  void store(const Link& link, StoreMode way);
  void move_in(const Link& link);
  void store_counted(const Link& link);
  void fetch_counted(const Link& link);
  void gather(std::byte* dense, std::span<const Copy> copies);
  void gather_first(std::byte* dense, std::span<const Copy> copies, bool nontemporal);
  void traced(const Link& link, const char* what, void (ShmProgram::*move)(const Link&));
  void advance();

  // Returns the ring buffer of the current step.
  std::byte* buffer(Signal* signal, Ring ring) const {
    return reinterpret_cast<std::byte*>(signal) + ring.offset + (step_ % 2) * std::size_t{ring.pitch};
  }

  Runner& runner_;
  std::uint32_t step_ = 0;
  std::uint32_t link_count_;
  std::uint32_t open_ = 0;  // links whose part of the step is unfinished
  bool posts_ready_ = false;
  bool owes_ = false;  // another rank may depend on this one's progress: guarded sends, pulls
  std::unique_ptr<Link[]> links_;
  std::unique_ptr<Copy[]> copies_;
  std::unique_ptr<StoreModeTuner[]> trials_;      // of the links that have a choice
  std::unique_ptr<const CountedCopies> counted_;  // null if there are none
  // The neighbours in the runner's list of programs that are started and unfinished and have `owes_`.
  ShmProgram* next_ = nullptr;
  ShmProgram** previous_ = nullptr;
};

// A Runner holds what a rank's programs share: its inbox, and the list of started programs on which other
// ranks may depend.
class Runner {
 public:
  explicit Runner(Inbox& inbox) : inbox_(inbox) {}

  base::Trace* trace = nullptr;
  std::size_t staged_bytes = 0;  // of all rings that this rank's programs fill

  // Holds what has been gathered on its way to a ring.
  alignas(cache_line) std::array<std::byte, long_move> scratch;

  void progress() {
    for (ShmProgram* program = first_; program != nullptr;) {
      ShmProgram* next = program->next_;
      program->advance();
      program = next;
    }
  }

 private:
  friend class ShmProgram;
  void add(ShmProgram& program);
  void remove(ShmProgram& program);

  Inbox& inbox_;
  ShmProgram* first_ = nullptr;
};

}  // namespace tca::shm
