// A small collective as one kernel: every rank stores packets (see packet.hpp) at every rank that needs them,
// and reads those that the others have stored here.
//
// A rank has two sets of packets by sender, for odd and even steps. It is safe to use a set again, because:
//
//  - If every rank sends to every other (ExchangePackets: all but the broadcast), a rank that sends in step
//    n + 2 has completed step n + 1, so it has received packets of n + 1 from everybody; and a rank sends
//    those once its kernel of step n is over, that is, has read all packets of n. No further signal is
//    needed.
//  - A broadcast's root hears from nobody. So each block of a receiver acknowledges its packets, and the
//    root's block of the same number, which sends the same packets, sends those of step n + 2 only after the
//    acknowledgement of n. It is read together with the source, so it costs no time of its own. Every rank
//    has the same number of blocks.
//  - A large broadcast goes through its receivers: the root sends each packet to one of them, its relay,
//    which passes it on to the others, so that every link carries the data once. The root waits for the
//    relay's acknowledgement. A relay that passes on in step n + 2 has completed n + 1, so it has received
//    packets of n + 1 from all the other relays, as above. So each must have some to pass on in every step.
//
// `ThreadGroup` carries a part of the packets: a block on a GPU, a thread on the host; see stores.hpp.
//
// A kernel for 8 bytes lasts as long as it takes to fetch its instructions and to go to the other GPU and
// back to the L2 once. So its path has little code: a thread has one packet of one rank if possible,
// nothing is unrolled for ranks that do not exist, and the alignment of addresses is settled when the
// kernel is compiled.
#pragma once

#include "tca/device/packet.hpp"
#include "tca/device/reduction.hpp"
#include "tca/device/wait_limits.hpp"
#include "tca/device/window.hpp"

namespace tca::device {

// The data of a packet: one value of any type, since values that are combined must not be split across two.
inline constexpr Word piece_bytes = 8;

struct CollectivePackets {
  Word rank = 0, size = 1;
  Word root = 0;           // of a broadcast
  Word bytes = 0;          // of a block of data: what one rank sends another
  Word atom_bytes = 0;     // 1, 2, 4 or 8; it divides `bytes` and all addresses here
  bool keeps_own = false;  // whether this rank's own block is already in its place
  bool relays = false;     // whether the broadcast is a large one; its root keeps its own
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  // Bytes from the block for one rank to that for the next; 0 if all ranks get the same block.
  std::uint64_t input_pitch = 0;
  // Bytes from the place of one rank's block to that of the next; 0 if there is only one place.
  std::uint64_t output_pitch = 0;
  // At each rank: the two sets from this one. A broadcast has only two sets, for root and relays.
  Packet* theirs[max_ranks] = {};
  const Packet* mine = nullptr;  // here, by sender
  Word* acks = nullptr;   // at a broadcast's root, by block, then by rank: the last step that it has read
  Word* steps = nullptr;  // by block: the last finished step
  Word* count = nullptr;  // counts the blocks that are through with a step
  WaitLimits limits;

  TCA_DEVICE Word packets() const { return (bytes + piece_bytes - 1) / piece_bytes; }
  TCA_DEVICE Word set_of(Word step) const { return (step % 2) * buffer_pitch(packets()); }
  TCA_DEVICE Packet& place_at(Word to, Word step, Word packet) const {
    return theirs[to][set_of(step) + packet];
  }
  // Where a rank's packet arrives here; a broadcast's have one place, whichever rank sends them.
  TCA_DEVICE const Packet& place_of(Word from, Word step, Word packet) const {
    const std::size_t sets = acks == nullptr ? std::size_t{from} * 2 * buffer_pitch(packets()) : 0;
    return mine[sets + set_of(step) + packet];
  }
  // The rank at this distance behind another one; after the last comes the first.
  TCA_DEVICE Word behind(Word other, Word distance) const {
    const Word found = other + distance;
    return found >= size ? found - size : found;
  }
  // Packets that a warp carries at once go through one relay.
  static constexpr Word relayed_together = 32;
  TCA_DEVICE Word relay_of(Word packet) const {
    return behind(root, 1 + packet / relayed_together % (size - 1));
  }
};

// The bytes of blocks that belong to a packet, if blocks and addresses are multiples of a packet's data.
struct WholePieces {
  static TCA_DEVICE std::uint64_t load(const CollectivePackets&, const std::byte* block, Word packet) {
    return reinterpret_cast<const std::uint64_t*>(block)[packet];
  }
  static TCA_DEVICE void store(const CollectivePackets&, std::byte* block, Word packet, std::uint64_t piece) {
    reinterpret_cast<std::uint64_t*>(block)[packet] = piece;
  }
};

// The same if they are multiples of an atom only. If the block ends within a packet, zeros follow.
class PiecesOfAtoms {
 public:
  static TCA_DEVICE std::uint64_t load(const CollectivePackets& all, const std::byte* block, Word packet) {
    switch (all.atom_bytes) {
      case 8:
        return load_by<std::uint64_t>(block, packet, all.bytes);
      case 4:
        return load_by<std::uint32_t>(block, packet, all.bytes);
      case 2:
        return load_by<std::uint16_t>(block, packet, all.bytes);
      default:
        return load_by<std::uint8_t>(block, packet, all.bytes);
    }
  }
  static TCA_DEVICE void store(const CollectivePackets& all, std::byte* block, Word packet,
                               std::uint64_t piece) {
    switch (all.atom_bytes) {
      case 8:
        return store_by<std::uint64_t>(block, packet, all.bytes, piece);
      case 4:
        return store_by<std::uint32_t>(block, packet, all.bytes, piece);
      case 2:
        return store_by<std::uint16_t>(block, packet, all.bytes, piece);
      default:
        return store_by<std::uint8_t>(block, packet, all.bytes, piece);
    }
  }

 private:
  template <class Atom>
  static TCA_DEVICE std::uint64_t load_by(const std::byte* block, Word packet, Word bytes) {
    std::uint64_t piece = 0;
    TCA_UNROLL
    for (Word i = 0; i < piece_bytes; i += sizeof(Atom)) {
      const Word at = packet * piece_bytes + i;
      if (at < bytes) piece |= std::uint64_t{*reinterpret_cast<const Atom*>(block + at)} << (8 * i);
    }
    return piece;
  }
  template <class Atom>
  static TCA_DEVICE void store_by(std::byte* block, Word packet, Word bytes, std::uint64_t piece) {
    TCA_UNROLL
    for (Word i = 0; i < piece_bytes; i += sizeof(Atom)) {
      const Word at = packet * piece_bytes + i;
      if (at < bytes) *reinterpret_cast<Atom*>(block + at) = static_cast<Atom>(piece >> (8 * i));
    }
  }
};

// Calls act(packet) for each of a lane's packets, until it returns false.
template <class ThreadGroup, class Act>
TCA_DEVICE bool each_packet(const CollectivePackets& all, const ThreadGroup& group, const Act& act) {
  for (Word packet = group.part() * group.lanes() + group.lane(); packet < all.packets();
       packet += group.parts() * group.lanes()) {
    if (!act(packet)) return false;
  }
  return true;
}

// Calls act(rank, packet) for each of a lane's packets to or from every rank, until it returns false. They begin
// with the next rank, so that no rank is everybody's first, and end with this one.
template <class ThreadGroup, class Act>
TCA_DEVICE bool each_packet_by_rank(const CollectivePackets& all, const ThreadGroup& group, const Act& act) {
  const Word packets = all.packets();
  for (Word i = group.part() * group.lanes() + group.lane(); i < packets * all.size;
       i += group.parts() * group.lanes()) {
    const Word distance = i / packets;
    if (!act(all.behind(all.rank, distance + 1), i - distance * packets)) return false;
  }
  return true;
}

TCA_DEVICE bool await_packet(const CollectivePackets& all, Word step, Word from, Word packet, Packet& got) {
  const Packet& place = all.place_of(from, step, packet);
  BoundedWait waiting(all.limits, step);
  got = place.read_once();
  while (!got.carries(step)) {
    if (!waiting.keep_polling(from)) return false;
    got = place.read_once();
  }
  return true;
}

// A collective in which every rank sends to every other. `send` returns false on a lane that gave up;
// `receive`, given what `send` returned, on every lane if one did.
template <class Kind, class Pieces>
struct ExchangePackets {
  template <class ThreadGroup>
  static TCA_DEVICE bool send(const CollectivePackets& all, Word step, const ThreadGroup& group) {
    // The lane that combines a packet, perhaps in place, has loaded it for every rank.
    if (Kind::combines && all.input_pitch == 0) {
      return each_packet(all, group, [&](Word packet) {
        const Packet filled = Packet::of(Pieces::load(all, all.input, packet), step);
        for (Word distance = 1; distance < all.size; ++distance)
          all.place_at(all.behind(all.rank, distance), step, packet).write(filled);
        return true;
      });
    }
    return each_packet_by_rank(all, group, [&](Word to, Word packet) {
      // Not even loaded: in place, the lane that combines this packet may store it meanwhile.
      if (to == all.rank && (Kind::combines || all.keeps_own)) return true;
      const std::uint64_t piece = Pieces::load(all, all.input + to * all.input_pitch, packet);
      if (to == all.rank)
        Pieces::store(all, all.output + to * all.output_pitch, packet, piece);
      else
        all.place_at(to, step, packet).write(Packet::of(piece, step));
      return true;
    });
  }

  template <class ThreadGroup>
  static TCA_DEVICE bool receive(const CollectivePackets& all, Word step, const ThreadGroup& group,
                                 bool good) {
    if constexpr (Kind::combines) {
      good = good && each_packet(all, group, [&](Word packet) { return combine(all, step, packet); });
    } else {
      // The lane that stores a packet has sent what was there before, so all-to-all may work in place.
      good = good && each_packet_by_rank(all, group, [&](Word from, Word packet) {
               if (from == all.rank) return true;
               Packet got;
               if (!await_packet(all, step, from, packet, got)) return false;
               Pieces::store(all, all.output + from * all.output_pitch, packet, got.data());
               return true;
             });
    }
    return group.all(good);
  }

 private:
  // So many loads are in flight at once, since each takes a trip to the L2.
  static constexpr Word senders_at_once = 4;

  // Combines one packet of every rank, in the order of the ranks.
  static TCA_DEVICE bool combine(const CollectivePackets& all, Word step, Word packet) {
    const std::uint64_t own = Pieces::load(all, all.input + all.rank * all.input_pitch, packet);
    std::uint64_t total = 0;
    for (Word first = 0; first < all.size; first += senders_at_once) {
      Packet got[senders_at_once];
      const auto is_sender = [&](Word from) { return from < all.size && from != all.rank; };
      BoundedWait waiting(all.limits, step);
      for (Word missing = 0; missing != no_link;) {
        missing = no_link;
        TCA_UNROLL
        for (Word k = 0; k < senders_at_once; ++k)
          if (is_sender(first + k)) got[k] = all.place_of(first + k, step, packet).read_once();
        TCA_UNROLL
        for (Word k = 0; k < senders_at_once; ++k)
          if (is_sender(first + k) && !got[k].carries(step)) missing = first + k;
        if (missing != no_link && !waiting.keep_polling(missing)) return false;
      }
      TCA_UNROLL
      for (Word k = 0; k < senders_at_once; ++k) {
        if (first + k >= all.size) break;
        const std::uint64_t piece = first + k == all.rank ? own : got[k].data();
        total = first + k == 0 ? piece : Kind::combine(total, piece);
      }
    }
    Pieces::store(all, all.output, packet, total);
    return true;
  }
};

// A broadcast; `send` and `receive` as above.
template <class Pieces>
struct BroadcastPackets {
  template <class ThreadGroup>
  static TCA_DEVICE bool send(const CollectivePackets& all, Word step, const ThreadGroup& group) {
    if (all.rank != all.root) return true;
    const Word stride = group.parts() * group.lanes();
    Word packet = group.part() * group.lanes() + group.lane();
    std::uint64_t piece = 0;
    const auto load = [&] {
      if (packet < all.packets()) piece = Pieces::load(all, all.input, packet);
    };
    load();  // on its way while the acknowledgements are
    if (!group.all(await_acks(all, step, group))) return false;
    for (; packet < all.packets(); packet += stride, load()) {
      const Packet filled = Packet::of(piece, step);
      if (all.relays) {
        all.place_at(all.relay_of(packet), step, packet).write(filled);
      } else {
        for (Word distance = 1; distance < all.size; ++distance)
          all.place_at(all.behind(all.rank, distance), step, packet).write(filled);
      }
    }
    return true;
  }

  template <class ThreadGroup>
  static TCA_DEVICE bool receive(const CollectivePackets& all, Word step, const ThreadGroup& group,
                                 bool good) {
    const bool is_root = all.rank == all.root;
    if (!is_root && all.relays) {
      good = good && receive_relayed(all, step, group);
    } else if (!is_root) {
      good = good && each_packet(all, group, [&](Word packet) {
               Packet got;
               return receive_from(all, step, all.root, packet, got);
             });
    } else if (!all.keeps_own) {
      good = good && each_packet(all, group, [&](Word packet) {
               Pieces::store(all, all.output, packet, Pieces::load(all, all.input, packet));
               return true;
             });
    }
    // Every lane has its packets in registers by now: the loads cannot be overtaken by a store that the root
    // answers with new ones.
    good = group.all(good);
    if (good && !is_root && group.lane() == 0)
      store_relaxed(all.acks + group.part() * all.size + all.rank, step);
    return good;
  }

 private:
  // Waits, at the root, until the other ranks' blocks have read what the set held before, one lane for each rank.
  template <class ThreadGroup>
  static TCA_DEVICE bool await_acks(const CollectivePackets& all, Word step, const ThreadGroup& group) {
    for (Word to = group.lane(); to < all.size; to += group.lanes()) {
      const Word* const acked = all.acks + static_cast<std::size_t>(group.part() * all.size + to);
      BoundedWait waiting(all.limits, step);
      while (to != all.rank && !reached(load_relaxed(acked), step - 2))
        if (!waiting.keep_polling(to)) return false;
    }
    return true;
  }

  static TCA_DEVICE bool receive_from(const CollectivePackets& all, Word step, Word from, Word packet,
                                      Packet& got) {
    if (!await_packet(all, step, from, packet, got)) return false;
    Pieces::store(all, all.output, packet, got.data());
    return true;
  }

  // Receives a lane's share of a large broadcast: first what it passes on, for which the others wait.
  template <class ThreadGroup>
  static TCA_DEVICE bool receive_relayed(const CollectivePackets& all, Word step, const ThreadGroup& group) {
    const auto is_relay = [&](Word packet) { return all.relay_of(packet) == all.rank; };
    const bool passed_on = each_packet(all, group, [&](Word packet) {
      if (!is_relay(packet)) return true;
      Packet got;
      if (!receive_from(all, step, all.root, packet, got)) return false;
      for (Word i = 1; i < all.size; ++i) {
        const Word to = all.behind(all.rank, i);
        if (to != all.root) all.place_at(to, step, packet).write(got);
      }
      return true;
    });
    return passed_on && each_packet(all, group, [&](Word packet) {
             Packet got;
             return is_relay(packet) || receive_from(all, step, all.relay_of(packet), packet, got);
           });
  }
};

}  // namespace tca::device
