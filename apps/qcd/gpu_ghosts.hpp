// Where the halves of spinors that cross between ranks are stored and found.
//
// For steps that the host starts: in windows. Group by group, and in each right-hand side by right-hand side, unit u of slot k lies
// at (u count + k) units. Where kernels reach the neighbours' memory and no two ranks share a GPU, whoever has a half stores it
// among the neighbour's ghosts. The hop that needs what crosses is a kernel behind, so that all of it has been stored: it begins
// with a signal to its neighbours, and waits for theirs between its interior and its boundary. Elsewhere halves go to the outgoing
// slots of faces.hpp, from where chains send them.
//
// For a kernel that stays: as lines, 8 bytes of data and the number of the exchange in one 16-byte store, straight into the
// neighbour's memory by the thread that has the half, and polled there by the thread that needs it. No barrier of the grid
// stands between the sender's arithmetic and its stores, nor between arrival and use; a chain carried by the grid would need
// both, because it does not tell which bytes belong to which block.
//
// No line is overwritten before it has been used, though nobody acknowledges any. Exchanges are of even and odd sites in turn, in
// lines of their own, and the two ends of a link between ranks send to each other: who sends site x a second time has, in
// between, used what its neighbour y across the face sent, and y sent that only after it had used x's first half. Only between
// solves does one parity follow itself, and there nobody uses what was sent last.
//
// The same goes for halves that are stored in windows, but where one parity follows itself the neighbour may still read: there an
// exchange of nothing comes between (GpuWilson::clear_to_send). verify/halves.pml has both.
#pragma once

#include "qcd/gpu_site.hpp"
#include "tca/device/stores.hpp"

namespace tca::qcd {

// Where a right-hand side's halves, among those of `all`, begin in a group whose first slot is `slot`.
TCA_DEVICE std::size_t first_real(Word slot, Word count, Word all, Word rhs) {
  return (static_cast<std::size_t>(slot) * all + static_cast<std::size_t>(rhs) * count) * half_reals;
}

// Halves in windows: what arrives, and where what goes out is stored.
template <class T>
struct Crossing {
  const T* ghosts = nullptr;
  // By direction: the ghosts of the neighbour, or the outgoing slots here.
  T* to[8] = {};
  // By direction, where halves are stored at the neighbour: the number of the last exchange that is there, here and at the
  // neighbour. Null for directions without one.
  const Word* raised = nullptr;
  Word* raise[8] = {};
  // By parity, even sites first, which take turns: the number of the last exchange. While one is under way its number follows from
  // the other's, so that a block may look it up as late as it likes.
  Word* exchanges = nullptr;
  device::Patience patience;

  TCA_DEVICE bool there() const { return raised != nullptr; }
};

// Begins an exchange, in a kernel behind those that have stored this rank's halves at the neighbours: tells the neighbours that they
// are there. Returns its number.
template <class T, class Block>
TCA_DEVICE Word begin_exchange(Block& block, const Crossing<T>& crossing, bool odd) {
  if (!crossing.there()) return 0;
  const Word number = crossing.exchanges[!odd] + 1;
  if (block.index() != 0) return number;
  block.each([&](SiteThread& thread) {
    if (thread.warp != 0) return;
    if (thread.lane == 0) crossing.exchanges[odd] = number;
    // Release, for what the kernels before have stored; pairs with the acquire in `await_halves`.
    if (thread.lane < 8 && crossing.raise[thread.lane] != nullptr)
      device::store_release(crossing.raise[thread.lane], number);
  });
  return number;
}

// False once it has given up.
template <class T>
TCA_DEVICE bool await_halves(const Crossing<T>& crossing, const FaceGroup& face, Word exchange) {
  return device::await(crossing.raised + face.direction, exchange, face.neighbour, crossing.patience);
}

// An exchange of nothing, by one block.
template <class T, class Block>
TCA_DEVICE void meet(Block& block, const Ground<T>& ground, const Crossing<T>& crossing, bool odd) {
  const Word exchange = begin_exchange(block, crossing, odd);
  block.each([&](SiteThread& thread) {
    if (thread.warp == 0 && thread.lane < 8 && crossing.raise[thread.lane] != nullptr)
      thread.good = await_halves(crossing, ground.faces[odd][thread.lane], exchange) && thread.good;
  });
}

template <class T>
struct WindowGhosts {
  const Crossing<T>& crossing;
  Word exchange;

  // The half of ghost `next` into the thread's part of the room.
  TCA_DEVICE void ask(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage, std::int32_t next,
                      Word rhs, SiteThread& thread) const {
    // What arrives has the parity of the field that is read.
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][thread.warp];
    // A thread has one direction, and so waits once. When it gives up nobody here looks: the host hears of it (Patience::over).
    if (crossing.there() && !thread.met) {
      thread.met = true;
      thread.good = await_halves(crossing, face, exchange) && thread.good;
    }
    const T* const group = crossing.ghosts + first_real(face.begin, face.count, ground.rhs, rhs);
    const auto* const from =
        reinterpret_cast<const Unit<T>*>(group) + (static_cast<Word>(~next) - face.begin);
    auto* const into = reinterpret_cast<Unit<T>*>(part_of(room, thread)) + thread.lane;
    TCA_UNROLL
    for (Word u = 0; u < half_units<T>; ++u) tca::qcd::ask(into + u * chunk_sites, from + u * face.count);
  }
  // It was there when it was asked for.
  TCA_DEVICE void bring(ChunkRoom<T>&, const Ground<T>&, const Stage<T>&, const SiteThread&) const {}
};

template <class T>
struct WindowSink {
  const Crossing<T>& crossing;
  Word all = 1;  // right-hand sides

  TCA_DEVICE void put(const FaceGroup& face, Word place, Word rhs, const Half<T>& half) const {
    T* const group = crossing.to[face.direction] +
                     first_real(crossing.there() ? face.to : face.begin, face.count, all, rhs);
    TCA_UNROLL
    for (Word a = 0; a < 3; ++a) put_four(group, face.count, place, a, half.colour[a]);
  }
};

template <class T>
inline constexpr Word half_lines = half_reals * sizeof(T) / (device::words_per_line * sizeof(Word));

// The lines of all ranks that one has to do with, on the device. A kernel that stays has one right-hand side.
template <class T>
struct LineRoom {
  device::Line* own = nullptr;
  device::Line* theirs[8] = {};  // by direction
  Word* exchanges = nullptr;     // how many there have been; kept between kernels
  device::Patience patience;     // with which lines are waited for

  static constexpr std::size_t lines(std::size_t slots) { return slots * half_lines<T>; }
};

// A half that comes as lines, `count` apart, into units that are 32 apart; false, with nothing stored, once it has given up.
template <class T>
TCA_DEVICE bool receive_half(const device::Line* from, Word count, Word exchange, Word neighbour,
                             const device::Patience& patience, Unit<T>* into) {
  device::Line lines[half_lines<T>];
  device::Waiting waiting(patience, exchange);
  for (;;) {
    // All of them are asked for before any is looked at: one trip to the L2.
    TCA_UNROLL
    for (Word l = 0; l < half_lines<T>; ++l) lines[l] = device::load_line(from + l * count);
    bool all = true;
    TCA_UNROLL
    for (Word l = 0; l < half_lines<T>; ++l) all = all && device::carries(lines[l], exchange);
    if (all) break;
    if (!waiting.goes_on(neighbour)) return false;
  }
  Word words[half_lines<T>][device::words_per_line];
  TCA_UNROLL
  for (Word l = 0; l < half_lines<T>; ++l) {
    TCA_UNROLL
    for (Word k = 0; k < device::words_per_line; ++k) words[l][k] = device::word_of(lines[l], k);
  }
  Unit<T> units[half_units<T>];
  static_assert(sizeof units == sizeof words);
  std::memcpy(units, words, sizeof units);
  TCA_UNROLL
  for (Word u = 0; u < half_units<T>; ++u) into[u * chunk_sites] = units[u];
  return true;
}

template <class T>
struct LineGhosts {
  const LineRoom<T>& lines;
  Word exchange;

  // It may be on its way still.
  TCA_DEVICE void ask(ChunkRoom<T>&, const Ground<T>&, const Stage<T>&, std::int32_t, Word,
                      SiteThread&) const {}
  TCA_DEVICE void bring(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage,
                        SiteThread& thread) const {
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][thread.warp];
    const device::Line* const from = lines.own + static_cast<std::size_t>(face.begin) * half_lines<T> +
                                     (static_cast<Word>(~thread.here) - face.begin);
    auto* const into = reinterpret_cast<Unit<T>*>(part_of(room, thread)) + thread.lane;
    thread.good =
        thread.good && receive_half<T>(from, face.count, exchange, face.neighbour, lines.patience, into);
  }
};

template <class T>
struct LineSink {
  const LineRoom<T>& room;
  Word exchange;

  TCA_DEVICE void put(const FaceGroup& face, Word place, Word, const Half<T>& half) const {
    device::Line* const to =
        room.theirs[face.direction] + static_cast<std::size_t>(face.to) * half_lines<T> + place;
    Word words[half_lines<T>][device::words_per_line];
    static_assert(sizeof words == sizeof half);
    std::memcpy(words, &half, sizeof half);
    TCA_UNROLL
    for (Word l = 0; l < half_lines<T>; ++l)
      device::store_line(to + l * face.count, device::make_line(words[l], exchange));
  }
};

}  // namespace tca::qcd
