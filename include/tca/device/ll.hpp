// The ll protocol: data and step number travel in one store, so no fence is needed between them.
//
// The sender gathers three words per packet from the source layout and stores packets into one of two
// buffers at the receiver; the receiver polls each packet until it carries the step, and scatters its data
// into the destination layout. A buffer is used again two steps later, and only once the receiver has
// acknowledged its chunk; the acknowledgement is read together with the source, so it costs no time of its
// own. Nobody has to report that a ghost has been read: the receiver itself puts new data there.
//
// A counted put sends only the packets that its length needs. Each chunk has the length in its first word,
// and so in its first packet; the receiver waits for that one, and then for those packets of the chunk that
// the length needs. The others still have the number of an earlier step. Functions that know of lengths are
// compiled separately, for chains with counted puts (`counts`): others would lose registers to them.
//
// `Unit` carries chunks: it is a warp on a GPU, a thread on the host. A unit has its index() and the
// count() of all units of the kernel, a lane() and the number of its lanes(), sync() between its lanes, and
// all(b), which is true on every lane if b is true on each.
#pragma once

#include "tca/device/counted.hpp"
#include "tca/device/packet.hpp"
#include "tca/device/times.hpp"
#include "tca/device/wait_limits.hpp"

namespace tca::device {

// The address of a put's atom.
template <class Atom>
TCA_DEVICE Atom* atom_at(const LlPut& put, Word atom) {
  return reinterpret_cast<Atom*>(put.memory + put.pitches.offset(put.loops.at(atom), sizeof(Atom)));
}

template <class Atom>
TCA_DEVICE Word gather_word(const LlPut& put, Word word) {
  constexpr Word atoms = sizeof(Word) / sizeof(Atom);
  Word data = 0;
  TCA_UNROLL
  for (Word i = 0; i < atoms; ++i) {
    const Word atom = word * atoms + i;
    if (atom >= put.loops.atoms) break;
    data |= Word{*atom_at<Atom>(put, atom)} << (8 * sizeof(Atom) * i);
  }
  return data;
}

template <class Atom>
TCA_DEVICE void scatter_word(const LlPut& put, Word word, Word data) {
  constexpr Word atoms = sizeof(Word) / sizeof(Atom);
  TCA_UNROLL
  for (Word i = 0; i < atoms; ++i) {
    const Word atom = word * atoms + i;
    if (atom >= put.loops.atoms) break;
    *atom_at<Atom>(put, atom) = static_cast<Atom>(data >> (8 * sizeof(Atom) * i));
  }
}

// Stores some bytes of a word, from one of them on.
TCA_DEVICE void store_bytes(std::byte* word, Word begin, Word count, Word data) {
  for (Word i = begin; i < begin + count; ++i)
    *in_global_memory(word + i) = static_cast<std::byte>(data >> (8 * i));
}

// The number, in the put, of the k-th word of a lane's packet; no_word for a length.
template <bool counts>
TCA_DEVICE Word word_of(const LlPut& put, Word chunk, Word lane, Word k) {
  if constexpr (counts)
    if (put.length != nullptr) return word_in_counted_put(chunk, lane, k);
  return word_in_put(chunk, lane, k);
}

TCA_DEVICE Word words_of(const LlPut& put, Word elements) {
  return (elements * put.element_bytes + Word{sizeof(Word) - 1}) / Word{sizeof(Word)};
}

// Cuts a counted put short to a number of elements.
TCA_DEVICE void cut(LlPut& put, Word elements) {
  const Word bytes = elements * put.element_bytes;
  put.loops.atoms = bytes / put.atom_bytes;
  put.rest = bytes % put.atom_bytes;
  put.word_count = words_of(put, elements);
}

// Whether a step sends, and awaits, all packets of a counted put, however short it is. Otherwise the last
// time that a packet was sent might have been before the step numbers wrapped around, and it would carry
// the number of a step that is still to come.
TCA_DEVICE bool sends_all(Word step) { return step % 65536 < 2; }

// Whether a lane's packet in a chunk is sent. Of a counted put of so many words the first packet of a chunk always is.
TCA_DEVICE bool is_sent(Word words, Word chunk, Word lane, Word step) {
  return lane == 0 || word_in_counted_put(chunk, lane, 0) < words || sends_all(step);
}

// Makes the packet of a lane in a chunk. Words beyond the put's end are 0 and go nowhere.
template <bool counts, class Atom>
TCA_DEVICE Packet gather_packet_of(const LlPut& put, Word chunk, Word lane, Word step, Word elements) {
  Word words[Packet::words];
  TCA_UNROLL
  for (Word k = 0; k < Packet::words; ++k) {
    const Word word = word_of<counts>(put, chunk, lane, k);
    words[k] = word < put.word_count ? gather_word<Atom>(put, word) : 0;
    if constexpr (counts)
      if (word == no_word) words[k] = elements;
  }
  return Packet::of(words, step);
}

template <bool counts, class Atom>
TCA_DEVICE void scatter_packet_of(const LlPut& put, Word chunk, Word lane, const Packet& packet) {
  TCA_UNROLL
  for (Word k = 0; k < Packet::words; ++k) {
    const Word word = word_of<counts>(put, chunk, lane, k);
    if (word < put.word_count) scatter_word<Atom>(put, word, packet.word(k));
    if constexpr (counts) {
      if (word == no_word) *in_global_memory(put.length) = packet.word(k);
      if (put.rest != 0 && word == put.word_count - 1) {
        const Word begin = put.loops.atoms * put.atom_bytes % Word{sizeof(Word)};
        store_bytes(put.memory + std::size_t{word} * sizeof(Word), begin, put.rest, packet.word(k));
      }
    }
  }
}

template <bool counts>
TCA_DEVICE Packet gather_packet(const LlPut& put, Word chunk, Word lane, Word step, Word elements) {
  switch (put.atom_bytes) {
    case 4:
      return gather_packet_of<counts, std::uint32_t>(put, chunk, lane, step, elements);
    case 2:
      return gather_packet_of<counts, std::uint16_t>(put, chunk, lane, step, elements);
    default:
      return gather_packet_of<counts, std::uint8_t>(put, chunk, lane, step, elements);
  }
}

template <bool counts>
TCA_DEVICE void scatter_packet(const LlPut& put, Word chunk, Word lane, const Packet& packet) {
  switch (put.atom_bytes) {
    case 4:
      return scatter_packet_of<counts, std::uint32_t>(put, chunk, lane, packet);
    case 2:
      return scatter_packet_of<counts, std::uint16_t>(put, chunk, lane, packet);
    default:
      return scatter_packet_of<counts, std::uint8_t>(put, chunk, lane, packet);
  }
}

// Walks the chunks of a table that belong to a unit: every count-th, from its index on.
template <class Unit>
class Chunks {
 public:
  // Leaves out the first `skipped` chunks of the unit.
  TCA_DEVICE Chunks(const Table<LlPut>& table, Word chunks, const Unit& unit, Word skipped = 0)
      : table_(table), chunks_(chunks), next_(unit.index() + skipped * unit.count()), stride_(unit.count()) {
    if (next_ < chunks_) put = table_[0];
  }

  // Moves `put` and `chunk` on to the next chunk; false when there is none.
  TCA_DEVICE bool next() {
    if (next_ >= chunks_) return false;
    while (next_ >= put.end_chunk) {
      first_ = put.end_chunk;
      put = table_[++put_];
    }
    chunk = next_ - first_;
    next_ += stride_;
    return true;
  }

  LlPut put;
  Word chunk = 0;  // counted within the put

 private:
  const Table<LlPut>& table_;
  Word chunks_, next_, stride_;
  Word put_ = 0, first_ = 0;
};

// The one of a put's two buffers that a step uses.
TCA_DEVICE Packet* buffer_of(const LlPut& put, Word step) {
  return put.packets + (step % 2) * buffer_pitch(put.packet_count);
}

// Returns the link whose acknowledgement this lane's share of `send_packets` would have to wait for, or
// no_link. The unit's first `skipped` chunks are left out.
template <class Unit>
TCA_DEVICE_APART Word missing_acks(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.ll_out, chain.chunks_out, unit, skipped); chunks.next();) {
    if (!reached(load_relaxed(chunks.put.acks + chunks.chunk), step - 2)) return chunks.put.link;
  }
  return no_link;
}

// Returns the link for whose packets this lane's share of `receive_packets` would have to wait, or no_link.
template <bool counts = false, class Unit>
TCA_DEVICE_APART Word missing_packets(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.ll_in, chain.chunks_in, unit, skipped); chunks.next();) {
    LlPut& put = chunks.put;
    const Packet* const first = buffer_of(put, step) + chunks.chunk * packets_per_chunk;
    if constexpr (counts) {
      if (put.length != nullptr) {
        const Packet head = first->read_once();
        if (!head.carries(step)) return put.link;
        cut(put, head.word(0));
      }
    }
    for (Word lane = unit.lane(); lane < packets_per_chunk; lane += unit.lanes()) {
      if (chunks.chunk * packets_per_chunk + lane >= put.packet_count) break;
      if (counts && put.length != nullptr && !is_sent(put.word_count, chunks.chunk, lane, step)) break;
      if (!first[lane].read_once().carries(step)) return put.link;
    }
  }
  return no_link;
}

// Fast path for small puts: the one packet that a lane owns in its unit's first chunk. Its addresses are
// computed once; recomputing them in each step would take as long as the link does. Only units as wide as a
// chunk have it, and only for puts whose atoms are words. Of a counted put it sends all packets, however short it
// is, since they travel together, and awaits those that the length needs.
class OwnPacket {
 public:
  OwnPacket() = default;  // not yet known
  template <class Unit>
  TCA_DEVICE OwnPacket(const Table<LlPut>& table, Word chunks, const Unit& unit) {
    Chunks<Unit> all(table, chunks, unit);
    is_all_ = unit.index() >= chunks;
    if (unit.lanes() != packets_per_chunk || !all.next()) return;
    const LlPut& put = all.put;
    if (put.atom_bytes != sizeof(Word)) return;
    skipped_ = 1;
    is_all_ = unit.index() + unit.count() >= chunks;
    link_ = put.link;
    ack_ = put.acks + all.chunk;
    // Lanes beyond the end follow the last packet without storing anything, so that the lanes need not
    // diverge.
    const Word first = all.chunk * packets_per_chunk, last = put.packet_count - 1;
    const Word own = first + unit.lane() < last ? unit.lane() : last - first;
    stores_ = unit.lane() == own ? 1 : 0;
    packets_[0] = put.packets + first + own;
    packets_[1] = packets_[0] + buffer_pitch(put.packet_count);
    // Words beyond the end stand for the first word of the packet, which is stored last and overwrites them.
    TCA_UNROLL
    for (Word k = 0; k < Packet::words; ++k) {
      const Word word = word_of<true>(put, all.chunk, own, k);
      if (word == no_word)
        words_[k] = put.length;
      else
        words_[k] = word < put.word_count ? atom_at<Word>(put, word) : words_[0];
    }
    if (put.length != nullptr) counted_ = {put.element_bytes, own, all.chunk};
  }

  // Continues after `step`, which has been sent. Whether it has been received or acknowledged is not known;
  // the numbers kept here must nevertheless be close to it, since step numbers wrap.
  TCA_DEVICE void begin_after(Word step) {
    acked_ = step - 2;
    received_ = step - 1;
    next_ = packet_of(step + 1);
  }

  // How many chunks of its unit this stands for, 0 or 1, and whether the unit has no others.
  TCA_DEVICE Word skipped() const { return skipped_; }
  TCA_DEVICE bool is_all() const { return is_all_; }

  // Returns the link for which `send` would have to wait, or no_link.
  TCA_DEVICE Word missing_ack(Word step) {
    if (skipped_ == 0 || reached(acked_, step - 2)) return no_link;
    acked_ = load_relaxed(ack_);
    return reached(acked_, step - 2) ? no_link : link_;
  }

  // Sends without asking for the acknowledgement; `missing_ack` has returned no_link on every lane. The put has a
  // fixed length.
  template <class Unit>
  TCA_DEVICE void send_now(Word step, const Unit& unit) {
    if (skipped_ != 0) store(gather(step), step, unit);
  }

  // Receives the packet if it is there. Returns the link for which it would have to wait, or no_link once the
  // packet is in place and may be acknowledged.
  template <class Unit>
  TCA_DEVICE Word try_receive(Word step, const Unit& unit) {
    if (skipped_ == 0 || received_ == step) return no_link;
    if (counted_.element_bytes != 0) {
      if (!take_counted(step, unit, packet_of(step), words_[0], words_[1], words_[2], counted_)) return link_;
      received_ = step;
      note_arrival(unit, link_, step, true, unit.lane() == 0);
      return no_link;
    }
    const Packet packet = packet_of(step)->read_once();
    if (!unit.all(packet.carries(step))) return link_;
    if (stores_ != 0) scatter(packet);
    received_ = step;
    note_arrival(unit, link_, step, true, unit.lane() == 0);
    return no_link;
  }
  template <class Unit>
  TCA_DEVICE void acknowledge(Word step, const Unit& unit) const {
    if (skipped_ != 0 && unit.lane() == 0) store_relaxed(ack_, step);
  }

  // Both return false, on every lane of the unit, if one gave up.
  template <class Unit>
  TCA_DEVICE bool send(const WaitLimits& limits, Word step, const Unit& unit) {
    if (skipped_ == 0) return true;
    const Packet packet = gather(step);
    if (counted_.element_bytes != 0 && !unit.all(counted_.own != 0 || packet.word(0) != no_length))
      return false;
    BoundedWait waiting(limits, step);
    while (!unit.all(reached(acked_, step - 2))) {
      if (!waiting.keep_polling(link_, unit)) return false;
      acked_ = load_relaxed(ack_);
    }
    store(packet, step, unit);
    return true;
  }

  template <class Unit>
  TCA_DEVICE bool receive(const WaitLimits& limits, Word step, const Unit& unit) {
    if (skipped_ == 0) return true;
    const Packet* from = packet_of(step);
    BoundedWait waiting(limits, step);
    bool at_once = true;
    if (counted_.element_bytes != 0) {
      while (!take_counted(step, unit, from, words_[0], words_[1], words_[2], counted_)) {
        at_once = false;
        if (!waiting.keep_polling(link_, unit)) return false;
      }
    } else {
      Packet packet = from->read_once();
      while (!unit.all(packet.carries(step))) {
        at_once = false;
        if (!waiting.keep_polling(link_, unit)) return false;
        packet = from->read_once();
      }
      if (stores_ != 0) scatter(packet);
    }
    unit.sync();              // any lane may read what another has stored: a vote orders no memory
    acknowledge(step, unit);  // every lane has its packet in a register by now; see `receive_packets`
    note_arrival(unit, link_, step, at_once, unit.lane() == 0);
    return true;
  }

 private:
  // What a lane also has to know of a counted put: no element is without bytes, so 0 means that it is not
  // one.
  struct Counted {
    Word element_bytes = 0;
    Word own = 0;  // the packet, in the chunk
    Word chunk = 0;
  };

  // Scatters a lane's packet of a counted put, once all packets are there that its length, which is in the
  // first one, needs. Out of line, and by value: others would lose registers to it.
  template <class Unit>
  static TCA_DEVICE_APART bool take_counted(Word step, Unit unit, const Packet* from, Word* word_0,
                                            Word* word_1, Word* word_2, Counted put) {
    const Packet head = (from - put.own)->read_once(), packet = from->read_once();
    const Word bytes = head.word(0) * put.element_bytes, rest = bytes % Word{sizeof(Word)};
    const Word whole = bytes / Word{sizeof(Word)}, all = whole + (rest != 0 ? 1 : 0);
    const bool is_here = packet.carries(step) || !is_sent(all, put.chunk, put.own, step);
    if (!unit.all(head.carries(step) && is_here)) return false;
    Word* const words[Packet::words] = {word_0, word_1, word_2};
    TCA_UNROLL
    for (Word k = 0; k < Packet::words; ++k) {
      const Word word = word_in_counted_put(put.chunk, put.own, k);
      if (word < whole || word == no_word) *in_global_memory(words[k]) = packet.word(k);
      if (word == whole) store_bytes(reinterpret_cast<std::byte*>(words[k]), 0, rest, packet.word(k));
    }
    return true;
  }

  template <class Unit>
  TCA_DEVICE void store(const Packet& packet, Word step, const Unit& unit) {
    if (stores_ != 0) next_->write(packet);
    // The next step finds both of these here, the acknowledgement without a trip to the L2.
    acked_ = load_relaxed(ack_);
    next_ = packet_of(step + 1);
    unit.sync();  // any lane may overwrite what another has sent
  }

  TCA_DEVICE Packet* packet_of(Word step) const { return step % 2 == 0 ? packets_[0] : packets_[1]; }

  TCA_DEVICE Packet gather(Word step) const {
    return Packet::of(
        {*in_global_memory(words_[0]), *in_global_memory(words_[1]), *in_global_memory(words_[2])}, step);
  }
  TCA_DEVICE void scatter(const Packet& packet) const {
    TCA_UNROLL
    for (Word k = Packet::words; k-- > 0;) *in_global_memory(words_[k]) = packet.word(k);
  }

  Word* words_[Packet::words] = {};  // the first may be the length
  Counted counted_;
  Packet* packets_[2] = {};  // for even steps and for odd ones
  Packet* next_ = nullptr;   // the one of the step to be sent next
  Flag stores_ = 0;
  Word* ack_ = nullptr;
  Word link_ = 0;
  Word skipped_ = 0;
  bool is_all_ = false;
  Word acked_ = 0;
  Word received_ = 0;
};

// Both return false, on every lane of the unit, if one gave up. The unit's first `skipped` chunks are left
// out.
template <bool counts = false, class Unit>
TCA_DEVICE_APART bool send_packets(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  bool sent = true;
  for (Chunks<Unit> chunks(chain.ll_out, chain.chunks_out, unit, skipped); sent && chunks.next();) {
    const LlPut& put = chunks.put;
    const bool is_counted = counts && put.length != nullptr;
    const Word elements = is_counted ? *in_global_memory(put.length) : 0;
    const Word first = chunks.chunk * packets_per_chunk;
    BoundedWait waiting(chain.limits, step);
    // Pairs with the store in `receive_packets`: the buffer of two steps ago has been emptied.
    const Word* ack = put.acks + chunks.chunk;
    Word acked = load_relaxed(ack);
    for (Word lane = unit.lane(); lane < packets_per_chunk; lane += unit.lanes()) {
      if (first + lane >= put.packet_count) break;
      const Packet packet = gather_packet<counts>(put, chunks.chunk, lane, step, elements);
      if (is_counted) {
        sent = elements != no_length;  // the same on all lanes
        if (!sent || !is_sent(words_of(put, elements), chunks.chunk, lane, step)) break;
      }
      while (sent && !reached(acked, step - 2)) {
        sent = waiting.keep_polling(put.link);
        acked = load_relaxed(ack);
      }
      if (!sent) break;
      (buffer_of(put, step) + first + lane)->write(packet);
    }
  }
  // Some lanes may have given up and others not; all of them meet here before any leaves.
  return unit.all(sent);
}

template <bool counts = false, class Unit>
TCA_DEVICE_APART bool receive_packets(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.ll_in, chain.chunks_in, unit, skipped); chunks.next();) {
    LlPut& put = chunks.put;
    const Word first = chunks.chunk * packets_per_chunk;
    BoundedWait waiting(chain.limits, step);
    const bool is_counted = counts && put.length != nullptr;
    bool arrived = true, at_once = true;
    for (Word lane = unit.lane(); lane < packets_per_chunk; lane += unit.lanes()) {
      if (first + lane >= put.packet_count) break;
      Packet packet;
      const Packet *const head = buffer_of(put, step) + first, *const from = head + lane;
      if (is_counted) {
        Packet begin = head->read_once();
        packet = from->read_once();
        while (arrived && !begin.carries(step)) {
          at_once = false;
          arrived = waiting.keep_polling(put.link);
          begin = head->read_once();
          packet = from->read_once();
        }
        cut(put, begin.word(0));
        if (arrived && !is_sent(put.word_count, chunks.chunk, lane, step))
          break;  // nor are those of later lanes
      } else {
        packet = from->read_once();
      }
      while (arrived && !packet.carries(step)) {
        at_once = false;
        arrived = waiting.keep_polling(put.link);
        packet = from->read_once();
      }
      if (!arrived) break;
      scatter_packet<counts>(put, chunks.chunk, lane, packet);
    }
    if (!unit.all(arrived)) return false;
    // Every lane has its packet in a register by now: the loads cannot be overtaken by a store that the
    // sender answers with new packets.
    unit.sync();
    if (unit.lane() == 0) store_relaxed(put.acks + chunks.chunk, step);
    note_arrival(unit, put.link, step, at_once, unit.lane() == 0);
  }
  return true;
}

}  // namespace tca::device
