// Stores and finds the halves of spinors that cross between ranks.
//
// For steps that the host starts, halves are in windows. They are ordered by group, and within a group by
// right-hand side. For a right-hand side in a group of `count` slots, unit u of slot k is unit u * count +
// k. Where kernels reach the neighbours' memory and no two ranks share a GPU, the thread that has a half
// stores it among the neighbour's ghosts. The hop that needs the halves is in a later kernel, so all of
// this rank's halves have been stored when it begins. It first raises the produced signals of a chain, and
// waits for those of its neighbours between its interior and its boundary. Elsewhere halves are stored in
// the outgoing slots of faces.hpp, from where chains send them.
//
// For a kernel that runs the whole solve, halves are the elements of produced puts (tca/produced.hpp): the thread
// that has a half writes it, and the neighbour's thread that needs it reads it. No barrier of the grid stands
// between the sender's arithmetic and its stores, nor between arrival and use. A chain whose source lies in a
// window would need both barriers, because it does not know which bytes belong to which block.
//
// The chain has no guard, since the two ends of a link between ranks send to each other in turn. Let y be the
// neighbour of site x across the face. Before a rank sends the half of x a second time, it has used the half of y,
// and the neighbour has sent that only after using the first half of x. Only between solves do two exchanges of the
// same parity follow each other: there the last halves sent are not used, and a sum over all ranks comes first.
//
// The same holds for halves that are stored in windows, but where two exchanges of the same parity follow
// each other the neighbour may still be reading. So an exchange of nothing comes between them
// (GpuWilson::clear_to_send). verify/models/signals.pml and verify/models/produced.pml are the models.
#pragma once

#include "qcd/gpu/site.hpp"
#include "tca/device/produced.hpp"
#include "tca/device/stores.hpp"

namespace tca::qcd {

// Where the halves of right-hand side `rhs`, out of `all`, begin in a group whose first slot is `slot`.
TCA_DEVICE std::size_t first_real(Word slot, Word count, Word all, Word rhs) {
  return (static_cast<std::size_t>(slot) * all + static_cast<std::size_t>(rhs) * count) * half_reals;
}

// How halves cross in windows: where they arrive, and where the outgoing ones are stored.
template <class T>
struct Crossing {
  const T* ghosts = nullptr;
  // For each direction: the neighbour's ghosts, or this rank's outgoing slots.
  T* to[8] = {};
  // Only where halves are stored at the neighbour: for each direction with a neighbour, the signals to it and from
  // it.
  DeviceProducedSignal signals[8];
  DeviceExpectedSignal expected[8];
  // For each parity, even sites first: the number of the last exchange. The parities take turns. The number
  // of an exchange under way follows from the entry of the other parity, which does not change, so a block
  // may read it at any time.
  Word* exchanges = nullptr;
  device::WaitLimits limits;

  TCA_DEVICE bool there() const { return exchanges != nullptr; }
};

// Begins an exchange, in a kernel after those that have stored this rank's halves at the neighbours, by
// telling the neighbours that the halves are there. Returns the number of the exchange.
template <class T, class Block>
TCA_DEVICE Word begin_exchange(Block& block, const Crossing<T>& crossing, bool odd) {
  if (!crossing.there()) return 0;
  const Word number = crossing.exchanges[!odd] + 1;
  if (block.index() != 0) return number;
  block.each([&](SiteThread& thread) {
    if (thread.warp != 0) return;
    if (thread.lane == 0) crossing.exchanges[odd] = number;
    if (thread.lane < 8 && crossing.signals[thread.lane].there()) crossing.signals[thread.lane].raise(number);
  });
  return number;
}

// Waits for a neighbour's halves. Returns false if it has given up.
template <class T>
TCA_DEVICE bool await_halves(const Crossing<T>& crossing, const FaceGroup& face, Word exchange) {
  return crossing.expected[face.direction].await(exchange, crossing.limits);
}

// One block makes an exchange of nothing.
template <class T, class Block>
TCA_DEVICE void meet(Block& block, const Ground<T>& ground, const Crossing<T>& crossing, bool odd) {
  const Word exchange = begin_exchange(block, crossing, odd);
  block.each([&](SiteThread& thread) {
    if (thread.warp == 0 && thread.lane < 8 && crossing.signals[thread.lane].there())
      thread.good = await_halves(crossing, ground.faces[odd][thread.lane], exchange) && thread.good;
  });
}

template <class T>
struct WindowGhosts {
  const Crossing<T>& crossing;
  Word exchange;

  // Copies the half of ghost `next` into the thread's part of the room.
  TCA_DEVICE void ask(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage, std::int32_t next,
                      Word rhs, SiteThread& thread) const {
    // Halves that arrive have the parity of the field that is read.
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][thread.warp];
    // A thread has only one direction, so it waits once. If it gives up, the kernel goes on: the host hears
    // of it (WaitLimits::over).
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
  // The half was there already when `ask` copied it.
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

// How halves cross in a kernel that runs the whole solve: as elements of produced puts. A group has the same places
// in every exchange, and those of even and odd sites take turns, so both are elements of one put. Of each
// direction without a neighbour nothing is set.
template <class T>
struct ProducedHalves {
  DeviceProducedPut<Half<T>> to[8];        // by direction
  DeviceProducedArrival<Half<T>> from[8];  // likewise
  device::Progress steps;                  // exchanges are the chain's steps

  TCA_DEVICE bool there() const { return steps.there(); }
};

template <class T>
struct ProducedGhosts {
  const ProducedHalves<T>& halves;
  Word exchange;

  // Does nothing, since the half may still be on its way.
  TCA_DEVICE void ask(ChunkRoom<T>&, const Ground<T>&, const Stage<T>&, std::int32_t, Word,
                      SiteThread&) const {}
  TCA_DEVICE void bring(ChunkRoom<T>& room, const Ground<T>& ground, const Stage<T>& stage,
                        SiteThread& thread) const {
    const FaceGroup& face = ground.faces[stage.to_odd ? 0 : 1][thread.warp];
    const Word place = static_cast<Word>(~thread.here) - face.begin;
    auto* const into = reinterpret_cast<Unit<T>*>(part_of(room, thread)) + thread.lane;
    const auto keep = [&](const Half<T>& half) {
      Unit<T> units[half_units<T>];
      static_assert(sizeof units == sizeof half);
      std::memcpy(units, &half, sizeof units);
      TCA_UNROLL
      for (Word u = 0; u < half_units<T>; ++u) into[u * chunk_sites] = units[u];
    };
    thread.good =
        thread.good && halves.from[thread.warp].read_for(place, exchange, halves.steps.limits, keep);
  }
};

template <class T>
struct ProducedSink {
  const ProducedHalves<T>& halves;
  Word exchange;

  TCA_DEVICE void put(const FaceGroup& face, Word place, Word, const Half<T>& half) const {
    halves.to[face.direction].write(place, half, exchange);
  }
};

}  // namespace tca::qcd
