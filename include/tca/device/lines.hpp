// The ll protocol: data and step number travel in one store, so that no fence stands between them.
//
// The sender gathers three words a line from the source layout and stores lines into one of two buffers at
// the receiver; the receiver polls each line until it carries the step, and scatters its data into the
// destination layout. A buffer is used again two steps later, and only once the receiver has acknowledged its
// chunk; the acknowledgement is read together with the source, so it costs no time of its own. Nobody need
// say that a ghost has been read: the receiver itself puts new data there.
//
// `Unit` carries chunks: it is a warp on a GPU, a thread on the host. A unit has its index() and the count()
// of all units of the kernel, a lane() and the number of its lanes(), sync() between its lanes, and all(b),
// which is true on every lane when b is true on each.
#pragma once

#include "tca/device/wait_limits.hpp"

namespace tca::device {

// The address of a put's atom.
template <class Atom>
TCA_DEVICE Atom* atom_at(const Lines& put, Word atom) {
  return reinterpret_cast<Atom*>(put.memory + put.pitches.offset(put.loops.at(atom), sizeof(Atom)));
}

template <class Atom>
TCA_DEVICE Word gather_word(const Lines& put, Word word) {
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
TCA_DEVICE void scatter_word(const Lines& put, Word word, Word data) {
  constexpr Word atoms = sizeof(Word) / sizeof(Atom);
  TCA_UNROLL
  for (Word i = 0; i < atoms; ++i) {
    const Word atom = word * atoms + i;
    if (atom >= put.loops.atoms) break;
    *atom_at<Atom>(put, atom) = static_cast<Atom>(data >> (8 * sizeof(Atom) * i));
  }
}

// Makes the line of a lane in a chunk. Words behind the put's end are 0 and go nowhere.
template <class Atom>
TCA_DEVICE Line gather_line(const Lines& put, Word chunk, Word lane, Word step) {
  Word words[words_per_line];
  TCA_UNROLL
  for (Word k = 0; k < words_per_line; ++k) {
    const Word word = word_in_put(chunk, lane, k);
    words[k] = word < put.word_count ? gather_word<Atom>(put, word) : 0;
  }
  return make_line(words, step);
}

template <class Atom>
TCA_DEVICE void scatter_line(const Lines& put, Word chunk, Word lane, const Line& line) {
  TCA_UNROLL
  for (Word k = 0; k < words_per_line; ++k) {
    const Word word = word_in_put(chunk, lane, k);
    if (word < put.word_count) scatter_word<Atom>(put, word, word_of(line, k));
  }
}

TCA_DEVICE Line gather_line(const Lines& put, Word chunk, Word lane, Word step) {
  switch (put.atom_bytes) {
    case 4:
      return gather_line<std::uint32_t>(put, chunk, lane, step);
    case 2:
      return gather_line<std::uint16_t>(put, chunk, lane, step);
    default:
      return gather_line<std::uint8_t>(put, chunk, lane, step);
  }
}

TCA_DEVICE void scatter_line(const Lines& put, Word chunk, Word lane, const Line& line) {
  switch (put.atom_bytes) {
    case 4:
      return scatter_line<std::uint32_t>(put, chunk, lane, line);
    case 2:
      return scatter_line<std::uint16_t>(put, chunk, lane, line);
    default:
      return scatter_line<std::uint8_t>(put, chunk, lane, line);
  }
}

// Walks the chunks of a table that belong to a unit: every count-th, from its index on.
template <class Unit>
class Chunks {
 public:
  // Leaves out the first `skipped` chunks of the unit.
  TCA_DEVICE Chunks(const Table<Lines>& table, Word chunks, const Unit& unit, Word skipped = 0)
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

  Lines put;
  Word chunk = 0;  // counted within the put

 private:
  const Table<Lines>& table_;
  Word chunks_, next_, stride_;
  Word put_ = 0, first_ = 0;
};

// The one of a put's two buffers that a step uses.
TCA_DEVICE Line* buffer_of(const Lines& put, Word step) {
  return put.lines + (step % 2) * buffer_pitch(put.line_count);
}

// Returns the link whose acknowledgement this lane's share of `send_lines` would have to wait for, or
// no_link. The unit's first `skipped` chunks are left out.
template <class Unit>
TCA_DEVICE_APART Word missing_acks(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.lines_out, chain.chunks_out, unit, skipped); chunks.next();) {
    if (!reached(load_relaxed(chunks.put.acks + chunks.chunk), step - 2)) return chunks.put.link;
  }
  return no_link;
}

// Returns the link for whose lines this lane's share of `receive_lines` would have to wait, or no_link.
template <class Unit>
TCA_DEVICE_APART Word missing_lines(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.lines_in, chain.chunks_in, unit, skipped); chunks.next();) {
    const Lines& put = chunks.put;
    for (Word lane = unit.lane(); lane < lines_per_chunk; lane += unit.lanes()) {
      const Word line = chunks.chunk * lines_per_chunk + lane;
      if (line < put.line_count && !carries(load_line(buffer_of(put, step) + line), step)) return put.link;
    }
  }
  return no_link;
}

// Fast path for small puts: the one line that a lane owns in its unit's first chunk. Its addresses are
// computed once; recomputing them in each step would take as long as the link does. Only units as wide as a
// chunk have it, and only for puts whose atoms are words.
class OwnLine {
 public:
  template <class Unit>
  TCA_DEVICE OwnLine(const Table<Lines>& table, Word chunks, const Unit& unit) {
    Chunks<Unit> all(table, chunks, unit);
    is_all_ = unit.index() >= chunks;
    if (unit.lanes() != lines_per_chunk || !all.next() || all.put.atom_bytes != sizeof(Word)) return;
    const Lines& put = all.put;
    skipped_ = 1;
    is_all_ = unit.index() + unit.count() >= chunks;
    link_ = put.link;
    ack_ = put.acks + all.chunk;
    // Lanes beyond the end follow the last line without storing anything, so that the lanes need not diverge.
    const Word first = all.chunk * lines_per_chunk, last = put.line_count - 1;
    const Word own = first + unit.lane() < last ? unit.lane() : last - first;
    stores_ = unit.lane() == own ? 1 : 0;
    lines_[0] = put.lines + first + own;
    lines_[1] = lines_[0] + buffer_pitch(put.line_count);
    // Words beyond the end stand for the first word of the line, which is stored last and overwrites them.
    TCA_UNROLL
    for (Word k = 0; k < words_per_line; ++k) {
      const Word word = word_in_put(all.chunk, own, k);
      words_[k] = word < put.word_count ? atom_at<Word>(put, word) : words_[0];
    }
  }

  // Continues behind `step`, which has been sent. Whether it has been received or acknowledged is not known;
  // the numbers kept here must nevertheless be close to it, since step numbers wrap.
  TCA_DEVICE void begin_after(Word step) {
    acked_ = step - 2;
    received_ = step - 1;
    next_ = line_of(step + 1);
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

  // Sends without asking for the acknowledgement; `missing_ack` has returned no_link on every lane.
  template <class Unit>
  TCA_DEVICE void send_now(Word step, const Unit& unit) {
    if (skipped_ != 0) store(gather(step), step, unit);
  }

  // Receives the line if it is there. Returns the link for which it would have to wait, or no_link once the
  // line is in place and may be acknowledged.
  template <class Unit>
  TCA_DEVICE Word try_receive(Word step, const Unit& unit) {
    if (skipped_ == 0 || received_ == step) return no_link;
    const Line line = load_line(line_of(step));
    if (!unit.all(carries(line, step))) return link_;
    if (stores_ != 0) scatter(line);
    received_ = step;
    return no_link;
  }
  template <class Unit>
  TCA_DEVICE void acknowledge(Word step, const Unit& unit) const {
    if (skipped_ != 0 && unit.lane() == 0) store_relaxed(ack_, step);
  }

  // Both return false, on every lane of the unit, when one gave up.
  template <class Unit>
  TCA_DEVICE bool send(const WaitLimits& limits, Word step, const Unit& unit) {
    if (skipped_ == 0) return true;
    const Line line = gather(step);
    BoundedWait waiting(limits, step);
    while (!unit.all(reached(acked_, step - 2))) {
      if (!waiting.keep_polling(link_, unit)) return false;
      acked_ = load_relaxed(ack_);
    }
    store(line, step, unit);
    return true;
  }

  template <class Unit>
  TCA_DEVICE bool receive(const WaitLimits& limits, Word step, const Unit& unit) {
    if (skipped_ == 0) return true;
    const Line* from = line_of(step);
    BoundedWait waiting(limits, step);
    Line line = load_line(from);
    while (!unit.all(carries(line, step))) {
      if (!waiting.keep_polling(link_, unit)) return false;
      line = load_line(from);
    }
    if (stores_ != 0) scatter(line);
    unit.sync();              // any lane may read what another has stored: a vote orders no memory
    acknowledge(step, unit);  // every lane has its line in a register by now; see `receive_lines`
    return true;
  }

 private:
  template <class Unit>
  TCA_DEVICE void store(const Line& line, Word step, const Unit& unit) {
    if (stores_ != 0) store_line(next_, line);
    // The next step finds both of these here, the acknowledgement without a trip to the L2.
    acked_ = load_relaxed(ack_);
    next_ = line_of(step + 1);
    unit.sync();  // any lane may overwrite what another has sent
  }

  TCA_DEVICE Line* line_of(Word step) const { return step % 2 == 0 ? lines_[0] : lines_[1]; }

  TCA_DEVICE Line gather(Word step) const {
    return make_line(
        {*in_global_memory(words_[0]), *in_global_memory(words_[1]), *in_global_memory(words_[2])}, step);
  }
  TCA_DEVICE void scatter(const Line& line) const {
    TCA_UNROLL
    for (Word k = words_per_line; k-- > 0;) *in_global_memory(words_[k]) = word_of(line, k);
  }

  Word* words_[words_per_line] = {};
  Line* lines_[2] = {};   // for even steps and for odd ones
  Line* next_ = nullptr;  // the one of the step to be sent next
  Flag stores_ = 0;
  Word* ack_ = nullptr;
  Word link_ = 0;
  Word skipped_ = 0;
  bool is_all_ = false;
  Word acked_ = 0;
  Word received_ = 0;
};

// Both return false, on every lane of the unit, when one gave up. The unit's first `skipped` chunks are left
// out.
template <class Unit>
TCA_DEVICE_APART bool send_lines(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  bool sent = true;
  for (Chunks<Unit> chunks(chain.lines_out, chain.chunks_out, unit, skipped); sent && chunks.next();) {
    const Lines& put = chunks.put;
    const Word first = chunks.chunk * lines_per_chunk;
    BoundedWait waiting(chain.limits, step);
    // Pairs with the store in `receive_lines`: the buffer of two steps ago has been emptied.
    const Word* ack = put.acks + chunks.chunk;
    Word acked = load_relaxed(ack);
    for (Word lane = unit.lane(); lane < lines_per_chunk; lane += unit.lanes()) {
      if (first + lane >= put.line_count) break;
      const Line line = gather_line(put, chunks.chunk, lane, step);
      while (sent && !reached(acked, step - 2)) {
        sent = waiting.keep_polling(put.link);
        acked = load_relaxed(ack);
      }
      if (!sent) break;
      store_line(buffer_of(put, step) + first + lane, line);
    }
  }
  // Some lanes may have given up and others not; all of them meet here before any leaves.
  return unit.all(sent);
}

template <class Unit>
TCA_DEVICE_APART bool receive_lines(const DeviceChain& chain, Word step, Unit unit, Word skipped = 0) {
  for (Chunks<Unit> chunks(chain.lines_in, chain.chunks_in, unit, skipped); chunks.next();) {
    const Lines& put = chunks.put;
    const Word first = chunks.chunk * lines_per_chunk;
    BoundedWait waiting(chain.limits, step);
    bool arrived = true;
    for (Word lane = unit.lane(); lane < lines_per_chunk; lane += unit.lanes()) {
      if (first + lane >= put.line_count) break;
      const Line* from = buffer_of(put, step) + first + lane;
      Line line = load_line(from);
      while (arrived && !carries(line, step)) {
        arrived = waiting.keep_polling(put.link);
        line = load_line(from);
      }
      if (!arrived) break;
      scatter_line(put, chunks.chunk, lane, line);
    }
    if (!unit.all(arrived)) return false;
    // Every lane has its line in a register by now: the loads cannot be overtaken by a store that the sender
    // answers with new lines.
    unit.sync();
    if (unit.lane() == 0) store_relaxed(put.acks + chunks.chunk, step);
  }
  return true;
}

}  // namespace tca::device
