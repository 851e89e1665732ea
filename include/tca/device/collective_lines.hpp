// A small collective as one kernel: every rank stores lines (see memory.hpp) at every rank that needs them,
// and reads those that the others have stored here.
//
// A rank has two sets of lines by sender, for odd and even steps. It is safe to use a set again, because:
//
//  - Where every rank sends to every other (all but the broadcast), a rank that sends in step n + 2 has been
//    through step n + 1, so it has got lines of n + 1 from everybody; and a rank sends those once its kernel
//    of step n is over, that is, has read all lines of n. No further signal is needed.
//  - A broadcast's root hears from nobody. So each block of a receiver acknowledges its lines, and the root's
//    block of the same number, which sends the same lines, sends those of step n + 2 only after the
//    acknowledgement of n. It is read together with the source, so it costs no time of its own. Every rank
//    has the same number of blocks.
//
// `ThreadGroup` carries a part of the lines: a block on a GPU, a thread on the host; see stores.hpp.
#pragma once

#include "tca/device/reduction.hpp"
#include "tca/device/wait_limits.hpp"
#include "tca/device_window.hpp"

namespace tca::device {

// A line carries one value of any type, since values that are combined must not lie across two lines.
inline constexpr Word bytes_per_line = 8;

struct CollectiveLines {
  Word rank = 0, size = 1;
  Word first_sender = 0, end_sender = 1;  // the ranks that send
  Word bytes = 0;                         // of a block of data: what one rank sends another
  Word atom_bytes = 0;                    // 1, 2, 4 or 8; it divides `bytes` and all addresses here
  bool keeps_own = false;                 // whether this rank's own block is already in its place
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  // Bytes from the block for one rank to that for the next; 0 where all ranks get the same block.
  std::uint64_t input_pitch = 0;
  // Bytes from the place of one rank's block to that of the next; 0 where there is only one place.
  std::uint64_t output_pitch = 0;
  Line* theirs[max_ranks] = {};  // at each rank: the two sets from this one
  const Line* mine = nullptr;    // here, by sender
  Word* acks = nullptr;   // at a broadcast's root, by block, then by rank: the last step that it has read
  Word* steps = nullptr;  // by block: the last finished step
  Word* count = nullptr;  // counts the blocks that are through with a step
  WaitLimits limits;

  TCA_DEVICE Word lines() const { return (bytes + bytes_per_line - 1) / bytes_per_line; }
  TCA_DEVICE Word set_of(Word step) const { return (step % 2) * buffer_pitch(lines()); }
  TCA_DEVICE bool sends() const { return first_sender <= rank && rank < end_sender; }
};

// Loads the bytes of a block that belong to a line; where the block ends within them, zeros follow.
template <class Atom>
TCA_DEVICE std::uint64_t load_piece(const std::byte* block, Word line, Word bytes) {
  std::uint64_t piece = 0;
  TCA_UNROLL
  for (Word i = 0; i < bytes_per_line; i += sizeof(Atom)) {
    const Word at = line * bytes_per_line + i;
    if (at < bytes) piece |= std::uint64_t{*reinterpret_cast<const Atom*>(block + at)} << (8 * i);
  }
  return piece;
}

template <class Atom>
TCA_DEVICE void store_piece(std::byte* block, Word line, Word bytes, std::uint64_t piece) {
  TCA_UNROLL
  for (Word i = 0; i < bytes_per_line; i += sizeof(Atom)) {
    const Word at = line * bytes_per_line + i;
    if (at < bytes) *reinterpret_cast<Atom*>(block + at) = static_cast<Atom>(piece >> (8 * i));
  }
}

TCA_DEVICE std::uint64_t load_piece(const CollectiveLines& all, const std::byte* block, Word line) {
  switch (all.atom_bytes) {
    case 8:
      return load_piece<std::uint64_t>(block, line, all.bytes);
    case 4:
      return load_piece<std::uint32_t>(block, line, all.bytes);
    case 2:
      return load_piece<std::uint16_t>(block, line, all.bytes);
    default:
      return load_piece<std::uint8_t>(block, line, all.bytes);
  }
}

TCA_DEVICE void store_piece(const CollectiveLines& all, std::byte* block, Word line, std::uint64_t piece) {
  switch (all.atom_bytes) {
    case 8:
      return store_piece<std::uint64_t>(block, line, all.bytes, piece);
    case 4:
      return store_piece<std::uint32_t>(block, line, all.bytes, piece);
    case 2:
      return store_piece<std::uint16_t>(block, line, all.bytes, piece);
    default:
      return store_piece<std::uint8_t>(block, line, all.bytes, piece);
  }
}

// So many loads are under way at once, since each takes a trip to the L2.
inline constexpr Word senders_at_once = 4;

// Waits, at the root, until a receiver's block has read what the set held before.
TCA_DEVICE bool await_ack(const CollectiveLines& all, Word step, Word part, Word to, Word acked) {
  BoundedWait waiting(all.limits, step);
  while (!reached(acked, step - 2)) {
    if (!waiting.keep_polling(to)) return false;
    acked = load_relaxed(all.acks + part * all.size + to);
  }
  return true;
}

TCA_DEVICE bool send_piece(const CollectiveLines& all, Word step, Word part, Word line) {
  std::uint64_t piece = 0;
  if (all.input_pitch == 0) piece = load_piece(all, all.input, line);
  for (Word first = 1; first < all.size; first += senders_at_once) {
    Word acked[senders_at_once];
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      // A rank begins with the next one, so that no target is everybody's first.
      const Word to = all.rank + first + k - (all.rank + first + k >= all.size ? all.size : 0);
      acked[k] = step;
      if (all.acks != nullptr && first + k < all.size)
        acked[k] = load_relaxed(all.acks + part * all.size + to);
    }
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      if (first + k >= all.size) break;
      const Word to = all.rank + first + k - (all.rank + first + k >= all.size ? all.size : 0);
      if (all.input_pitch != 0) piece = load_piece(all, all.input + to * all.input_pitch, line);
      if (!await_ack(all, step, part, to, acked[k])) return false;
      store_line(all.theirs[to] + all.set_of(step) + line, make_line(piece, step));
    }
  }
  return true;
}

// Sends the lines of a part; false on a lane that gave up.
template <class ThreadGroup>
TCA_DEVICE bool send_collective_lines(const CollectiveLines& all, Word step, const ThreadGroup& group) {
  if (!all.sends()) return true;
  for (Word line = group.part() * group.lanes() + group.lane(); line < all.lines();
       line += group.parts() * group.lanes()) {
    if (!send_piece(all, step, group.part(), line)) return false;
  }
  return true;
}

// Receives one line of every sender, in the order of the ranks. The lane that does so here has sent the same
// line of this rank's blocks before, so input and output may be the same memory.
template <class Kind>
TCA_DEVICE bool receive_piece(const CollectiveLines& all, Word step, Word line) {
  const Line* lines = all.mine + all.set_of(step) + line;
  const Word pitch = 2 * buffer_pitch(all.lines());
  std::uint64_t own = 0;
  if (Kind::combines || !all.keeps_own) own = load_piece(all, all.input + all.rank * all.input_pitch, line);
  std::uint64_t total = 0;
  for (Word first = all.first_sender; first < all.end_sender; first += senders_at_once) {
    Line got[senders_at_once];
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      const Word from = first + k;
      if (from < all.end_sender && from != all.rank) got[k] = load_line(lines + from * pitch);
    }
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      const Word from = first + k;
      if (from >= all.end_sender) break;
      std::uint64_t piece = own;
      if (from != all.rank) {
        BoundedWait waiting(all.limits, step);
        while (!carries(got[k], step)) {
          if (!waiting.keep_polling(from)) return false;
          got[k] = load_line(lines + from * pitch);
        }
        piece = data_of(got[k]);
      } else if (!Kind::combines && all.keeps_own) {
        continue;
      }
      if constexpr (Kind::combines) {
        total = from == 0 ? piece : Kind::combine(total, piece);
      } else {
        store_piece(all, all.output + from * all.output_pitch, line, piece);
      }
    }
  }
  if constexpr (Kind::combines) store_piece(all, all.output, line, total);
  return true;
}

// Receives the lines of a part; false, on every lane, when one of them gave up, here or before (`good`).
template <class Kind, class ThreadGroup>
TCA_DEVICE bool receive_collective_lines(const CollectiveLines& all, Word step, const ThreadGroup& group,
                                         bool good) {
  for (Word line = group.part() * group.lanes() + group.lane(); good && line < all.lines();
       line += group.parts() * group.lanes())
    good = receive_piece<Kind>(all, step, line);
  // Every lane has its lines in registers by now: the loads cannot be overtaken by a store that the root
  // answers with new ones.
  good = group.all(good);
  if (good && all.acks != nullptr && !all.sends() && group.lane() == 0)
    store_relaxed(all.acks + group.part() * all.size + all.rank, step);
  return good;
}

}  // namespace tca::device
