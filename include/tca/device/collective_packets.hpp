// A small collective as one kernel: every rank stores packets (see packet.hpp) at every rank that needs them,
// and reads those that the others have stored here.
//
// A rank has two sets of packets by sender, for odd and even steps. It is safe to use a set again, because:
//
//  - Where every rank sends to every other (all but the broadcast), a rank that sends in step n + 2 has been
//    through step n + 1, so it has got packets of n + 1 from everybody; and a rank sends those once its
//    kernel of step n is over, that is, has read all packets of n. No further signal is needed.
//  - A broadcast's root hears from nobody. So each block of a receiver acknowledges its packets, and the
//    root's block of the same number, which sends the same packets, sends those of step n + 2 only after the
//    acknowledgement of n. It is read together with the source, so it costs no time of its own. Every rank
//    has the same number of blocks.
//  - A large broadcast goes through its receivers: the root sends each packet to one of them, its relay, which
//    passes it on to the others, so that every link carries the data once. The root waits for the relay's
//    acknowledgement. A relay that passes on in step n + 2 has been through n + 1, so it has got packets of
//    n + 1 from all the other relays, as above. So each must have some to pass on in every step.
//
// `ThreadGroup` carries a part of the packets: a block on a GPU, a thread on the host; see stores.hpp.
#pragma once

#include "tca/device/packet.hpp"
#include "tca/device/reduction.hpp"
#include "tca/device/wait_limits.hpp"
#include "tca/device/window.hpp"

namespace tca::device {

// The data of a packet: one value of any type, since values that are combined must not lie across two.
inline constexpr Word piece_bytes = 8;

struct CollectivePackets {
  Word rank = 0, size = 1;
  Word first_sender = 0, end_sender = 1;  // the ranks that send
  Word bytes = 0;                         // of a block of data: what one rank sends another
  Word atom_bytes = 0;                    // 1, 2, 4 or 8; it divides `bytes` and all addresses here
  bool keeps_own = false;                 // whether this rank's own block is already in its place
  bool relays = false;                    // whether the broadcast is a large one; its root keeps its own
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  // Bytes from the block for one rank to that for the next; 0 where all ranks get the same block.
  std::uint64_t input_pitch = 0;
  // Bytes from the place of one rank's block to that of the next; 0 where there is only one place.
  std::uint64_t output_pitch = 0;
  // At each rank: the two sets from this one. Of a broadcast there are only two sets, for root and relays.
  Packet* theirs[max_ranks] = {};
  const Packet* mine = nullptr;  // here, by sender
  Word* acks = nullptr;   // at a broadcast's root, by block, then by rank: the last step that it has read
  Word* steps = nullptr;  // by block: the last finished step
  Word* count = nullptr;  // counts the blocks that are through with a step
  WaitLimits limits;

  TCA_DEVICE Word packets() const { return (bytes + piece_bytes - 1) / piece_bytes; }
  TCA_DEVICE Word set_of(Word step) const { return (step % 2) * buffer_pitch(packets()); }
  TCA_DEVICE bool sends() const { return first_sender <= rank && rank < end_sender; }
  // The rank so far behind another one; after the last comes the first.
  TCA_DEVICE Word behind(Word other, Word distance) const {
    const Word found = other + distance;
    return found >= size ? found - size : found;
  }
  // Packets that a warp carries at once go through one relay.
  static constexpr Word relayed_together = 32;
  TCA_DEVICE Word relay_of(Word packet) const {
    return behind(first_sender, 1 + packet / relayed_together % (size - 1));
  }
};

// Loads the bytes of a block that belong to a packet; where the block ends within them, zeros follow.
template <class Atom>
TCA_DEVICE std::uint64_t load_piece(const std::byte* block, Word packet, Word bytes) {
  std::uint64_t piece = 0;
  TCA_UNROLL
  for (Word i = 0; i < piece_bytes; i += sizeof(Atom)) {
    const Word at = packet * piece_bytes + i;
    if (at < bytes) piece |= std::uint64_t{*reinterpret_cast<const Atom*>(block + at)} << (8 * i);
  }
  return piece;
}

template <class Atom>
TCA_DEVICE void store_piece(std::byte* block, Word packet, Word bytes, std::uint64_t piece) {
  TCA_UNROLL
  for (Word i = 0; i < piece_bytes; i += sizeof(Atom)) {
    const Word at = packet * piece_bytes + i;
    if (at < bytes) *reinterpret_cast<Atom*>(block + at) = static_cast<Atom>(piece >> (8 * i));
  }
}

TCA_DEVICE std::uint64_t load_piece(const CollectivePackets& all, const std::byte* block, Word packet) {
  switch (all.atom_bytes) {
    case 8:
      return load_piece<std::uint64_t>(block, packet, all.bytes);
    case 4:
      return load_piece<std::uint32_t>(block, packet, all.bytes);
    case 2:
      return load_piece<std::uint16_t>(block, packet, all.bytes);
    default:
      return load_piece<std::uint8_t>(block, packet, all.bytes);
  }
}

TCA_DEVICE void store_piece(const CollectivePackets& all, std::byte* block, Word packet,
                            std::uint64_t piece) {
  switch (all.atom_bytes) {
    case 8:
      return store_piece<std::uint64_t>(block, packet, all.bytes, piece);
    case 4:
      return store_piece<std::uint32_t>(block, packet, all.bytes, piece);
    case 2:
      return store_piece<std::uint16_t>(block, packet, all.bytes, piece);
    default:
      return store_piece<std::uint8_t>(block, packet, all.bytes, piece);
  }
}

// So many loads are under way at once, since each takes a trip to the L2.
inline constexpr Word senders_at_once = 4;

// Waits, at the root, until a receiver's block has read what the set held before.
TCA_DEVICE bool await_ack(const CollectivePackets& all, Word step, Word part, Word to, Word acked) {
  BoundedWait waiting(all.limits, step);
  while (!reached(acked, step - 2)) {
    if (!waiting.keep_polling(to)) return false;
    acked = load_relaxed(all.acks + static_cast<std::size_t>(part * all.size + to));
  }
  return true;
}

TCA_DEVICE bool send_piece(const CollectivePackets& all, Word step, Word part, Word packet) {
  std::uint64_t piece = 0;
  if (all.input_pitch == 0) piece = load_piece(all, all.input, packet);
  for (Word first = 1; first < all.size; first += senders_at_once) {
    Word acked[senders_at_once];
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      // A rank begins with the next one, so that no target is everybody's first.
      const Word to = all.behind(all.rank, first + k);
      acked[k] = step;
      if (all.acks != nullptr && first + k < all.size)
        acked[k] = load_relaxed(all.acks + static_cast<std::size_t>(part * all.size + to));
    }
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      if (first + k >= all.size) break;
      const Word to = all.behind(all.rank, first + k);
      if (all.input_pitch != 0) piece = load_piece(all, all.input + to * all.input_pitch, packet);
      if (!await_ack(all, step, part, to, acked[k])) return false;
      (all.theirs[to] + all.set_of(step) + packet)->write(Packet::of(piece, step));
    }
  }
  return true;
}

// Sends a packet of a large broadcast's root to its relay.
TCA_DEVICE bool send_to_relay(const CollectivePackets& all, Word step, Word part, Word packet) {
  const Word to = all.relay_of(packet);
  const Word acked = load_relaxed(all.acks + static_cast<std::size_t>(part * all.size + to));
  const std::uint64_t piece = load_piece(all, all.input, packet);
  if (!await_ack(all, step, part, to, acked)) return false;
  (all.theirs[to] + all.set_of(step) + packet)->write(Packet::of(piece, step));
  return true;
}

// Calls act(packet) for each of a lane's packets, until it returns false.
template <class ThreadGroup, class Act>
TCA_DEVICE bool each_packet(const CollectivePackets& all, const ThreadGroup& group, const Act& act) {
  for (Word packet = group.part() * group.lanes() + group.lane(); packet < all.packets();
       packet += group.parts() * group.lanes()) {
    if (!act(packet)) return false;
  }
  return true;
}

// Sends the packets of a part; false on a lane that gave up.
template <class ThreadGroup>
TCA_DEVICE bool send_collective_packets(const CollectivePackets& all, Word step, const ThreadGroup& group) {
  if (!all.sends()) return true;
  return each_packet(all, group, [&](Word packet) {
    return all.relays ? send_to_relay(all, step, group.part(), packet)
                      : send_piece(all, step, group.part(), packet);
  });
}

// Waits for the packet at a place, which may have been loaded already.
TCA_DEVICE bool await_packet(const CollectivePackets& all, Word step, Word from, const Packet* place,
                             Packet& got) {
  BoundedWait waiting(all.limits, step);
  while (!got.carries(step)) {
    if (!waiting.keep_polling(from)) return false;
    got = place->read_once();
  }
  return true;
}

// Receives a packet of a large broadcast, which comes from the root or from a relay.
TCA_DEVICE bool receive_from(const CollectivePackets& all, Word step, Word from, Word packet, Packet& got) {
  const Packet* const place = all.mine + all.set_of(step) + packet;
  got = place->read_once();
  if (!await_packet(all, step, from, place, got)) return false;
  store_piece(all, all.output, packet, got.data());
  return true;
}

// Receives what a lane has of a large broadcast: first what it passes on, for which the others wait.
template <class ThreadGroup>
TCA_DEVICE bool receive_relayed(const CollectivePackets& all, Word step, const ThreadGroup& group) {
  const auto is_relay = [&](Word packet) { return all.relay_of(packet) == all.rank; };
  const bool passed_on = each_packet(all, group, [&](Word packet) {
    if (!is_relay(packet)) return true;
    Packet got;
    if (!receive_from(all, step, all.first_sender, packet, got)) return false;
    for (Word i = 1; i < all.size; ++i) {
      const Word to = all.behind(all.rank, i);
      if (to != all.first_sender) (all.theirs[to] + all.set_of(step) + packet)->write(got);
    }
    return true;
  });
  return passed_on && each_packet(all, group, [&](Word packet) {
           Packet got;
           return is_relay(packet) || receive_from(all, step, all.relay_of(packet), packet, got);
         });
}

// Receives one packet of every sender, in the order of the ranks. The lane that does so here has sent the
// same packet of this rank's blocks before, so input and output may be the same memory.
template <class Kind>
TCA_DEVICE bool receive_piece(const CollectivePackets& all, Word step, Word packet) {
  const Packet* packets = all.mine + all.set_of(step) + packet;
  const Word pitch = 2 * buffer_pitch(all.packets());
  const auto place_of = [&](Word from) {
    return packets + static_cast<std::size_t>((from - all.first_sender) * pitch);
  };
  std::uint64_t own = 0;
  if (Kind::combines || !all.keeps_own) own = load_piece(all, all.input + all.rank * all.input_pitch, packet);
  std::uint64_t total = 0;
  for (Word first = all.first_sender; first < all.end_sender; first += senders_at_once) {
    Packet got[senders_at_once];
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      const Word from = first + k;
      if (from < all.end_sender && from != all.rank) got[k] = place_of(from)->read_once();
    }
    TCA_UNROLL
    for (Word k = 0; k < senders_at_once; ++k) {
      const Word from = first + k;
      if (from >= all.end_sender) break;
      std::uint64_t piece = own;
      if (from != all.rank) {
        if (!await_packet(all, step, from, place_of(from), got[k])) return false;
        piece = got[k].data();
      } else if (!Kind::combines && all.keeps_own) {
        continue;
      }
      if constexpr (Kind::combines) {
        total = from == 0 ? piece : Kind::combine(total, piece);
      } else {
        store_piece(all, all.output + from * all.output_pitch, packet, piece);
      }
    }
  }
  if constexpr (Kind::combines) store_piece(all, all.output, packet, total);
  return true;
}

// Receives the packets of a part; false, on every lane, when one of them gave up, here or before (`good`).
template <class Kind, class ThreadGroup>
TCA_DEVICE bool receive_collective_packets(const CollectivePackets& all, Word step, const ThreadGroup& group,
                                           bool good) {
  if (all.relays)
    good = good && (all.sends() || receive_relayed(all, step, group));
  else
    good =
        good && each_packet(all, group, [&](Word packet) { return receive_piece<Kind>(all, step, packet); });
  // Every lane has its packets in registers by now: the loads cannot be overtaken by a store that the root
  // answers with new ones.
  good = group.all(good);
  if (good && all.acks != nullptr && !all.sends() && group.lane() == 0)
    store_relaxed(all.acks + group.part() * all.size + all.rank, step);
  return good;
}

}  // namespace tca::device
