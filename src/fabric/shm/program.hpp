// A rank's compiled share of a chain over shared memory: what `start`, `test` and `wait` run.
//
// Three protocols, all of them puts to the caller:
//   direct  the sender stores into the final place. Guarded, it first needs the receiver's `ready`.
//   staged  the sender gathers into a ring in the receiver's inbox, the receiver scatters from it. Partners
//           that both send need no `ready`: a partner's `arrive` n-1 was stored after it had emptied the buffer
//           of n-2. From a rank that only sends, step n waits for `ready` n-1, so it is never more than its two
//           buffers ahead.
//   pull    the receiver copies from the sender's memory and answers `done`.
// docs/protocols.md argues why this is right; verify/ proves it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/inbox.hpp"
#include "fabric/shm/stores.hpp"

namespace tca::shm {

enum Protocol : int { direct, pull, staged };

// A ring's lines lie in its reader's cache. Stores of single runs fetch each of them from there first; on many processors a move of
// this many bytes takes them over whole, which between far cores is two to three times as fast. No more than half of a
// first-level cache, where what is gathered waits for its move.
inline constexpr std::size_t long_move = 16384;

// One copy of a step. A staged one has its other end in a ring.
struct Copy {
  std::byte* to;
  const std::byte* from;
  const base::Shape* shape;
};

// Everything between this rank and one partner in one chain.
struct Link {
  Signal* in = nullptr;   // what the partner stores for this rank
  Signal* out = nullptr;  // what this rank stores for the partner
  Ring in_ring, out_ring;
  std::int32_t partner = 0;
  // The copies, in this order: to the partner direct and by gathering; from it by scattering and by pulling.
  std::uint32_t first_copy = 0;
  std::uint32_t direct_count = 0;
  std::uint32_t gather_count = 0;
  std::uint32_t scatter_count = 0;
  std::uint32_t pull_count = 0;
  // Fixed at commit. A world may have hundreds of thousands of links.
  bool puts : 1 = false;         // this rank sends, if only a signal
  bool expects : 1 = false;      // the partner sends
  bool posts_ready : 1 = false;  // the partner waits for this rank's `ready`
  bool needs_ready : 1 = false;  // this rank waits for the partner's `ready`...
  bool ready_lags : 1 = false;   // ... of the step before
  bool is_pulled : 1 = false;    // the partner fetches, and answers `done`
  // Enough to go past the caches, in place and into the ring.
  bool nontemporal_in_place : 1 = false, nontemporal_into_ring : 1 = false;
  Stores stores = Stores::ordinary;
  std::int16_t trial = -1;       // which of the program's trials says it instead
  std::uint32_t ready_seen = 0;  // the partner's `ready` as this rank has last looked at it
  // Of the current step.
  bool sent = true;
  bool received = true;
};

class Runner;

class ShmProgram final : public fabric::Program {
 public:
  ShmProgram(Runner& runner, std::span<const Link> links, std::span<const Copy> copies,
             std::span<const StoreTrial> trials);
  ~ShmProgram() override;

  void start() override;
  bool test() override;
  std::vector<int> missing() const override;
  void abandon() override;

 private:
  friend class Runner;

  // Both do their part of the step once the partner's signal allows it; false until then.
  bool send(Link& link);
  bool receive(Link& link);
  static void look_for_ready(Link& link);
  void move_out(const Link& link);
  void store(const Link& link, Stores way);
  void move_in(const Link& link);
  void gather(std::byte* dense, std::span<const Copy> copies);
  void gather_first(std::byte* dense, std::span<const Copy> copies, bool nontemporal);
  void traced(const Link& link, const char* what, void (ShmProgram::*move)(const Link&));
  void advance();

  // The ring buffer of the current step.
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
  std::unique_ptr<StoreTrial[]> trials_;  // of the links that have a choice
  // In the runner's list while started and unfinished, if `owes_`.
  ShmProgram* next_ = nullptr;
  ShmProgram** previous_ = nullptr;
};

// What the programs of a rank share: its inbox, and the list of started programs on which other ranks may
// depend.
class Runner {
 public:
  explicit Runner(Inbox& inbox) : inbox_(inbox) {}

  base::Trace* trace = nullptr;
  std::size_t staged_bytes = 0;  // of the rings that this rank's programs fill

  // What is gathered on the way to a ring.
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
